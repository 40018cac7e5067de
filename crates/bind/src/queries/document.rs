//! FOR JSON and FOR XML: the rows of a query as one text.
//!
//! Each row becomes text by a call whose first argument is its shape; the texts are joined in the
//! query's order, and what stands around them is added. No row, no document: the result is empty.

use crate::binder::Binder;
use crate::expressions::function::is_json;
use crate::names::result::{OutColumn, Place, QueryResult};
use crate::queries::levels::{Levels, check_attributes};
use crate::queries::xml_names::XmlNames;
use crate::refusal::unsupported;
use crate::tree::{computed_columns, filtered};
use base::{SqlError, SqlResult, messages};
use builtins::{
    AUTO_RECORD, Aggregate, AutoForm, AutoShape, ExplicitShape, Function, JSON_ROW, JsonShape,
    TableFunction, XML_ROW, XmlMode, XmlShape,
};
use plan::{
    AggregateCall, AggregatePhase, Grouping, Logical, Predicate, Scalar, ScalarKind, ScalarType,
};
use tsql::ast::{self, ForKind, QueryBody, SelectItem, SettingValue};
use types::{BinaryOp, SqlType, Value};

const JSON_COLUMN: &str = "JSON_F52E2B61-18A1-11d1-B105-00805F49916B";
const XML_COLUMN: &str = "XML_F52E2B61-18A1-11d1-B105-00805F49916B";

/// What 6819 calls a SELECT that assigns.
pub(crate) const ASSIGNMENT: &str = "ASSIGNMENT";

/// What stands before the rows, between them, and behind.
struct DocumentFrame {
    before: String,
    between: &'static str,
    after: String,
    /// The rows are records, of which this function makes the document, with this shape.
    records: Option<(&'static Function, Value)>,
}

impl DocumentFrame {
    fn of_levels(before: String, after: String, shape: Value) -> DocumentFrame {
        let records = Some((&builtins::AUTO_DOCUMENT, shape));
        DocumentFrame { before, between: builtins::RECORDS, after, records }
    }
}

impl Binder<'_> {
    /// The document of a query that is bound.
    pub(crate) fn document(
        &mut self,
        result: QueryResult,
        clause: &ast::ForClause,
        body: &QueryBody,
        place: Place,
    ) -> SqlResult<QueryResult> {
        let made = match clause.kind {
            ForKind::Browse => return Err(unsupported("FOR BROWSE", clause.span.line)),
            ForKind::Json => self.json_document(&result, clause, body),
            ForKind::Xml => self.xml_document(&result, clause, body),
        };
        let (function, shape, around) = made.map_err(|e| e.at_line(clause.span.line))?;
        let name = if clause.kind == ForKind::Json { JSON_COLUMN } else { XML_COLUMN };
        let typed = clause.options.iter().any(|o| &*o.name == "TYPE");
        let whole = self.joined_rows(result, function, shape, around, (name, typed))?;
        let pieces = place == Place::Statement && !typed;
        Ok(if pieces { self.in_pieces(whole) } else { whole })
    }

    /// The document as a statement sends it: a row for each 2,033 characters.
    fn in_pieces(&mut self, mut whole: QueryResult) -> QueryResult {
        let [column] = whole.columns.as_mut_slice() else { return whole };
        let slot = self.new_slot();
        let pieces = plan::FunctionRows {
            function: TableFunction::Pieces,
            arguments: vec![Scalar::column(column.slot, column.ty)],
            columns: vec![slot],
        };
        column.slot = slot;
        whole.tree = Logical::Join {
            kind: plan::JoinKind::Inner,
            left: Box::new(whole.tree),
            right: Box::new(Logical::Function(Box::new(pieces))),
            on: Predicate::TRUE,
            hint: None,
            apply: true,
        };
        whole
    }

    fn joined_rows(
        &mut self,
        result: QueryResult,
        function: &'static Function,
        shape: Value,
        around: DocumentFrame,
        (name, typed): (&str, bool),
    ) -> SqlResult<QueryResult> {
        let long = SqlType::NVARCHAR_MAX;
        let text = |b: &Self, s: &str| b.constant(Value::nvarchar(s), long);
        let mut args = vec![self.constant(shape, long)];
        let columns = result.columns.iter().map(|c| Scalar::column(c.slot, c.ty));
        args.extend(columns.map(|x| self.in_characters(x)));
        let arg_types = args.iter().map(|a| a.ty.sql_type).collect();
        let ty = self.plain(long, true);
        let row = Scalar { kind: ScalarKind::Function { function, args, arg_types }, ty };
        let (row_slot, output) = (self.new_slot(), self.new_slot());
        let input = computed_columns(result.tree, vec![(row_slot, row)]);
        let call = AggregateCall {
            function: Aggregate::StringAgg,
            distinct: false,
            argument: Some(Scalar::column(row_slot, ty)),
            separator: Some(text(self, around.between)),
            output,
            ty,
            phase: AggregatePhase::Whole,
        };
        let grouping = Grouping { input, keys: Vec::new(), calls: vec![call] };
        let tree = Logical::Aggregate(Box::new(grouping));
        let joined = Scalar::column(output, ty);
        let is_null = Predicate::IsNull(Box::new(joined.clone()));
        // As a value of xml it is NULL without rows, as text it is not sent.
        let tree = match typed {
            true => tree,
            false => filtered(tree, Predicate::Not(Box::new(is_null))),
        };
        let joined = match around.records {
            Some((function, shape)) => of_records(function, self.constant(shape, long), joined),
            None => joined,
        };
        let whole = self.binary(BinaryOp::Add, text(self, &around.before), joined)?;
        let whole = self.binary(BinaryOp::Add, whole, text(self, &around.after))?;
        let whole = if typed { as_xml(whole) } else { whole };
        let slot = self.new_slot();
        let ty = ScalarType { nullable: true, ..whole.ty };
        let columns = vec![OutColumn {
            name: (!typed).then(|| name.into()),
            slot,
            ty,
            user_type_id: 0,
            identity: false,
            stored: false,
            source: None,
            calculated: true,
            untyped_null: false,
        }];
        let tree = computed_columns(tree, vec![(slot, whole)]);
        Ok(QueryResult { tree, columns, only_null: false })
    }

    /// FOR XML EXPLICIT: the first columns are tag and parent, names of others say where they go.
    fn explicit_document(
        &mut self,
        result: &QueryResult,
        nulls: bool,
        root: Option<String>,
    ) -> SqlResult<(&'static Function, Value, DocumentFrame)> {
        if result.columns.len() < 3 {
            return Err(SqlError::new(messages::XML_EXPLICIT_COLUMNS, &[]));
        }
        let declares = nulls || result.columns.iter().any(names_nil);
        let declared = self.declarations(declares);
        let of_rows = if root.is_some() { "" } else { &*declared };
        let mut shape = ExplicitShape::new(of_rows)?;
        let whole = |c: Option<&OutColumn>| {
            c.is_some_and(|c| c.untyped_null || c.ty.sql_type.family() == types::Family::Integer)
        };
        if !whole(result.columns.first()) {
            return Err(SqlError::new(messages::XML_EXPLICIT_TAG, &[]));
        }
        if !whole(result.columns.get(1)) {
            return Err(SqlError::new(messages::XML_EXPLICIT_PARENT, &[]));
        }
        for c in result.columns.iter().skip(2) {
            shape.column(c.name.as_deref().unwrap_or(""))?;
        }
        let shape = shape.into_value();
        let before = root.as_ref().map_or(String::new(), |r| format!("<{r}{declared}>"));
        let after = root.map_or(String::new(), |r| format!("</{r}>"));
        let records = Some((&builtins::XML_DOCUMENT, shape.clone()));
        let around = DocumentFrame { before, between: builtins::RECORDS, after, records };
        Ok((&builtins::XML_RECORD, shape, around))
    }

    /// The namespaces that elements of FOR XML declare: XSINIL's, then those of XMLNAMESPACES, the
    /// last one first.
    fn declarations(&self, nulls: bool) -> String {
        let mut text = String::new();
        if nulls {
            text.push_str(" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"");
        }
        for (prefix, uri) in self.xml_namespaces.iter().rev() {
            text.push_str(if prefix.is_empty() { " xmlns" } else { " xmlns:" });
            text.push_str(prefix);
            text.push_str("=\"");
            xml::escape_attribute(uri, &mut text);
            text.push('"');
        }
        text
    }

    fn json_document(
        &mut self,
        result: &QueryResult,
        clause: &ast::ForClause,
        body: &QueryBody,
    ) -> SqlResult<(&'static Function, Value, DocumentFrame)> {
        let path = &*clause.mode == "PATH";
        if !path && &*clause.mode != "AUTO" {
            return Err(SqlError::new(messages::SYNTAX_NEAR, &[&clause.mode]));
        }
        let (mut root, mut nulls, mut bare) = (None, false, false);
        for option in &clause.options {
            match &*option.name {
                "ROOT" => root = Some(text_of(&option.value, "root")),
                "INCLUDE_NULL_VALUES" => nulls = true,
                "WITHOUT_ARRAY_WRAPPER" => bare = true,
                other => return Err(SqlError::new(messages::SYNTAX_NEAR, &[&other])),
            }
        }
        if bare && root.is_some() {
            return Err(SqlError::new(messages::JSON_ROOT_WITHOUT_ARRAY, &[]));
        }
        let (mut before, mut after) = match bare {
            true => (String::new(), String::new()),
            false => ("[".to_owned(), "]".to_owned()),
        };
        if let Some(root) = root {
            let quoted = root.replace('\\', "\\\\").replace('"', "\\\"").replace('/', "\\/");
            before = format!("{{\"{quoted}\":{before}");
            after.push('}');
        }
        let levels = match path {
            true => None,
            false => {
                let (no_table, unnamed) = (messages::JSON_AUTO_NO_TABLE, messages::JSON_UNNAMED);
                Some(Levels::of(result, body, no_table, unnamed)?)
            }
        };
        if let Some(levels) = levels.filter(|l| l.only().is_none()) {
            let shape = AutoShape::new(AutoForm::Json, nulls, "")?;
            let shape = levels.shape(shape, &result.columns, |n, c| {
                Ok((json_name(c)?, gives(body, n, is_json)))
            })?;
            return Ok((
                &AUTO_RECORD,
                shape.clone(),
                DocumentFrame::of_levels(before, after, shape),
            ));
        }
        let mut shape = JsonShape::new(nulls);
        for (n, c) in result.columns.iter().enumerate() {
            shape.column(json_name(c)?, path, gives(body, n, is_json))?;
        }
        Ok((
            &JSON_ROW,
            shape.into_value(),
            DocumentFrame { before, between: ",", after, records: None },
        ))
    }

    /// FOR XML AUTO over several tables.
    fn xml_levels(
        &mut self,
        result: &QueryResult,
        levels: &Levels,
        (form, nulls): (AutoForm, bool),
        root: Option<String>,
    ) -> SqlResult<(&'static Function, Value, DocumentFrame)> {
        let declared = self.declarations(nulls);
        let shape = AutoShape::new(form, nulls, if root.is_some() { "" } else { &declared })?;
        let shape = levels.shape(shape, &result.columns, |_, c| match c.name.as_deref() {
            None | Some("") => Err(SqlError::new(messages::XML_UNNAMED, &[])),
            Some(name) => Ok((name, c.ty.sql_type == SqlType::Xml)),
        })?;
        if form == AutoForm::Attributes {
            levels.check_attributes(&result.columns)?;
        }
        let before = root.as_ref().map_or(String::new(), |r| format!("<{r}{declared}>"));
        let after = root.map_or(String::new(), |r| format!("</{r}>"));
        Ok((&AUTO_RECORD, shape.clone(), DocumentFrame::of_levels(before, after, shape)))
    }

    /// What a mode does not allow, whatever its columns are called.
    fn check_clause(
        &self,
        clause: &ast::ForClause,
        root: Option<&str>,
        columns: &[OutColumn],
        encoded: bool,
    ) -> SqlResult<()> {
        let (mode, line) = (&*clause.mode, clause.span.line);
        let names = XmlNames { declared: &self.xml_namespaces };
        names.row(clause.element.as_deref().unwrap_or_default())?;
        root.map_or(Ok(()), |root| names.root(root))?;
        if clause.element.is_some() && matches!(mode, "AUTO" | "EXPLICIT") {
            return Err(SqlError::new(messages::XML_ROW_NAME, &[]));
        }
        match mode {
            _ if encoded => Ok(()),
            "RAW" | "EXPLICIT" => refuse_binary(columns),
            // SQL Server gives `dbobject/TABLE[@PK='V']/@COLUMN`, an address of SQLXML.
            "AUTO" if refuse_binary(columns).is_err() => {
                Err(unsupported("FOR XML AUTO of binary columns without BINARY BASE64", line))
            }
            _ => Ok(()),
        }
    }

    fn xml_document(
        &mut self,
        result: &QueryResult,
        clause: &ast::ForClause,
        body: &QueryBody,
    ) -> SqlResult<(&'static Function, Value, DocumentFrame)> {
        let line = clause.span.line;
        let (mut root, mut elements, mut nulls, mut encoded) = (None, false, false, false);
        for option in &clause.options {
            match &*option.name {
                "ROOT" => root = Some(text_of(&option.value, "root")),
                "ELEMENTS" | "ELEMENTS ABSENT" => elements = true,
                "ELEMENTS XSINIL" => (elements, nulls) = (true, true),
                "BINARY BASE64" => encoded = true,
                "TYPE" => {}
                other => return Err(unsupported(&format!("FOR XML … {other}"), line)),
            }
        }
        self.check_clause(clause, root.as_deref(), &result.columns, encoded)?;
        let (mode, element): (XmlMode, Box<str>) = match &*clause.mode {
            "PATH" => (XmlMode::Path, clause.element.clone().unwrap_or_else(|| "row".into())),
            "RAW" => {
                let mode = if elements { XmlMode::Elements } else { XmlMode::Attributes };
                (mode, clause.element.clone().unwrap_or_else(|| "row".into()))
            }
            "AUTO" => {
                let (no_table, unnamed) = (messages::XML_AUTO_NO_TABLE, messages::XML_UNNAMED);
                let levels = Levels::of(result, body, no_table, unnamed)?;
                let (form, mode) = match elements {
                    true => (AutoForm::Elements, XmlMode::Elements),
                    false => (AutoForm::Attributes, XmlMode::Attributes),
                };
                match levels.only() {
                    Some(name) => (mode, builtins::xml_name(name).into()),
                    None => return self.xml_levels(result, &levels, (form, nulls), root),
                }
            }
            "EXPLICIT" if elements => {
                return Err(SqlError::new(messages::XML_ELEMENTS_EXPLICIT, &[]));
            }
            "EXPLICIT" => return self.explicit_document(result, nulls, root),
            other => return Err(SqlError::new(messages::SYNTAX_NEAR, &[&other])),
        };
        let declared = self.declarations(nulls);
        let (of_root, of_rows) = match root {
            Some(_) => (&*declared, ""),
            None => ("", &*declared),
        };
        let mut shape = XmlShape::new(mode, &element, nulls, of_rows)?;
        for c in &result.columns {
            let name = c.name.as_deref().unwrap_or("");
            let is_xml = c.ty.sql_type == SqlType::Xml;
            match mode {
                XmlMode::Path => XmlNames { declared: &self.xml_namespaces }.path(name, is_xml)?,
                _ if name.is_empty() => return Err(SqlError::new(messages::XML_UNNAMED, &[])),
                XmlMode::Attributes | XmlMode::Elements => {}
            }
            shape.column(name, is_xml)?;
        }
        if mode == XmlMode::Attributes {
            check_attributes(result.columns.iter())?;
        }
        let before = root.as_ref().map_or(String::new(), |r| format!("<{r}{of_root}>"));
        let after = root.map_or(String::new(), |r| format!("</{r}>"));
        // Rows without an element of their own are atomic values side by side.
        let atomic = element.is_empty()
            && mode == XmlMode::Path
            && matches!(result.columns.as_slice(), [c] if c.name.as_deref() == Some("data()"));
        let between = if atomic { " " } else { "" };
        Ok((&XML_ROW, shape.into_value(), DocumentFrame { before, between, after, records: None }))
    }
}

/// Whether a column of FOR XML EXPLICIT writes `xsi:nil`.
fn names_nil(c: &OutColumn) -> bool {
    c.name.as_deref().is_some_and(|n| n.to_ascii_lowercase().ends_with("!elementxsinil"))
}

/// The document of joined records.
fn of_records(function: &'static Function, shape: Scalar, records: Scalar) -> Scalar {
    let ty = records.ty;
    let arg_types = [shape.ty.sql_type, ty.sql_type].into();
    let args = vec![shape, records];
    let kind = ScalarKind::Function { function, args, arg_types };
    Scalar { kind, ty }
}

/// The text of rows as a value of xml: white space in it is data.
fn as_xml(text: Scalar) -> Scalar {
    let ty = text.ty.converted(SqlType::Xml);
    let style = Some(Box::new(Scalar::constant(Value::Int(1), SqlType::Int)));
    let (operand, implicit) = (Box::new(text), plan::ImplicitFlag(true));
    let kind = ScalarKind::Cast { operand, style, attempt: false, implicit };
    Scalar { kind, ty }
}

/// A document is sent or is a value; it has no columns to be stored: 6819, 13602.
pub(crate) fn refuse_document(query: &ast::Query, statement: &str) -> SqlResult<()> {
    let Some(clause) = &query.for_clause else { return Ok(()) };
    let assigns = statement == ASSIGNMENT;
    let message = match clause.kind {
        ForKind::Browse => return Ok(()),
        // A public project recorded that an assignment names FOR XML for both.
        ForKind::Json if !assigns => messages::JSON_NOT_IN,
        ForKind::Json | ForKind::Xml => messages::XML_NOT_IN,
    };
    let error = SqlError::new(message, &[&statement]);
    let error = if assigns { error.with_state(3) } else { error };
    Err(error.at_line(clause.span.line))
}

/// 6829 without BINARY BASE64.
fn refuse_binary(columns: &[OutColumn]) -> SqlResult<()> {
    let binary = |c: &&OutColumn| c.ty.sql_type.family() == types::Family::Binary;
    match columns.iter().find(binary) {
        Some(c) => Err(SqlError::new(messages::XML_BINARY, &[&c.name.as_deref().unwrap_or("")])),
        None => Ok(()),
    }
}

fn text_of(value: &SettingValue, default: &str) -> String {
    match value {
        SettingValue::String(text) => text.to_string(),
        _ => default.to_owned(),
    }
}

fn json_name(column: &OutColumn) -> SqlResult<&str> {
    let name = column.name.as_deref().filter(|n| !n.is_empty());
    name.ok_or_else(|| SqlError::new(messages::JSON_UNNAMED, &[]))
}

/// Whether an item of the select list gives a document; with a star in the list nobody counts.
fn gives(body: &QueryBody, item: usize, is: fn(&ast::Expr) -> bool) -> bool {
    let QueryBody::Select(s) = body else { return false };
    let starred = s.items.iter().any(|i| !matches!(i, SelectItem::Expr { .. }));
    match s.items.get(item) {
        Some(SelectItem::Expr { expr, .. }) if !starred => is(expr),
        _ => false,
    }
}
