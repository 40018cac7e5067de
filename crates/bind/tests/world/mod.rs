//! A small world to bind statements in: one database, its tables, a view, a function, variables.

use base::{DatabaseId, HobtId, IndexId, ObjectId};
use bind::{Bound, Environment, Variables, bind_statement};
use catalog::view::{
    Catalogs, Check, Column, DatabaseView, Default, Identity, Index, IndexColumn, IndexKind,
    Object, Partitions, SchemaId, SystemObjects, Table, VirtualColumn, VirtualParameter,
    VirtualTable,
};
use plan::VariableId;
use std::sync::Arc;
use types::{Collation, SqlType};

const INT: SqlType = SqlType::Int;

pub(crate) struct World {
    database: Arc<DatabaseView>,
    temp: Arc<Table>,
    variable: Arc<Table>,
    pub(crate) identity_insert: Option<ObjectId>,
}

fn column(id: i32, name: &str, sql_type: SqlType, nullable: bool) -> Column {
    Column {
        column_id: id,
        name: name.into(),
        sql_type,
        user_type_id: sql_type.user_type_id(),
        nullable,
        collation: Collation::default(),
        row_guid: false,
        identity: None,
        default: None,
        computed: None,
        physical: Some(id as u16 - 1),
    }
}

fn index(id: i32, name: &str, key: &[usize], unique: bool, hobt: u32) -> Index {
    let part = |&column: &usize| IndexColumn { column, descending: false };
    Index {
        index_id: IndexId(id),
        name: name.into(),
        kind: match id {
            0 => IndexKind::Heap,
            1 => IndexKind::Clustered,
            _ => IndexKind::Nonclustered,
        },
        unique,
        primary_key: name.starts_with("PK"),
        unique_constraint: false,
        constraint_id: None,
        system_named: false,
        key: key.iter().map(part).collect(),
        included: Vec::new(),
        partitions: Partitions::one(HobtId(hobt)),
        fill_factor: 0,
        auto_fill: None,
        padded: false,
        ignore_dup_key: false,
        disabled: false,
        filter: None,
        gathered: catalog::view::StatisticsContent::default(),
    }
}

fn table(id: i32, name: &str, columns: Vec<Column>, indexes: Vec<Index>) -> Table {
    Table {
        database: DatabaseId(5),
        object_id: ObjectId(id),
        schema_id: SchemaId::DBO,
        schema_name: "dbo".into(),
        name: name.into(),
        columns,
        indexes,
        statistics: Vec::new(),
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        history: catalog::view::RowHistory::default(),
        properties: Vec::new(),
        is_temp: false,
    }
}

fn test() -> Table {
    table(101, "Test", vec![column(1, "id", INT, false)], vec![index(1, "PK_Test", &[0], true, 1)])
}

fn customer() -> Table {
    let mut id = column(1, "CustomerId", INT, false);
    id.identity = Some(Identity { seed: 1, increment: 1, not_for_replication: false });
    let columns = vec![
        id,
        column(2, "LastName", SqlType::varchar(25), false),
        column(3, "FirstName", SqlType::varchar(20), false),
        column(4, "City", SqlType::varchar(30), false),
        column(5, "Email", SqlType::varchar(48), true),
    ];
    let indexes = vec![
        index(1, "PK_Customer", &[0], true, 10),
        index(2, "IX_Customer_Name", &[1, 2], false, 11),
        index(3, "IX_Customer_Email", &[4], false, 12),
    ];
    table(102, "Customer", columns, indexes)
}

fn orders() -> Table {
    let mut amount = column(3, "Amount", SqlType::decimal(10, 2), false);
    amount.default = Some(Default {
        object_id: ObjectId(201),
        name: "DF_Amount".into(),
        system_named: true,
        text: "((0))".into(),
    });
    let columns = vec![
        column(1, "OrderId", INT, false),
        column(2, "CustomerId", INT, false),
        amount,
        column(4, "Status", SqlType::Char(1), false),
        column(5, "Placed", SqlType::DateTime2(3), true),
    ];
    let indexes = vec![
        index(1, "PK_Orders", &[0], true, 20),
        index(2, "IX_Orders_Customer", &[1], false, 21),
    ];
    let mut orders = table(103, "Orders", columns, indexes);
    orders.checks.push(Check {
        object_id: ObjectId(202),
        name: "CK_Status".into(),
        system_named: false,
        text: "([Status] in ('A','B'))".into(),
        column: Some(3),
        disabled: false,
        not_trusted: false,
        not_for_replication: false,
    });
    orders
}

fn heap() -> Table {
    let columns = vec![column(1, "a", INT, true), column(2, "b", SqlType::varchar(10), true)];
    let indexes = vec![index(0, "", &[], false, 30), index(2, "IX_a", &[0], false, 31)];
    table(104, "Heap", columns, indexes)
}

fn duplicates() -> Table {
    let columns = vec![column(1, "k", INT, false), column(2, "v", INT, true)];
    let indexes = vec![index(1, "CX_k", &[0], false, 40), index(2, "IX_v", &[1], false, 41)];
    table(105, "Dup", columns, indexes)
}

fn system() -> SystemObjects {
    let column =
        |name: &str, sql_type, nullable| VirtualColumn { name: name.into(), sql_type, nullable };
    let parameter = |name: &str, sql_type| VirtualParameter { name: name.into(), sql_type };
    let view = |id, name: &str, parameters, columns| VirtualTable {
        object_id: ObjectId(id),
        schema_id: SchemaId::SYS,
        schema_name: "sys".into(),
        name: name.into(),
        compatibility: false,
        parameters,
        columns,
    };
    let stats = vec![column("index_id", INT, true), column("page_count", SqlType::BigInt, true)];
    let waits = vec![
        column("wait_type", SqlType::nvarchar(60), false),
        column("ms", SqlType::BigInt, false),
    ];
    SystemObjects::new([
        view(-1, "waits", None, waits),
        view(
            -2,
            "stats",
            Some(vec![parameter("@object", INT), parameter("@mode", SqlType::SYSNAME)]),
            stats,
        ),
    ])
}

impl World {
    pub(crate) fn new() -> World {
        let empty =
            DatabaseView::new(DatabaseId(5), "db", Collation::default(), Arc::new(system()));
        let tables = [test(), customer(), orders(), heap(), duplicates()];
        let whole =
            tables.into_iter().fold(empty, |view, t| view.with_object(Object::Table(Arc::new(t))));
        let temp = |name: &str, id| Table {
            database: DatabaseId(2),
            is_temp: true,
            ..table(
                id,
                name,
                vec![column(1, "x", INT, true)],
                vec![index(0, "", &[], false, id as u32)],
            )
        };
        World {
            database: Arc::new(whole.at_version(7)),
            temp: Arc::new(temp("#t", 301)),
            variable: Arc::new(temp("@t", 302)),
            identity_insert: None,
        }
    }

    /// Binds the first statement of a text.
    pub(crate) fn bind(&self, text: &str) -> base::SqlResult<Bound> {
        let parsed = tsql::parse(text, tsql::ParseOptions::default());
        if let Some(error) = parsed.errors.into_iter().next() {
            return Err(error);
        }
        let environment = Environment {
            catalogs: self,
            variables: self,
            identity_insert: self.identity_insert,
            ansi_nulls: true,
            dialect: types::datetime::Dialect::default(),
            unguarded: bind::SkippedGuards::default(),
            deduction: None,
            watch: None,
        };
        bind_statement(&environment, &parsed.batch.statements[0])
    }
}

impl Catalogs for World {
    fn current(&self) -> Arc<DatabaseView> {
        Arc::clone(&self.database)
    }
    fn database(&self, name: &str) -> Option<Arc<DatabaseView>> {
        name.eq_ignore_ascii_case("db").then(|| Arc::clone(&self.database))
    }
    fn temp_table(&self, name: &str) -> Option<Arc<Table>> {
        name.eq_ignore_ascii_case("#t").then(|| Arc::clone(&self.temp))
    }
    fn table_variable(&self, name: &str) -> Option<Arc<Table>> {
        name.eq_ignore_ascii_case("@t").then(|| Arc::clone(&self.variable))
    }

    fn cursor_keys(&self, name: &str, _: bool) -> base::SqlResult<Vec<catalog::view::RowKey>> {
        Err(base::SqlError::new(base::messages::CURSOR_UNKNOWN, &[&name]))
    }

    fn is_firing(&self, _: base::DatabaseId, _: base::ObjectId) -> bool {
        false
    }

    fn declared_table(&self, _: &str) -> catalog::view::DeclaredTable {
        catalog::view::DeclaredTable::default()
    }
}

impl Variables for World {
    fn first_free(&self) -> u32 {
        100
    }

    fn variable(&self, name: &str) -> Option<(VariableId, SqlType)> {
        let known = [
            ("@i", INT),
            ("@b", SqlType::BigInt),
            ("@s", SqlType::varchar(10)),
            ("@n", SqlType::nvarchar(20)),
            ("@d", SqlType::DateTime2(7)),
        ];
        let at = known.iter().position(|(k, _)| k.eq_ignore_ascii_case(name))?;
        Some((VariableId(at as u32), known[at].1))
    }
}
