//! Column names: which source they belong to, in which scope.

use crate::binder::Binder;
use crate::names::scope::{
    Clause, ColumnRead, Columns, GivenColumn, GivenValue, MadeRow, Scope, Source,
};
use base::{SqlError, SqlResult, messages};
use catalog::view::{Column, Table};
use plan::{Coercibility, Predicate, Scalar, ScalarKind, ScalarType, TableNo};
use tsql::ast;
use types::{Collation, SqlType};

/// A column reference that found its column.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedColumn {
    pub(crate) scalar: Scalar,
    pub(crate) name: Box<str>,
    pub(crate) user_type_id: i32,
    pub(crate) identity: bool,
    /// A stored column of a table.
    pub(crate) stored: bool,
    /// Which source of the query itself has it.
    pub(crate) source: Option<usize>,
}

/// A column that is named by what it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SpecialColumn {
    /// `$IDENTITY`, IDENTITYCOL
    Identity,
    /// `$ROWGUID`, ROWGUIDCOL
    RowGuid,
    /// `%%physloc%%`
    Location,
}

/// The ordinal of a row's place, which no column has.
const LOCATION: usize = usize::MAX;

impl SpecialColumn {
    fn of(name: &ast::Name) -> Option<SpecialColumn> {
        let is = |names: [&str; 2]| names.iter().any(|n| name.eq_ignore_ascii_case(n));
        if is(["$IDENTITY", "IDENTITYCOL"]) {
            Some(SpecialColumn::Identity)
        } else if is(["$ROWGUID", "ROWGUIDCOL"]) {
            Some(SpecialColumn::RowGuid)
        } else if name.eq_ignore_ascii_case("%%physloc%%") {
            Some(SpecialColumn::Location)
        } else {
            None
        }
    }
}

/// Where a name was found.
#[derive(Clone, Copy)]
struct Place {
    scope: usize,
    source: usize,
    column: usize,
}

/// Whether two names are one.
pub(crate) fn same_name(a: &str, b: &str, collation: Collation) -> bool {
    if collation.is_case_sensitive() {
        return a == b;
    }
    a.eq_ignore_ascii_case(b)
        || (!(a.is_ascii() && b.is_ascii()) && a.to_lowercase() == b.to_lowercase())
}

/// The type of a column that has a place in rows.
fn stored_type(c: &Column, nullable: bool) -> ScalarType {
    ScalarType {
        sql_type: c.sql_type,
        nullable,
        collation: c.collation,
        coercibility: Coercibility::Implicit,
    }
}

/// A value where something is true, else NULL.
pub(crate) fn where_true(condition: Predicate, value: Scalar) -> Scalar {
    let ty = ScalarType { nullable: true, ..value.ty };
    Scalar { kind: ScalarKind::Case { branches: vec![(condition, value)], otherwise: None }, ty }
}

/// Whether a value is NULL when all columns are.
fn is_null_of_nulls(x: &Scalar) -> bool {
    match &x.kind {
        ScalarKind::Column(_) => true,
        ScalarKind::Binary { left, right, .. } => is_null_of_nulls(left) || is_null_of_nulls(right),
        ScalarKind::Negate(operand) | ScalarKind::Cast { operand, .. } => is_null_of_nulls(operand),
        _ => false,
    }
}

/// A column of a view's new row: 404, 4186.
fn given_column(c: &GivenColumn, source: &Source) -> SqlResult<ResolvedColumn> {
    match &c.value {
        GivenValue::Value(scalar) => Ok(ResolvedColumn {
            scalar: scalar.clone(),
            name: c.name.clone(),
            user_type_id: c.user_type_id,
            identity: false,
            stored: false,
            source: None,
        }),
        GivenValue::OtherTable => Err(SqlError::new(messages::OUTPUT_OTHER_TABLE, &[&c.name])),
        GivenValue::Subquery => {
            Err(SqlError::new(messages::OUTPUT_OF_SUBQUERY, &[&source.name, &c.name]))
        }
    }
}

impl Binder<'_> {
    pub(crate) fn same(&self, a: &str, b: &str) -> bool {
        same_name(a, b, self.collation)
    }

    /// A column reference of the text.
    pub(crate) fn column(&mut self, name: &ast::ColumnName) -> SqlResult<ResolvedColumn> {
        let line = name.name.line;
        self.find(name).and_then(|place| self.at(place, line)).map_err(|e| e.at_line(line))
    }

    /// Whether a name is a column's here.
    pub(crate) fn finds(&self, name: &ast::ColumnName) -> bool {
        self.find(name).is_ok()
    }

    fn find(&self, name: &ast::ColumnName) -> SqlResult<Place> {
        let mut qualifier_known = false;
        for (scope, s) in self.scopes.iter().enumerate().rev() {
            let found = self.find_in(&s.sources, name, &mut qualifier_known)?;
            if let Some((source, column)) = found {
                return Ok(Place { scope, source, column });
            }
            if s.barrier {
                break;
            }
        }
        if name.qualifier.is_some() && !qualifier_known {
            return Err(SqlError::new(messages::MULTIPART_UNBOUND, &[name]));
        }
        let forbidden = self.scopes.is_empty();
        if forbidden {
            return Err(SqlError::new(messages::COLUMN_NOT_PERMITTED, &[&name.name]));
        }
        Err(SqlError::new(messages::INVALID_COLUMN, &[&name.name]))
    }

    /// The source and the ordinal of a column of some sources: 207, 209, 4104.
    pub(crate) fn find_among(
        &self,
        sources: &[Source],
        name: &ast::ColumnName,
    ) -> SqlResult<(usize, usize)> {
        let found = self.find_in(sources, name, &mut false).and_then(|found| {
            found.filter(|(_, column)| *column != LOCATION).ok_or_else(|| match &name.qualifier {
                Some(_) => SqlError::new(messages::MULTIPART_UNBOUND, &[name]),
                None => SqlError::new(messages::INVALID_COLUMN, &[&name.name]),
            })
        });
        found.map_err(|e| e.at_line(name.name.line))
    }

    fn find_in(
        &self,
        sources: &[Source],
        name: &ast::ColumnName,
        qualifier_known: &mut bool,
    ) -> SqlResult<Option<(usize, usize)>> {
        let mut found = None;
        let mut known_here = false;
        for (n, source) in sources.iter().enumerate() {
            if let Some(q) = &name.qualifier {
                if !self.bears(source, q) {
                    continue;
                }
                known_here = true;
            }
            let special = SpecialColumn::of(&name.name);
            if special == Some(SpecialColumn::Location) {
                let is_table = |no: TableNo| self.references.table(no).is_some();
                if !matches!(source.columns, Columns::Reference(no) if is_table(no)) {
                    continue;
                }
                if found.is_some() {
                    return Err(SqlError::new(messages::AMBIGUOUS_COLUMN, &[&name.name]));
                }
                found = Some((n, LOCATION));
                continue;
            }
            for column in 0..self.column_count(source) {
                let bears = match special {
                    Some(special) => self.is_special(source, column, special),
                    None => self.same(&self.column_name(source, column), &name.name),
                };
                if !bears {
                    continue;
                }
                if found.is_some() {
                    return Err(SqlError::new(messages::AMBIGUOUS_COLUMN, &[&name.name]));
                }
                found = Some((n, column));
            }
        }
        *qualifier_known |= known_here;
        if found.is_none() && known_here {
            return Err(SqlError::new(messages::INVALID_COLUMN, &[&name.name]));
        }
        Ok(found)
    }

    /// Whether a column of a source is its identity column, or its ROWGUIDCOL.
    fn is_special(&self, source: &Source, column: usize, special: SpecialColumn) -> bool {
        let of_table = |c: &Column| match special {
            SpecialColumn::Identity => c.identity.is_some(),
            SpecialColumn::RowGuid => c.row_guid,
            SpecialColumn::Location => false,
        };
        match &source.columns {
            Columns::Derived(columns) => {
                special == SpecialColumn::Identity && columns[column].identity
            }
            Columns::Made(row) => of_table(&row.table.columns[column]),
            Columns::Given(_) => false,
            Columns::Reference(no) => {
                self.references.table(*no).is_some_and(|t| of_table(&t.columns[column]))
            }
        }
    }

    /// Whether a qualifier names a source.
    pub(crate) fn bears(&self, source: &Source, qualifier: &ast::ObjectName) -> bool {
        let part = |written: &Option<ast::Name>, own: &Option<Box<str>>| match (written, own) {
            (None, _) => true,
            (Some(w), Some(o)) => self.same(w, o),
            (Some(_), None) => false,
        };
        self.same(&source.name, &qualifier.object)
            && qualifier.server.is_none()
            && part(&qualifier.schema, &source.schema)
            && part(&qualifier.database, &source.database)
    }

    pub(crate) fn column_count(&self, source: &Source) -> usize {
        match &source.columns {
            Columns::Derived(columns) => columns.len(),
            Columns::Made(row) => row.table.columns.len(),
            Columns::Given(columns) => columns.len(),
            Columns::Reference(no) => {
                match (self.references.table(*no), self.references.virtual_table(*no)) {
                    (Some(t), _) => t.columns.len(),
                    (_, Some(v)) => v.columns.len(),
                    (None, None) => 0,
                }
            }
        }
    }

    pub(crate) fn column_name(&self, source: &Source, column: usize) -> Box<str> {
        match &source.columns {
            Columns::Derived(columns) => columns[column].name.clone(),
            Columns::Made(row) => row.table.columns[column].name.clone(),
            Columns::Given(columns) => columns[column].name.clone(),
            Columns::Reference(no) => {
                match (self.references.table(*no), self.references.virtual_table(*no)) {
                    (Some(t), _) => t.columns[column].name.clone(),
                    (_, Some(v)) => v.columns[column].name.clone(),
                    (None, None) => "".into(),
                }
            }
        }
    }

    fn at(&mut self, place: Place, line: u32) -> SqlResult<ResolvedColumn> {
        let source = self.scopes[place.scope].sources[place.source].clone();
        // What a computed column is made of was not named.
        let named = self.named_scopes.take();
        let resolved = self.column_of(&source, place.column);
        self.named_scopes = named;
        if let Some(named) = &mut self.named_scopes {
            named.insert(place.scope);
        }
        let mut resolved = resolved?;
        let nested = place.scope != self.scopes.len() - 1;
        resolved.source = (!nested).then_some(place.source);
        let scope = &mut self.scopes[place.scope];
        if nested
            && scope.clause.is_of_groups()
            && let Some(of_group) = scope.groups.of_group(&resolved.scalar)
        {
            resolved.scalar = of_group;
        }
        if let Some(slot) = resolved.scalar.as_column()
            && !scope.in_aggregate
        {
            scope.reads.push(ColumnRead {
                slot,
                shown: format!("{}.{}", source.shown, resolved.name),
                line,
                clause: scope.clause,
                nested,
            });
        }
        Ok(resolved)
    }

    /// A column of a source.
    pub(crate) fn column_of(
        &mut self,
        source: &Source,
        column: usize,
    ) -> SqlResult<ResolvedColumn> {
        match &source.columns {
            Columns::Derived(columns) => {
                let c = &columns[column];
                Ok(ResolvedColumn {
                    scalar: Scalar::column(c.slot, c.ty),
                    name: c.name.clone(),
                    user_type_id: c.user_type_id,
                    identity: c.identity,
                    stored: false,
                    source: None,
                })
            }
            Columns::Reference(no) if column == LOCATION => Ok(self.location(*no)),
            Columns::Reference(no) => match self.references.table(*no) {
                Some(_) => self.table_column(*no, column, source),
                None => Ok(self.virtual_column(*no, column)),
            },
            Columns::Made(row) => self.made_column(row, column, source),
            Columns::Given(columns) => given_column(&columns[column], source),
        }
    }

    fn made_column(
        &mut self,
        row: &MadeRow,
        column: usize,
        source: &Source,
    ) -> SqlResult<ResolvedColumn> {
        let c = &row.table.columns[column];
        let scalar = match (row.slots.get(column).copied().flatten(), &c.computed) {
            (Some(slot), _) => {
                let nullable = c.nullable || row.present.is_some();
                Scalar::column(slot, stored_type(c, nullable))
            }
            (None, Some(computed)) => {
                let value = self.computed(&computed.text, source)?;
                match &row.present {
                    Some(present) => where_true(present.clone(), value),
                    None => value,
                }
            }
            (None, None) => Scalar::null(c.sql_type),
        };
        let (name, user_type_id) = (c.name.clone(), c.user_type_id);
        Ok(ResolvedColumn {
            scalar,
            name,
            user_type_id,
            identity: false,
            stored: false,
            source: None,
        })
    }

    /// The place of a table's row: NULL where it has none, or an outer join has no row.
    fn location(&mut self, no: TableNo) -> ResolvedColumn {
        let slot = self.references.use_location(no);
        let sql_type = SqlType::Binary(8);
        let ty = ScalarType {
            sql_type,
            nullable: true,
            collation: self.collation,
            coercibility: Coercibility::Implicit,
        };
        ResolvedColumn {
            scalar: Scalar::column(slot, ty),
            name: "".into(),
            user_type_id: sql_type.user_type_id(),
            identity: false,
            stored: false,
            source: None,
        }
    }

    fn table_column(
        &mut self,
        no: TableNo,
        column: usize,
        source: &Source,
    ) -> SqlResult<ResolvedColumn> {
        let table = self.references.table(no).expect("the caller saw that it is a table");
        let c = &table.columns[column];
        let scalar = match (&c.computed, c.physical) {
            (Some(computed), None) => {
                let value = self.computed(&computed.text, source)?;
                match self.references.is_nullable(no) {
                    true => self.where_present(no, &table, value),
                    false => value,
                }
            }
            _ => {
                let nullable = c.nullable || self.references.is_nullable(no);
                Scalar::column(self.references.use_column(no, column), stored_type(c, nullable))
            }
        };
        Ok(ResolvedColumn {
            scalar,
            name: c.name.clone(),
            user_type_id: c.user_type_id,
            identity: c.identity.is_some(),
            stored: c.computed.is_none(),
            source: None,
        })
    }

    /// A value of a row that an outer join may not have: NULL then, also where it reads nothing
    /// that is.
    fn where_present(&mut self, no: TableNo, table: &Table, value: Scalar) -> Scalar {
        if is_null_of_nulls(&value) {
            return Scalar { ty: ScalarType { nullable: true, ..value.ty }, ..value };
        }
        let certain = table.columns.iter().position(|c| !c.nullable && c.physical.is_some());
        let slot = match certain {
            Some(column) => self.references.use_column(no, column),
            None => self.references.flag(no),
        };
        let flag = Scalar::column(slot, ScalarType::new(SqlType::Int, true));
        where_true(Predicate::Not(Box::new(Predicate::IsNull(Box::new(flag)))), value)
    }

    /// The expression of a computed column over its table's other columns.
    fn computed(&mut self, text: &str, source: &Source) -> SqlResult<Scalar> {
        let expr = tsql::parse_expression(text, tsql::ParseOptions::default())?;
        let mut scope = Scope::barrier(Clause::Definition);
        scope.sources.push(source.clone());
        self.nested(1, |b| {
            b.scopes.push(scope);
            let bound = b.expr(&expr);
            b.scopes.pop();
            bound
        })
    }

    fn virtual_column(&mut self, no: TableNo, column: usize) -> ResolvedColumn {
        let view = self.references.virtual_table(no).expect("a reference is a table or a view");
        let c = &view.columns[column];
        let ty = ScalarType {
            coercibility: Coercibility::Implicit,
            ..self.plain(c.sql_type, c.nullable || self.references.is_nullable(no))
        };
        let sysname = c.sql_type == SqlType::SYSNAME;
        ResolvedColumn {
            scalar: Scalar::column(self.references.use_column(no, column), ty),
            name: c.name.clone(),
            user_type_id: if sysname { 256 } else { c.sql_type.user_type_id() },
            identity: false,
            stored: false,
            source: None,
        }
    }
}
