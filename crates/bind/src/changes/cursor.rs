//! Cursors whose rows are read again when they are fetched, and changes of the row that is current.
//!
//! ```text
//!   SELECT v FROM t WHERE …      as opened:   v and the columns of a unique key of t
//!                                as fetched:  v FROM t, restricted to the key's values
//!   UPDATE t … WHERE CURRENT OF  restricted to the same values
//! ```
//!
//! The values of keys stand in variables behind those of the text. A table without a unique key
//! has its rows told apart by their places: the RID in a heap, the key and the uniquifier in a
//! clustered index. A query that has rows of its own (groups, DISTINCT, unions) has no such form.

use crate::binder::Binder;
use crate::changes::target::{TargetTable, set_target};
use base::{SqlError, SqlResult, messages};
use catalog::view::{Events, Index, Table};
use plan::{
    CompareOp, CursorColumn, CursorKey, Get, JoinKind, Logical, OldRow, Predicate, Query,
    Reference, ResultColumn, Scalar, ScalarKind, ScalarType, Slot, SortKey, Statement, Strength,
    TableNo, VariableId,
};
use std::collections::BTreeSet;
use tsql::ast::{self, QueryBody, StatementKind};
use types::SqlType;

/// How a row of a cursor is read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refetch {
    /// Its WHERE must still hold: DYNAMIC.
    pub filtered: bool,
    /// It is locked for a change: SCROLL_LOCKS.
    pub locked: bool,
}

/// A row is found by its key, whatever index its query was to read.
fn as_by_key(get: &mut Get) {
    (get.index, get.seek_columns) = (None, 0);
    (get.force_seek, get.force_scan) = (false, false);
    get.further.clear();
}

impl Binder<'_> {
    /// A cursor's query with its keys behind its columns, as far as it has any.
    pub(crate) fn cursor_rows(
        &mut self,
        statement: &StatementKind,
    ) -> SqlResult<Statement<Logical>> {
        let bound = self.statement(statement)?;
        let Statement::Query(Query { mut source, mut columns }) = bound else { return Ok(bound) };
        let keyed = self.keyed_tables(&source).unwrap_or_default();
        self.header.cursor_columns =
            columns.iter().map(|c| self.cursor_column(c.slot, &keyed)).collect();
        for (no, key) in keyed {
            for &column in &key.columns {
                columns.push(self.key_column(no, column));
            }
            if key.placed {
                columns.push(self.place_column(no));
                self.set_place(&mut source, no);
            }
            self.header.cursor.push(key);
        }
        Ok(Statement::Query(Query { source, columns }))
    }

    /// One row of the same query by its keys.
    pub(crate) fn cursor_row(
        &mut self,
        statement: &StatementKind,
        how: Refetch,
    ) -> SqlResult<Statement<Logical>> {
        let StatementKind::Select(select) = statement else { return self.statement(statement) };
        let mut select = select.clone();
        bare(&mut select.query, how.filtered);
        let bound = self.statement(&StatementKind::Select(select))?;
        let Statement::Query(Query { mut source, columns }) = bound else { return Ok(bound) };
        let keyed = self.keyed_tables(&source).unwrap_or_default();
        let mut predicate = Predicate::TRUE;
        let mut at = self.environment.variables.first_free();
        for (no, key) in &keyed {
            for &column in &key.columns {
                predicate = predicate.and(self.same_key(*no, column, at));
                at += 1;
            }
            if key.placed {
                predicate = predicate.and(self.same_place(*no, at));
                self.set_place(&mut source, *no);
                at += 1;
            }
        }
        source.for_each_mut(&mut |node| {
            if let Logical::Get(get) = node {
                as_by_key(get);
                if how.locked {
                    get.locks.strength = get.locks.strength.max(Strength::Update);
                }
            }
        });
        // What they named may have stood in the WHERE that is not read.
        self.table_hints.clear();
        let source = Logical::Filter { input: Box::new(source), predicate };
        Ok(Statement::Query(Query { source, columns }))
    }

    /// WHERE CURRENT OF: the key of the row that a cursor has fetched.
    pub(crate) fn current_of(
        &mut self,
        cursor: &ast::CursorName,
        target: Option<TableNo>,
    ) -> SqlResult<Predicate> {
        let line = cursor.name.line;
        self.header.session_bound = true;
        let keys = self.environment.catalogs.cursor_keys(&cursor.name, cursor.global);
        let keys = keys.map_err(|e| e.at_line(line))?;
        let table = target.and_then(|no| Some((no, self.references.table(no)?)));
        let mut at = self.environment.variables.first_free();
        for (database, object, columns, placed) in keys {
            let behind = at + columns.len() as u32;
            if let Some((no, table)) = &table
                && (table.database, table.object_id) == (database, object)
            {
                let mut predicate = Predicate::TRUE;
                for (n, column) in (at..).zip(columns) {
                    predicate = predicate.and(self.same_key(*no, column, n));
                }
                if placed {
                    predicate = predicate.and(self.same_place(*no, behind));
                }
                return Ok(predicate);
            }
            at = behind + u32::from(placed);
        }
        Err(SqlError::new(messages::CURSOR_OTHER_TABLE, &[]).at_line(line))
    }

    /// What tells a cursor the key that its row has from now on: the OUTPUT of an UPDATE that says
    /// nothing else to anybody, where it changes the key of a cursor of one table.
    pub(crate) fn new_key(
        &mut self,
        s: &ast::Update,
        target: &TargetTable,
        set: &BTreeSet<usize>,
    ) -> SqlResult<Option<ast::Output>> {
        let Some(ast::DmlFilter::CurrentOf(cursor)) = &s.filter else { return Ok(None) };
        let keys = self.environment.catalogs.cursor_keys(&cursor.name, cursor.global)?;
        let [(database, object, key, false)] = keys.as_slice() else { return Ok(None) };
        let table = &target.table;
        let same = (table.database, table.object_id) == (*database, *object);
        // What triggers send is not told from it.
        let fires = self.fires(target, Events::UPDATE);
        if s.output.is_some() || !same || fires || !key.iter().any(|k| set.contains(k)) {
            return Ok(None);
        }
        self.header.gives_key = true;
        let span = ast::Span::default();
        let name = |text: &str| ast::Name { text: text.into(), line: span.line };
        let inserted = |n: &usize| {
            let object = name("inserted");
            let (server, database, schema) = (None, None, None);
            let inserted = ast::ObjectName { server, database, schema, object, span };
            let qualifier = Some(Box::new(inserted));
            let column = ast::ColumnName { qualifier, name: name(&table.columns[*n].name) };
            let kind = ast::ExprKind::Column(Box::new(column));
            ast::SelectItem::Expr { expr: ast::Expr { kind, span }, alias: None }
        };
        let items = key.iter().map(inserted).collect();
        Ok(Some(ast::Output { items, into: None, then: Vec::new(), span }))
    }

    /// The tables of a query with their keys; none where a row of it is not made of theirs.
    fn keyed_tables(&self, tree: &Logical) -> Option<Vec<(TableNo, CursorKey)>> {
        let mut tables = Vec::new();
        if !simple(tree, &mut tables) {
            return None;
        }
        let mut keyed = Vec::with_capacity(tables.len());
        for no in tables {
            let table = self.references.table(no)?;
            let unique = unique_key(&table);
            let key = unique.unwrap_or_else(|| table.base());
            let (columns, placed) = (key.key.iter().map(|k| k.column).collect(), unique.is_none());
            let table = Reference { database: table.database, object: table.object_id };
            keyed.push((no, CursorKey { table, columns, placed }));
        }
        // Rows that are sorted apart from their table are found again by unique keys alone.
        let apart = keyed.iter().any(|(_, key)| key.placed) && !self.read_in_order(tree, &keyed);
        (!keyed.is_empty() && !apart).then_some(keyed)
    }

    /// Whether rows come in no order, or in that of an index of the only table.
    fn read_in_order(&self, tree: &Logical, keyed: &[(TableNo, CursorKey)]) -> bool {
        let keys = order_of(tree);
        let [(no, _)] = keyed else { return keys.is_empty() };
        let Some(table) = self.references.table(*no) else { return false };
        let used = self.references.used(*no);
        let column = |slot: Slot| used.iter().find(|(_, s)| **s == slot).map(|(&c, _)| c);
        let follows = |index: &Index, back: bool| {
            keys.len() <= index.key.len()
                && keys.iter().zip(&index.key).all(|(wanted, k)| {
                    column(wanted.slot) == Some(k.column)
                        && (wanted.descending == k.descending) != back
                })
        };
        let usable = |i: &&Index| !i.disabled && i.filter.is_none();
        let indexes = table.indexes.iter().filter(usable);
        keys.is_empty() || { indexes }.any(|i| follows(i, false) || follows(i, true))
    }

    /// The column of a table that a slot is.
    fn cursor_column(&self, slot: Slot, keyed: &[(TableNo, CursorKey)]) -> Option<CursorColumn> {
        keyed.iter().enumerate().find_map(|(at, (no, key))| {
            let used = self.references.used(*no);
            let (&ordinal, _) = used.iter().find(|(_, s)| **s == slot)?;
            let table = self.references.table(*no)?;
            let column = table.columns.get(ordinal).filter(|c| c.computed.is_none())?;
            let (name, key) = (column.name.clone(), key.columns.contains(&ordinal));
            Some(CursorColumn { table: at, name, key })
        })
    }

    fn key_column(&mut self, no: TableNo, column: usize) -> ResultColumn {
        let key = self.key_scalar(no, column);
        ResultColumn {
            name: "".into(),
            slot: self.references.use_column(no, column),
            sql_type: key.ty.sql_type,
            user_type_id: 0,
            nullable: key.ty.nullable,
            collation: key.ty.collation,
            identity: false,
            updatable: false,
            untyped: false,
        }
    }

    fn key_scalar(&mut self, no: TableNo, column: usize) -> Scalar {
        let slot = self.references.use_column(no, column);
        let table = self.references.table(no).expect("a key is of a table");
        let mut key = crate::changes::row_slots::column_scalar(&table, column, slot);
        key.ty.nullable |= self.references.is_nullable(no);
        key
    }

    fn place_column(&mut self, no: TableNo) -> ResultColumn {
        let place = self.place_scalar(no);
        ResultColumn {
            name: "".into(),
            slot: self.references.use_place(no),
            sql_type: place.ty.sql_type,
            user_type_id: 0,
            nullable: place.ty.nullable,
            collation: place.ty.collation,
            identity: false,
            updatable: false,
            untyped: false,
        }
    }

    /// Where the row is: a RID, or a uniquifier, which the first of equal keys goes without.
    fn place_scalar(&mut self, no: TableNo) -> Scalar {
        let heap = self.references.table(no).is_some_and(|t| t.base().kind.is_heap());
        let sql_type = SqlType::varbinary(if heap { 8 } else { 4 });
        let nullable = !heap || self.references.is_nullable(no);
        Scalar::column(self.references.use_place(no), ScalarType::new(sql_type, nullable))
    }

    /// Has the rows of a table say where they are.
    fn set_place(&mut self, tree: &mut Logical, no: TableNo) {
        let place = Some(self.references.use_place(no));
        let heap = self.references.table(no).is_some_and(|t| t.base().kind.is_heap());
        let (rid, uniquifier) = if heap { (place, None) } else { (None, place) };
        set_target(tree, no, &OldRow { columns: Vec::new(), uniquifier, rid, hint: None });
    }

    fn same_place(&mut self, no: TableNo, variable: u32) -> Predicate {
        let place = self.place_scalar(no);
        same(place, variable)
    }

    /// That a key's column has the value of a variable, NULL or not.
    fn same_key(&mut self, no: TableNo, column: usize, variable: u32) -> Predicate {
        let key = self.key_scalar(no, column);
        same(key, variable)
    }
}

/// That a value is that of a variable, NULL or not.
fn same(key: Scalar, variable: u32) -> Predicate {
    let value = Scalar { kind: ScalarKind::Variable(VariableId(variable)), ty: key.ty };
    let absent = |x: &Scalar| Predicate::IsNull(Box::new(x.clone()));
    let both = absent(&key).and(absent(&value));
    let nullable = key.ty.nullable;
    let collation = key.ty.collation;
    let (left, right) = (Box::new(key), Box::new(value));
    let equal = Predicate::Compare { op: CompareOp::Equal, left, right, collation };
    if nullable { Predicate::Or(vec![equal, both]) } else { equal }
}

/// A query without what only says which rows it has, or in which order.
fn bare(query: &mut ast::Query, filtered: bool) {
    query.order_by.clear();
    query.offset = None;
    match &mut query.body {
        QueryBody::Select(select) => {
            select.top = None;
            if !filtered {
                select.filter = None;
            }
        }
        QueryBody::Parenthesized(inner) => bare(inner, filtered),
        QueryBody::SetOperation(_) => {}
    }
}

/// What the rows of a simple tree are sorted by.
fn order_of(tree: &Logical) -> &[SortKey] {
    match tree {
        Logical::Sort { keys, .. } => keys,
        Logical::Filter { input, .. }
        | Logical::Compute { input, .. }
        | Logical::Top { input, .. } => order_of(input),
        _ => &[],
    }
}

/// Collects the tables of a tree of joins; false where it has rows of its own.
fn simple(tree: &Logical, tables: &mut Vec<TableNo>) -> bool {
    match tree {
        Logical::Get(get) => {
            tables.push(get.table);
            true
        }
        Logical::Filter { input, .. }
        | Logical::Compute { input, .. }
        | Logical::Sort { input, .. }
        | Logical::Top { input, .. } => simple(input, tables),
        Logical::Join { kind, left, right, apply: false, .. } => {
            !matches!(kind, JoinKind::Semi | JoinKind::Anti)
                && simple(left, tables)
                && simple(right, tables)
        }
        _ => false,
    }
}

/// The index that a table's rows are told apart by.
fn unique_key(table: &Table) -> Option<&Index> {
    let usable = |i: &&Index| i.unique && !i.disabled && i.kind.has_key();
    let nullable = |i: &Index| i.key.iter().filter(|k| table.columns[k.column].nullable).count();
    table.indexes.iter().filter(usable).min_by_key(|i| (nullable(i), i.key.len(), i.index_id))
}
