//! Functions: those of the registry, and forms of the language spelled like them.

use crate::binder::Binder;
use crate::expressions::collation::of_function;
use crate::expressions::comparable::check_arguments;
use crate::expressions::deduction::{Inference, takes_any_type};
use crate::refusal::unsupported;
use base::{SqlError, SqlResult, messages};
use builtins::{Aggregate, Fact, Function};
use catalog::view::{ModuleKind, Object};
use plan::{
    CombiningOperator, CompareOp, Predicate, Scalar, ScalarKind, ScalarType, UserCall, UserFunction,
};
use tsql::ast::{self, ExprKind, ForKind};
use types::{BinaryOp, Collation, SqlType, Value};

/// A function of the schema sys, which nobody finds without it.
fn of_system(name: &ast::ObjectName) -> Option<&'static Function> {
    let schema = name.schema.as_ref().filter(|s| s.eq_ignore_ascii_case("sys"))?;
    let alone = name.database.is_none() && name.server.is_none();
    alone.then(|| builtins::lookup(&format!("{}.{}", schema.text, name.object.text)))?
}

impl Binder<'_> {
    /// A function call.
    pub(crate) fn function(&mut self, call: &ast::FunctionCall) -> SqlResult<Scalar> {
        let bound = self.function_kind(call);
        bound.map_err(|e| e.at_line(call.span.line))
    }

    fn function_kind(&mut self, call: &ast::FunctionCall) -> SqlResult<Scalar> {
        let name = &call.name;
        let line = call.span.line;
        if name.schema.is_some() || name.database.is_some() || name.server.is_some() {
            if let Some(method) = self.column_method(call)? {
                return Ok(method);
            }
            if let Some(function) = of_system(name) {
                return self.of_place(function, &call.arguments);
            }
            return self.user_function(call);
        }
        if let Some(window) = self.ranking(call)? {
            return Ok(window);
        }
        if let Some(keyed) = json_constructor(&name.object) {
            return self.json_constructor(call, keyed);
        }
        if call.ignore_nulls.is_some() {
            return Err(unsupported("IGNORE NULLS with this function", line));
        }
        if let Some(aggregate) = Aggregate::by_name(&name.object) {
            return self.aggregate(aggregate, call);
        }
        if name.object.eq_ignore_ascii_case("APPROX_COUNT_DISTINCT") {
            // Counted exactly, which is within the 2 % that it promises.
            let exact = ast::FunctionCall { distinct: true, ..call.clone() };
            return self.aggregate(Aggregate::CountBig, &exact);
        }
        if !call.within_group.is_empty() {
            let name = name.object.to_ascii_lowercase();
            return Err(SqlError::new(messages::NO_WITHIN_GROUP, &[&name]));
        }
        if call.star && call.over.is_none() {
            return self.checksum_of_all(call);
        }
        if call.over.is_some() || call.distinct || call.star {
            return Err(SqlError::new(messages::SYNTAX_NEAR, &[&name.object]));
        }
        match name.object.to_ascii_uppercase().as_str() {
            "COALESCE" => self.coalesce(call),
            "NULLIF" => self.nullif(call),
            "GROUPING" | "GROUPING_ID" => self.grouping_function(call),
            "COLUMNS_UPDATED" if call.arguments.is_empty() => Ok(self.columns_updated()),
            "TRIGGER_NESTLEVEL" if call.arguments.is_empty() => Ok(Scalar {
                kind: ScalarKind::Global(Fact::TriggerNestLevel),
                ty: self.plain(SqlType::Int, true),
            }),
            "TEXTPTR" | "TEXTVALID" => Err(unsupported(&name.object, line)),
            "NEWSEQUENTIALID" if !self.in_definition() => {
                Err(SqlError::new(messages::NEWSEQUENTIALID_PLACE, &[]))
            }
            _ => match builtins::lookup(&name.object) {
                Some(function) => self.registered(function, &call.arguments),
                None => Err(self.unknown_function(name)),
            },
        }
    }

    /// `CHECKSUM(*)`, `BINARY_CHECKSUM(*)`: of all columns of FROM. The second passes those over
    /// whose types do not compare, as its documentation says.
    fn checksum_of_all(&mut self, call: &ast::FunctionCall) -> SqlResult<Scalar> {
        let function = match builtins::lookup(&call.name.object) {
            Some(f) if matches!(f.name, "CHECKSUM" | "BINARY_CHECKSUM") => f,
            _ => return Err(SqlError::new(messages::SYNTAX_NEAR, &[&call.name.object])),
        };
        if self.computes_column {
            // The column that it would make is one of them; who knows its name tells it.
            return Err(SqlError::new(messages::COMPUTED_OF_COMPUTED, &[&"*", &""]));
        }
        let mut items = Vec::new();
        self.item(&ast::SelectItem::Star(call.span), &mut items)?;
        let mut all: Vec<Scalar> = items.into_iter().map(|item| item.scalar).collect();
        if function.name == "BINARY_CHECKSUM" {
            all.retain(|x| !x.ty.sql_type.is_text_image() && x.ty.sql_type != SqlType::Xml);
        }
        function.check_count(all.len())?;
        self.call(function, all)
    }

    /// A function of a row's place, which it takes as 8 bytes.
    fn of_place(&mut self, function: &'static Function, args: &[ast::Expr]) -> SqlResult<Scalar> {
        function.check_count(args.len())?;
        let place = self.expr(&args[0])?;
        let place = self.implicit(place, SqlType::Binary(8))?;
        self.call(function, vec![place])
    }

    /// A scalar function of the user: named with its schema.
    fn user_function(&mut self, call: &ast::FunctionCall) -> SqlResult<Scalar> {
        let found = match self.lookup(&call.name) {
            Ok(found) => found,
            Err(e) if e.number() == messages::INVALID_OBJECT.number => {
                return Err(self.unknown_function(&call.name));
            }
            Err(e) => return Err(e),
        };
        let Object::Module(module) = &found.object else {
            return Err(self.unknown_function(&call.name));
        };
        let (ModuleKind::ScalarFunction, Some(result)) = (module.kind, module.result()) else {
            return Err(self.unknown_function(&call.name));
        };
        if call.over.is_some() || call.distinct || call.star || !call.within_group.is_empty() {
            return Err(SqlError::new(messages::SYNTAX_NEAR, &[&call.name.object]));
        }
        let args = self.arguments(module, call)?;
        let ty = ScalarType {
            collation: found.database.collation(),
            ..self.plain(result.sql_type, true)
        };
        self.refer(&found.database, found.object.clone())?;
        self.header.calls = true;
        let function = UserFunction { database: found.database.id(), object: module.object_id };
        let name = format!("{}.{}", found.database.name(), module.two_part_name()).into();
        let null_on_null_input = module.options.null_on_null_input;
        let call = UserCall { function, name, null_on_null_input, args };
        Ok(Scalar { kind: ScalarKind::Call(Box::new(call)), ty })
    }

    /// Whether the expression is a DEFAULT or the like.
    fn in_definition(&self) -> bool {
        self.scopes.last().is_some_and(|s| s.clause == crate::names::scope::Clause::Definition)
    }

    /// `x AT TIME ZONE zone`
    pub(crate) fn at_time_zone(&mut self, x: &ast::Expr, zone: &ast::Expr) -> SqlResult<Scalar> {
        let args = vec![self.expr(x)?, self.expr(zone)?];
        self.call(&builtins::AT_TIME_ZONE, args)
    }

    /// `PARSE(x AS type USING culture)`, also TRY_PARSE.
    pub(crate) fn parse(&mut self, c: &ast::Cast, to: SqlType) -> SqlResult<Scalar> {
        let function = if c.attempt { &builtins::TRY_PARSE } else { &builtins::PARSE };
        if !builtins::is_parsed_type(to) {
            let error = SqlError::new(messages::ARGUMENT_TYPE_INVALID, &[&to.name(), &2, &"parse"]);
            return Err(error.at_line(c.target.span.line));
        }
        let culture = match &c.style {
            Some(culture) => self.expr(culture)?,
            None => self.constant(Value::Null, SqlType::nvarchar(20)),
        };
        let args = vec![self.expr(&c.operand)?, culture];
        let arg_types: Box<[SqlType]> = args.iter().map(|a| a.ty.sql_type).collect();
        (function.result)(&arg_types)?;
        Ok(Scalar {
            kind: ScalarKind::Function { function, args, arg_types },
            ty: self.plain(to, true),
        })
    }

    fn columns_updated(&self) -> Scalar {
        let ty = self.plain(SqlType::varbinary(128), true);
        Scalar { kind: ScalarKind::Global(Fact::ColumnsUpdated), ty }
    }

    /// UPDATE(column) of a trigger: whether the statement gave the column a value.
    pub(crate) fn updated(&mut self, column: &ast::Name) -> SqlResult<Predicate> {
        let rows = self.environment.catalogs.table_variable("inserted");
        let found = rows.and_then(|t| {
            let at = t.column(column, self.collation)?;
            Some(t.columns[at].column_id)
        });
        let id = found.ok_or_else(|| {
            SqlError::new(messages::INVALID_COLUMN, &[column]).at_line(column.line)
        })?;
        let number = |n: i32| Scalar::constant(Value::Int(n), SqlType::Int);
        let function = builtins::lookup("SUBSTRING").expect("SUBSTRING is in the registry");
        let all = self.columns_updated();
        let byte = self.call(function, vec![all, number((id - 1) / 8 + 1), number(1)])?;
        let byte = self.implicit(byte, SqlType::Int)?;
        let bit = self.binary(BinaryOp::BitAnd, byte, number(1 << ((id - 1) % 8)))?;
        self.compare(CompareOp::NotEqual, bit, number(0))
    }

    fn unknown_function(&self, name: &ast::ObjectName) -> SqlError {
        match &name.schema {
            Some(first) => {
                let first = name.database.as_ref().unwrap_or(first);
                SqlError::new(messages::COULD_NOT_FIND_FUNCTION, &[first, name])
            }
            None => {
                let what = "built-in function name";
                SqlError::new(messages::NOT_RECOGNIZED, &[&name.object, &what])
            }
        }
    }

    /// A function called without parentheses.
    pub(crate) fn niladic(&mut self, name: &ast::Name) -> SqlResult<Scalar> {
        match builtins::lookup(name) {
            Some(function) => self.registered(function, &[]),
            None => {
                let what = "built-in function name";
                Err(SqlError::new(messages::NOT_RECOGNIZED, &[name, &what]).at_line(name.line))
            }
        }
    }

    pub(crate) fn trim(&mut self, t: &ast::Trim) -> SqlResult<Scalar> {
        let name = match t.side {
            Some(ast::TrimSide::Leading) => "LTRIM",
            Some(ast::TrimSide::Trailing) => "RTRIM",
            Some(ast::TrimSide::Both) | None => "TRIM",
        };
        let mut args = vec![self.expr(&t.operand)?];
        if let Some(characters) = &t.characters {
            args.push(self.expr(characters)?);
        }
        let function = builtins::lookup(name);
        self.call(function.expect("TRIM and its sides are in the registry"), args)
    }

    fn registered(&mut self, function: &'static Function, args: &[ast::Expr]) -> SqlResult<Scalar> {
        function.check_count(args.len())?;
        let mut bound = Vec::with_capacity(args.len());
        for (n, arg) in args.iter().enumerate() {
            bound.push(match &arg.kind {
                ExprKind::Column(part) if n == 0 && function.date_part => {
                    let value = builtins::datepart_argument(&part.name, function.name)?;
                    self.constant(value, SqlType::TinyInt)
                }
                _ if n == 0 && function.date_part => {
                    let name = function.name.to_ascii_lowercase();
                    return Err(SqlError::new(messages::DATEPART_INVALID, &[&1, &name]));
                }
                kind if n == 1 && function.name == "ISJSON" => self.json_kind(kind)?,
                _ => self.expr(arg)?,
            });
        }
        let raw = function.name == "JSON_MODIFY" && args.last().is_some_and(is_json);
        self.call(if raw { &builtins::JSON_MODIFY_RAW } else { function }, bound)
    }

    /// JSON_OBJECT and JSON_ARRAY: a word of flags goes before their keys and values.
    fn json_constructor(&mut self, call: &ast::FunctionCall, keyed: bool) -> SqlResult<Scalar> {
        let values = call.arguments.iter().enumerate().filter(|(n, _)| !keyed || n % 2 == 1);
        let raw = values.map(|(_, x)| if is_json(x) { 'j' } else { 'v' });
        let keeps_nulls = !call.ignore_nulls.unwrap_or(!keyed);
        let flags: String =
            std::iter::once(if keeps_nulls { 'n' } else { 'a' }).chain(raw).collect();
        let length = u16::try_from(flags.len()).unwrap_or(u16::MAX);
        let flags = self.constant(Value::nvarchar(&flags), SqlType::nvarchar(length));
        let mut bound = vec![flags];
        for argument in &call.arguments {
            bound.push(self.expr(argument)?);
        }
        self.call(if keyed { &builtins::JSON_OBJECT } else { &builtins::JSON_ARRAY }, bound)
    }

    /// The word that says of what kind JSON text is to be.
    fn json_kind(&self, kind: &ExprKind) -> SqlResult<Scalar> {
        const KINDS: [&str; 4] = ["VALUE", "SCALAR", "ARRAY", "OBJECT"];
        let ExprKind::Column(word) = kind else {
            return Err(SqlError::new(messages::DATEPART_INVALID, &[&2, &"isjson"]));
        };
        let Some(known) = KINDS.iter().find(|k| k.eq_ignore_ascii_case(&word.name)) else {
            return Err(SqlError::new(messages::OPTION_UNKNOWN, &[&word.name, &"isjson"]));
        };
        Ok(self.constant(Value::nvarchar(known), SqlType::nvarchar(10)))
    }

    /// A call of a function that is there.
    pub(crate) fn known_function(&mut self, name: &str, args: Vec<Scalar>) -> SqlResult<Scalar> {
        match builtins::lookup(name) {
            Some(function) => self.call(function, args),
            None => {
                Err(SqlError::new(messages::NOT_RECOGNIZED, &[&name, &"built-in function name"]))
            }
        }
    }

    fn call(&mut self, function: &'static Function, mut args: Vec<Scalar>) -> SqlResult<Scalar> {
        self.untyped_arguments(function, &mut args)?;
        if function.name == "ISNULL" {
            self.type_isnull(&mut args);
        }
        let arg_types: Box<[SqlType]> = args.iter().map(|a| a.ty.sql_type).collect();
        check_arguments(function.name, &arg_types)?;
        let sql_type = (function.result)(&arg_types)?;
        let mut ty = of_function(function.name, &args, self.plain(sql_type, true))?;
        if function.name == "NCHAR" && self.collation.has_supplementary() {
            ty.sql_type = SqlType::nvarchar(2);
        }
        let taken = |(n, x)| match function.reads_characters(n) {
            true => self.in_characters(x),
            false => self.in_functions_page(x, ty.collation),
        };
        let args: Vec<Scalar> = args.into_iter().enumerate().map(taken).collect();
        let arg_types: Box<[SqlType]> = args.iter().map(|a| a.ty.sql_type).collect();
        if function.name == "ISNULL" {
            ty.nullable = args.iter().all(|a| a.ty.nullable);
        }
        Ok(self
            .folding
            .fold(Scalar { kind: ScalarKind::Function { function, args, arg_types }, ty }))
    }

    /// An argument as a function of text takes it: in the page of the function's collation.
    fn in_functions_page(&self, x: Scalar, collation: Collation) -> Scalar {
        match x.as_constant().is_some_and(|v| v.is_null()) {
            true => x,
            false => self.recoded(x, collation),
        }
    }

    /// The word NULL as ISNULL's first argument takes the second's type.
    fn type_isnull(&self, args: &mut [Scalar]) {
        if let [first, second] = args {
            if takes_any_type(first) {
                first.ty.sql_type = second.ty.sql_type;
            } else if takes_any_type(second) {
                second.ty.sql_type = first.ty.sql_type;
            }
        }
    }

    fn coalesce(&mut self, call: &ast::FunctionCall) -> SqlResult<Scalar> {
        if call.arguments.len() < 2 {
            let error =
                SqlError::new(messages::FUNCTION_ARGUMENT_COUNT, &[&"coalesce", &"at least 2"]);
            return Err(error);
        }
        let mut items = Vec::with_capacity(call.arguments.len());
        for arg in &call.arguments {
            items.push(self.expr(arg)?);
        }
        // It stands for a CASE that names each twice.
        items.iter().for_each(|x| self.learn(x, || Inference::Nothing));
        let Some(mut ty) = self.common(items.iter(), CombiningOperator::Case)? else {
            return Err(SqlError::new(messages::COALESCE_ALL_NULL, &[]));
        };
        // As of the CASE that it stands for; ISNULL is what is never NULL.
        ty.nullable = items.iter().any(|x| x.ty.nullable);
        let items: SqlResult<Vec<Scalar>> =
            items.into_iter().map(|x| self.as_result(x, ty)).collect();
        Ok(self.folding.fold(Scalar { kind: ScalarKind::Coalesce(items?), ty }))
    }

    fn nullif(&mut self, call: &ast::FunctionCall) -> SqlResult<Scalar> {
        let [first, second] = call.arguments.as_slice() else {
            return Err(SqlError::new(messages::FUNCTION_ARGUMENT_COUNT, &[&"nullif", &2]));
        };
        if matches!(first.kind, ExprKind::Literal(ast::Literal::Null)) {
            return Err(SqlError::new(messages::NULLIF_NULL, &[]));
        }
        let first = self.expr(first)?;
        let second = self.expr(second)?;
        self.learn(&first, || Inference::Nothing);
        let (shared, bound_to) = self.shared(first);
        let ty = ScalarType { nullable: true, ..shared.ty };
        let equal = self.compare(CompareOp::Equal, shared.clone(), second)?;
        let null = Scalar { kind: ScalarKind::Constant(Value::Null), ty };
        let kind =
            ScalarKind::Case { branches: vec![(equal, null)], otherwise: Some(Box::new(shared)) };
        let body = Scalar { kind, ty };
        Ok(match bound_to {
            Some((slot, value)) => {
                let (value, body) = (Box::new(value), Box::new(body));
                Scalar { kind: ScalarKind::Let { slot, value, body }, ty }
            }
            None => body,
        })
    }
}

/// Whether a function makes JSON text of its arguments, and of keys and values.
fn json_constructor(name: &str) -> Option<bool> {
    match name.len() {
        10 if name.eq_ignore_ascii_case("JSON_ARRAY") => Some(false),
        11 if name.eq_ignore_ascii_case("JSON_OBJECT") => Some(true),
        _ => None,
    }
}

/// Whether an expression is JSON by its form, to be embedded as it is.
pub(crate) fn is_json(e: &ast::Expr) -> bool {
    const MAKERS: [&str; 4] = ["JSON_QUERY", "JSON_MODIFY", "JSON_OBJECT", "JSON_ARRAY"];
    match &e.kind {
        ExprKind::Subquery(q) => q.for_clause.as_ref().is_some_and(|f| {
            let bare = f.options.iter().any(|o| &*o.name == "WITHOUT_ARRAY_WRAPPER");
            f.kind == ForKind::Json && !bare
        }),
        ExprKind::Function(call) => MAKERS.iter().any(|m| call.name.object.eq_ignore_ascii_case(m)),
        _ => false,
    }
}
