//! Short ways to write plans by hand.

use base::{DatabaseId, HobtId, IndexId, ObjectId};
use plan::*;
use types::{BinaryOp, Collation, SqlType, Value};

pub(crate) const INT: SqlType = SqlType::Int;
pub(crate) const C: Collation = Collation::SQL_LATIN1_CI_AS;

pub(crate) fn ty(t: SqlType) -> ScalarType {
    ScalarType::new(t, true)
}

pub(crate) fn int(n: i32) -> Scalar {
    Scalar::constant(Value::Int(n), INT)
}

pub(crate) fn big(n: i64) -> Scalar {
    Scalar::constant(Value::BigInt(n), SqlType::BigInt)
}

pub(crate) fn text(s: &str) -> Scalar {
    Scalar::constant(Value::varchar(s), SqlType::varchar(8000))
}

pub(crate) fn null() -> Scalar {
    Scalar::null(INT)
}

pub(crate) fn col(slot: u32) -> Scalar {
    Scalar::column(Slot(slot), ty(INT))
}

pub(crate) fn col_of(slot: u32, t: SqlType) -> Scalar {
    Scalar::column(Slot(slot), ty(t))
}

pub(crate) fn var(id: u32) -> Scalar {
    Scalar { kind: ScalarKind::Variable(VariableId(id)), ty: ty(INT) }
}

pub(crate) fn binary(op: BinaryOp, left: Scalar, right: Scalar) -> Scalar {
    let kind = ScalarKind::Binary { op, left: Box::new(left), right: Box::new(right) };
    Scalar { kind, ty: ty(INT) }
}

pub(crate) fn cmp(op: CompareOp, left: Scalar, right: Scalar) -> Predicate {
    Predicate::Compare { op, left: Box::new(left), right: Box::new(right), collation: C }
}

pub(crate) fn eq(left: Scalar, right: Scalar) -> Predicate {
    cmp(CompareOp::Equal, left, right)
}

pub(crate) fn plan(statement: Statement<Physical>, slots: u32) -> PhysicalPlan {
    let (header, estimates) = (Header::default(), Vec::new());
    Plan { statement, subqueries: Vec::new(), follow_ups: Vec::new(), slots, header, estimates }
}

pub(crate) fn query(source: Physical, columns: &[u32], slots: u32) -> PhysicalPlan {
    let column = |&slot: &u32| ResultColumn {
        name: "c".into(),
        slot: Slot(slot),
        sql_type: INT,
        user_type_id: 0,
        nullable: true,
        collation: C,
        identity: false,
        updatable: false,
        untyped: false,
    };
    let columns = columns.iter().map(column).collect();
    plan(Statement::Query(Query { source, columns }), slots)
}

pub(crate) fn source(hobt: u32) -> Source {
    Source {
        database: DatabaseId(5),
        object: ObjectId(100),
        hobt: HobtId(hobt),
        table: "dbo.T".into(),
        index: "".into(),
        alias: "t".into(),
    }
}

/// A scan of int columns 0.. of a hobt into slots `first`...
pub(crate) fn scan(hobt: u32, first: u32, columns: usize) -> Access {
    scan_of(hobt, first, &vec![INT; columns])
}

pub(crate) fn scan_of(hobt: u32, first: u32, types: &[SqlType]) -> Access {
    let column = |(i, &sql_type): (usize, &SqlType)| ScanColumn {
        field: i,
        sql_type,
        slot: Slot(first + i as u32),
    };
    Access {
        source: source(hobt),
        columns: types.iter().enumerate().map(column).collect(),
        rid: None,
        hint: None,
        location: None,
        seek: None,
        backward: false,
        ordered: false,
        residual: None,
        locks: LockHints::default(),
        divided: false,
        sample: None,
    }
}

pub(crate) fn access(a: Access) -> Physical {
    Physical::Access(Box::new(a))
}

pub(crate) fn key(slot: u32, descending: bool) -> SortKey {
    SortKey { slot: Slot(slot), collation: C, descending }
}

pub(crate) fn slots(list: &[u32]) -> Vec<Slot> {
    list.iter().map(|&s| Slot(s)).collect()
}

pub(crate) fn values(rows: &[&[Scalar]], first: u32) -> Physical {
    let width = rows.first().map_or(0, |r| r.len() as u32);
    Physical::Constants(Constants {
        rows: rows.iter().map(|r| r.to_vec()).collect(),
        columns: (first..first + width).map(Slot).collect(),
    })
}

pub(crate) fn top(count: Scalar) -> Top {
    Top { count: Some(count), percent: false, ties: None, offset: None }
}

/// A column of a target.
pub(crate) fn column(name: &str, sql_type: SqlType, nullable: bool) -> TargetColumn {
    TargetColumn { name: name.into(), sql_type, nullable, collation: C, stored: true }
}

/// An index of a target: all fields, and which of them are its key.
pub(crate) fn index(
    id: i32,
    hobt: u32,
    name: &str,
    fields: &[EntryField],
    key: &[usize],
) -> IndexTarget {
    IndexTarget {
        index: IndexId(id),
        hobt: HobtId(hobt),
        name: name.into(),
        fields: fields.to_vec(),
        key: key.iter().map(|&field| KeyPart { field, descending: false }).collect(),
        declared_key: 1,
        unique: Uniqueness::No,
        affected: true,
        key_changes: false,
        filter: None,
        ignore_duplicates: false,
        wide: false,
    }
}

pub(crate) fn target(columns: Vec<TargetColumn>, indexes: Vec<IndexTarget>) -> Target {
    Target {
        database: DatabaseId(5),
        object: ObjectId(100),
        database_name: "db".into(),
        schema_name: "dbo".into(),
        table_name: "T".into(),
        columns,
        indexes,
        checks: Vec::new(),
        references: Default::default(),
        locks: LockHints::change(),
        wide: None,
    }
}
