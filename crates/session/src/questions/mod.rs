//! OBJECT_ID, DB_NAME, COL_LENGTH and similar functions, answered from views of definitions.

pub(crate) mod application_locks;
pub(crate) mod facts;
pub(crate) mod object_property;

use crate::questions::object_property::Subject;
use crate::session::state::{Names, State};
use base::{DatabaseId, IndexId, ObjectId, SqlResult};
use builtins::Question;
use catalog::view::{
    Column, Constraint, DatabaseView, Module, Object, ObjectName, ResolvedObject, SchemaId, Table,
    UserType, UserTypeKind, resolve,
};
use plan::VariableId;
use std::sync::Arc;
use types::{Decimal, Length, SqlType, Value};

/// The answer to a question; NULL for what is unknown.
pub(crate) fn answer(state: &State, question: Question, args: &[Value]) -> SqlResult<Value> {
    use Question as Q;
    match question {
        Q::ApplockMode => return application_locks::mode(state, args),
        Q::ApplockTest => return application_locks::test(state, args),
        _ => {}
    }
    let optional = matches!(question, Q::ObjectId | Q::ObjectName | Q::HasPermsByName);
    if args.iter().any(Value::is_null) && !optional {
        return Ok(Value::Null);
    }
    let asked = QuestionCall { state, args };
    Ok(asked.answer(question).unwrap_or(Value::Null))
}

/// 1970-01-01 in 100 ns from 0001-01-01.
const EPOCH_TICKS: i64 = 719_162 * types::datetime::DAY_TICKS as i64;

const DATABASE_ROLES: [&str; 10] = [
    "db_accessadmin",
    "db_backupoperator",
    "db_datareader",
    "db_datawriter",
    "db_ddladmin",
    "db_denydatareader",
    "db_denydatawriter",
    "db_owner",
    "db_securityadmin",
    "public",
];

/// The classes of securables, as sys.fn_builtin_permissions names them.
const SECURABLE_CLASSES: [&str; 26] = [
    "APPLICATION ROLE",
    "ASSEMBLY",
    "ASYMMETRIC KEY",
    "AVAILABILITY GROUP",
    "CERTIFICATE",
    "CONTRACT",
    "DATABASE",
    "DATABASE SCOPED CREDENTIAL",
    "ENDPOINT",
    "FULLTEXT CATALOG",
    "FULLTEXT STOPLIST",
    "LOGIN",
    "MESSAGE TYPE",
    "OBJECT",
    "REMOTE SERVICE BINDING",
    "ROLE",
    "ROUTE",
    "SCHEMA",
    "SEARCH PROPERTY LIST",
    "SERVER",
    "SERVER ROLE",
    "SERVICE",
    "SYMMETRIC KEY",
    "TYPE",
    "USER",
    "XML SCHEMA COLLECTION",
];

const SERVER_ROLES: [&str; 9] = [
    "bulkadmin",
    "dbcreator",
    "diskadmin",
    "processadmin",
    "public",
    "securityadmin",
    "serveradmin",
    "setupadmin",
    "sysadmin",
];

/// Definitions have no variables.
struct NoVariables;

impl bind::Variables for NoVariables {
    fn variable(&self, _: &str) -> Option<(VariableId, SqlType)> {
        None
    }

    fn first_free(&self) -> u32 {
        0
    }
}

struct QuestionCall<'a> {
    state: &'a State,
    args: &'a [Value],
}

impl QuestionCall<'_> {
    fn text(&self, i: usize) -> Option<String> {
        self.args.get(i)?.as_text()
    }

    fn upper(&self, i: usize) -> Option<String> {
        Some(self.text(i)?.to_ascii_uppercase())
    }

    fn number(&self, i: usize) -> Option<i64> {
        let value = self.args.get(i)?;
        let text = || value.as_text()?.trim().parse().ok();
        value.as_i64().or_else(text)
    }

    fn view(&self) -> Option<Arc<DatabaseView>> {
        self.state.view(self.state.database.id)
    }

    /// The view of the database whose id is an argument, else of the current database.
    fn view_at(&self, i: usize) -> Option<Arc<DatabaseView>> {
        match self.args.get(i) {
            None | Some(Value::Null) => self.view(),
            Some(_) => self.state.view(DatabaseId(u16::try_from(self.number(i)?).ok()?)),
        }
    }

    fn find(&self, name: &str) -> Option<ResolvedObject> {
        let name = tsql::parse_object_name(name).ok()?;
        let names = Names::of(self.state, self.view()?);
        let database = name.database.as_ref().map(|n| &*n.text);
        let schema = name.schema.as_ref().map(|n| &*n.text);
        resolve(&names, ObjectName { database, schema, object: &name.object.text })
    }

    /// A table by id: in the current database, or a temporary one.
    fn table(&self, i: usize) -> Option<Arc<Table>> {
        let id = ObjectId(i32::try_from(self.number(i)?).ok()?);
        let temp = self.state.temp.iter().find(|t| t.object_id == id).map(Arc::clone);
        temp.or_else(|| self.view()?.table(id))
    }

    fn table_named(&self, i: usize) -> Option<Arc<Table>> {
        match self.find(&self.text(i)?)?.object {
            Object::Table(t) => Some(t),
            Object::Module(_) | Object::Sequence(_) | Object::Synonym(_) | Object::Virtual(_) => {
                None
            }
        }
    }

    fn object_at(&self, i: usize, database: usize) -> Option<(Arc<DatabaseView>, Object)> {
        let view = self.view_at(database)?;
        let id = ObjectId(i32::try_from(self.number(i)?).ok()?);
        let object = view.by_id(id)?;
        Some((view, object))
    }

    fn answer(&self, question: Question) -> Option<Value> {
        use Question as Q;
        match question {
            Q::ObjectId | Q::ObjectName | Q::ObjectSchemaName | Q::ObjectDefinition => {
                self.object(question)
            }
            Q::ObjectProperty => self.object_property(false),
            Q::ObjectPropertyEx => self.object_property(true),
            Q::DatabaseId
            | Q::DatabaseName
            | Q::DatabaseProperty
            | Q::DatabasePropertyEx
            | Q::GetAnsiNull
            | Q::HasDbAccess => self.database(question),
            Q::ColLength | Q::ColName | Q::ColumnProperty => self.column(question),
            Q::IndexCol | Q::IndexKeyProperty | Q::IndexProperty | Q::StatsDate => {
                self.index(question)
            }
            Q::IdentCurrent | Q::IdentIncr | Q::IdentSeed => self.identity(question),
            Q::FileId
            | Q::FileName
            | Q::FileProperty
            | Q::FileGroupId
            | Q::FileGroupName
            | Q::FileGroupProperty => self.file(question),
            Q::SchemaId | Q::SchemaName => self.schema(question),
            Q::TypeId | Q::TypeName | Q::TypeProperty => self.type_of(question),
            Q::ServerProperty => Some(self.state.host.server_property(&self.upper(0)?)),
            Q::SessionProperty => Some(self.state.session_property(&self.text(0)?)),
            Q::SessionContext => Some(self.state.context.values.get(&self.text(0)?)?.0.clone()),
            Q::CursorStatus => {
                let (kind, name) = (self.text(0)?, self.text(1)?);
                let status = self.state.cursors.status(&kind, &name, self.state.nesting.level);
                Some(Value::SmallInt(status))
            }
            Q::ConnectionProperty => self.connection_property(),
            Q::FullTextServiceProperty => Some(Value::Int(0)),
            Q::DatabasePrincipalId | Q::UserId => self.user_id(),
            Q::UserName => (self.number(0)? == 1).then(|| Value::nvarchar("dbo")),
            Q::SuserId | Q::SuserName | Q::SuserSid => self.login(question),
            // Every login is sa until there are permissions.
            Q::HasPermsByName => self.has_permission(),
            Q::IsMember | Q::IsRoleMember => self.member_of(&DATABASE_ROLES),
            Q::IsSrvRoleMember => self.member_of(&SERVER_ROLES),
            Q::IsObjectSigned => Some(Value::Int(0)),
            // Applock: answered above.
            Q::LoginProperty
            | Q::AssemblyProperty
            | Q::FullTextCatalogProperty
            | Q::ApplockMode
            | Q::ApplockTest
            | Q::NextRowVersion => None,
        }
    }

    /// HAS_PERMS_BY_NAME: sa has every permission on what exists, and none on what does not. NULL
    /// if the permission or the class is unknown. A NULL securable without class is the server.
    fn has_permission(&self) -> Option<Value> {
        self.text(2)?;
        let name = self.text(0);
        let there = match self.upper(1).as_deref().map(str::trim) {
            None if name.is_none() => true,
            Some(class) if SECURABLE_CLASSES.contains(&class) => match (class, name) {
                ("SERVER", name) => name.is_some().then_some(true)?,
                ("DATABASE", None) => true,
                (_, name) => self.is_securable(class, &name?),
            },
            _ => return None,
        };
        Some(Value::Int(i32::from(there)))
    }

    /// Whether a securable of a class has this name, with the column that is asked for.
    fn is_securable(&self, class: &str, name: &str) -> bool {
        let parsed = tsql::parse_object_name(name).ok();
        let bare = parsed.as_ref().map_or(name, |n| &n.object.text);
        let login = || &*self.state.entry.login().user;
        match (class, self.text(3)) {
            ("OBJECT", None) => {
                self.find(name).is_some() || self.constraint_id(name, None).is_some()
            }
            ("OBJECT", Some(column)) => match self.find(name).map(|found| found.object) {
                Some(Object::Table(t)) => {
                    let same = |name: &str| self.view().is_some_and(|v| v.same_name(name, &column));
                    t.columns.iter().any(|c| same(&c.name))
                }
                found => found.is_some(),
            },
            ("DATABASE", _) => self.state.host.database_id(bare).is_some(),
            ("LOGIN", _) => [login(), "sa"].iter().any(|l| l.eq_ignore_ascii_case(bare)),
            _ => true,
        }
    }

    /// IS_MEMBER and similar functions: NULL for an unknown role.
    fn member_of(&self, roles: &[&str]) -> Option<Value> {
        let name = self.text(0)?;
        roles.iter().any(|r| r.eq_ignore_ascii_case(&name)).then_some(Value::Int(1))
    }

    /// SUSER_ID, SUSER_SID, SUSER_SNAME: the only login is sa, with id and SID 1.
    fn login(&self, question: Question) -> Option<Value> {
        let login = self.state.entry.login();
        let known = match self.args.first() {
            None => true,
            Some(Value::Binary(sid)) => sid[..] == [1],
            Some(value) => match value.as_text() {
                Some(name) => {
                    name.eq_ignore_ascii_case(&login.user) || name.eq_ignore_ascii_case("sa")
                }
                None => value.as_i64() == Some(1),
            },
        };
        known.then(|| match question {
            Question::SuserId => Value::Int(1),
            Question::SuserSid => Value::varbinary(&[1]),
            _ => Value::nvarchar(&login.user),
        })
    }

    fn object(&self, question: Question) -> Option<Value> {
        match question {
            Question::ObjectId => {
                let Some(found) = self.find(&self.text(0)?) else {
                    return self.constraint_id(&self.text(0)?, self.upper(1));
                };
                if let Some(wanted) = self.upper(1)
                    && wanted.trim() != type_code(&found.object)
                {
                    return None;
                }
                Some(Value::Int(found.object.object_id().0))
            }
            Question::ObjectName => {
                let temp = || self.table(0).map(|t| Value::nvarchar(&t.name));
                let named = self.object_at(0, 1).map(|(_, o)| Value::nvarchar(o.name()));
                named.or_else(temp).or_else(|| self.constraint_name())
            }
            Question::ObjectSchemaName => {
                let (view, object) = self.object_at(0, 1)?;
                Some(Value::nvarchar(&view.schema_by_id(object.schema_id())?.name))
            }
            _ => match self.object_at(0, 1) {
                Some((_, Object::Module(m))) => Some(Value::nvarchar(&m.text)),
                Some(_) => None,
                None => {
                    let id = ObjectId(i32::try_from(self.number(0)?).ok()?);
                    constraint_text(&*self.view_at(1)?, id).map(|text| Value::nvarchar(&text))
                }
            },
        }
    }

    /// OBJECT_ID of a constraint, of a given kind if one is given.
    fn constraint_id(&self, name: &str, kind: Option<String>) -> Option<Value> {
        let name = tsql::parse_object_name(name).ok()?;
        let view = match &name.database {
            None => self.view()?,
            Some(d) => self.state.view(self.state.host.database_id(d)?)?,
        };
        let schema = match &name.schema {
            None => SchemaId::DBO,
            Some(s) => view.schema(s)?.id,
        };
        let wanted = |c: &Constraint<'_>| {
            c.name.eq_ignore_ascii_case(&name.object)
                && kind.as_ref().is_none_or(|k| k.trim() == c.type_code)
        };
        view.objects().find_map(|o| match o {
            Object::Table(t) if t.schema_id == schema => {
                t.constraints().find(wanted).map(|c| Value::Int(c.object_id.0))
            }
            _ => None,
        })
    }

    /// OBJECT_NAME of a constraint.
    fn constraint_name(&self) -> Option<Value> {
        let id = ObjectId(i32::try_from(self.number(0)?).ok()?);
        self.view_at(1)?.objects().find_map(|o| match o {
            Object::Table(t) => {
                let found = t.constraints().find(|c| c.object_id == id)?;
                Some(Value::nvarchar(found.name))
            }
            Object::Module(_) | Object::Sequence(_) | Object::Synonym(_) | Object::Virtual(_) => {
                None
            }
        })
    }

    /// OBJECTPROPERTY, and the further properties of OBJECTPROPERTYEX.
    fn object_property(&self, extended: bool) -> Option<Value> {
        let view = self.view()?;
        let id = ObjectId(i32::try_from(self.number(0)?).ok()?);
        let property = self.upper(1)?;
        let temporary = || self.table(0).map(|t| Subject::Object(Object::Table(t)));
        let subject = Subject::of(&view, id).or_else(temporary)?;
        match property.as_str() {
            "BASETYPE" if extended => Some(Value::varchar(&subject.type_code())),
            "CARDINALITY" if extended => {
                let table = self.table(0)?;
                let (host, id) = (&self.state.host, self.state.database.id);
                let all = table.base().partitions.iter();
                let sizes = all.map(|p| host.hobt_size(id, p.hobt)).collect::<Option<Vec<_>>>()?;
                Some(Value::BigInt(sizes.iter().map(|s| s.rows as i64).sum()))
            }
            _ => subject.property(&view, &property),
        }
    }

    fn database(&self, question: Question) -> Option<Value> {
        let host = &self.state.host;
        match question {
            Question::DatabaseId => {
                Some(Value::SmallInt(host.database_id(&self.text(0)?)?.0 as i16))
            }
            Question::DatabaseName => {
                let id = DatabaseId(u16::try_from(self.number(0)?).ok()?);
                let all = host.databases();
                let found = all.iter().find(|d| d.0 == id)?;
                Some(Value::nvarchar(&found.1))
            }
            Question::GetAnsiNull => {
                let name = self.text(0);
                let known = name.is_none_or(|name| host.database_id(&name).is_some());
                known.then_some(Value::SmallInt(1))
            }
            Question::HasDbAccess => {
                let session = self.state.entry.id();
                host.has_access(session, &self.text(0)?).map(|has| Value::Int(has.into()))
            }
            _ => {
                let id = host.database_id(&self.text(0)?)?;
                Some(host.database_property(id, &self.upper(1)?))
            }
        }
    }

    fn column(&self, question: Question) -> Option<Value> {
        let names = self.view()?.collation();
        if question == Question::ColLength {
            let table = self.table_named(0)?;
            let column = &table.columns[table.column(&self.text(1)?, names)?];
            return Some(Value::SmallInt(column.sql_type.max_length()));
        }
        let Some(table) = self.table(0) else {
            return match self.object_at(0, 9)?.1 {
                Object::Module(m) if question == Question::ColumnProperty => self.module_column(&m),
                Object::Module(m) => {
                    let id = self.number(1)?;
                    let column = m.columns.iter().find(|c| i64::from(c.column_id) == id)?;
                    Some(Value::nvarchar(&column.name))
                }
                _ => None,
            };
        };
        if question == Question::ColName {
            let id = self.number(1)?;
            let column = table.columns.iter().find(|c| i64::from(c.column_id) == id)?;
            return Some(Value::nvarchar(&column.name));
        }
        let at = table.column(&self.text(1)?, names)?;
        self.column_property(Some(&table), &table.columns[at], at)
    }

    /// COLUMNPROPERTY of a column of a view or function, or of a parameter.
    fn module_column(&self, module: &Module) -> Option<Value> {
        let (view, name) = (self.view()?, self.text(1)?);
        if let Some(p) = module.parameters.iter().find(|p| view.same_name(&p.name, &name)) {
            return match self.upper(2)?.as_str() {
                "ISOUTPARAM" => Some(Value::Int(i32::from(p.output))),
                "PRECISION" => Some(Value::Int(i32::from(p.sql_type.precision()))),
                "SCALE" => Some(Value::Int(i32::from(p.sql_type.scale()))),
                "COLUMNID" | "ORDINAL" => Some(Value::Int(p.id)),
                "ALLOWSNULL" => Some(Value::Int(1)),
                "ISCURSORTYPE" => Some(Value::Int(0)),
                _ => None,
            };
        }
        let at = module.columns.iter().position(|c| view.same_name(&c.name, &name))?;
        self.column_property(None, &module.columns[at], at)
    }

    fn column_property(&self, table: Option<&Table>, column: &Column, at: usize) -> Option<Value> {
        let t = column.sql_type;
        let int = |n: i32| Some(Value::Int(n));
        match self.upper(2)?.as_str() {
            "ALLOWSNULL" => int(i32::from(column.nullable)),
            "COLUMNID" => int(column.column_id),
            "ORDINAL" => int(at as i32 + 1),
            "ISCOMPUTED" => int(i32::from(column.computed.is_some())),
            property @ ("ISDETERMINISTIC" | "ISPRECISE") => {
                let found = self.computed_type(table?, &column.computed.as_ref()?.text)?;
                let is = if property == "ISPRECISE" { found.precise } else { found.deterministic };
                int(i32::from(is))
            }
            "ISIDENTITY" => int(i32::from(column.identity.is_some())),
            "PRECISION" if t.is_text_image() => int(match t {
                SqlType::NText => i32::MAX / 2,
                _ => i32::MAX,
            }),
            "PRECISION" if t.is_character() => int(i32::from(t.max_length())),
            "PRECISION" => int(i32::from(t.precision())),
            "SCALE" if t.is_character() => None,
            "SCALE" => int(i32::from(t.scale())),
            "CHARMAXLEN" if t.is_character() => int(match t {
                SqlType::NText => i32::MAX / 2,
                SqlType::Text => i32::MAX,
                SqlType::NChar(n) => i32::from(n),
                SqlType::NVarChar(Length::N(n)) => i32::from(n),
                _ => i32::from(t.max_length()),
            }),
            "USESANSITRIM" => trims(t),
            "ISROWGUIDCOL" => int(i32::from(column.row_guid)),
            "ISSPARSE"
            | "ISHIDDEN"
            | "ISCOLUMNSET"
            | "ISFULLTEXTINDEXED"
            | "ISIDNOTFORREPL"
            | "ISXMLINDEXABLE"
            | "GENERATEDALWAYSTYPE"
            | "STATISTICALSEMANTICS" => int(0),
            _ => None,
        }
    }

    /// The type that binding gives a computed column; `None` if its text cannot be bound any more.
    fn computed_type(&self, table: &Table, text: &str) -> Option<bind::ComputedType> {
        let names = Names::of(self.state, self.view()?);
        let environment = bind::Environment {
            catalogs: &names,
            variables: &NoVariables,
            identity_insert: None,
            ansi_nulls: true,
            dialect: self.state.settings.dialect(),
            unguarded: bind::SkippedGuards::default(),
            deduction: None,
            watch: None,
        };
        bind::bind_computed(&environment, table, text).ok()
    }

    fn index(&self, question: Question) -> Option<Value> {
        let names = self.view()?.collation();
        if question == Question::IndexCol {
            let table = self.table_named(0)?;
            let id = self.number(1)?;
            let index = table.indexes.iter().find(|i| i64::from(i.index_id.0) == id)?;
            let position = usize::try_from(self.number(2)?.checked_sub(1)?).ok()?;
            let column = index.key.get(position)?.column;
            return Some(Value::nvarchar(&table.columns[column].name));
        }
        let table = self.table(0)?;
        if question == Question::StatsDate {
            return self.statistics_date(&table);
        }
        if question == Question::IndexKeyProperty {
            return self.index_key(&table);
        }
        let int = |n: i32| Some(Value::Int(n));
        let Some(index) = table.index(&self.text(1)?, names) else {
            let (view, name) = (self.view()?, self.text(1)?);
            let own = table.statistics.iter().find(|s| view.same_name(&s.name, &name))?;
            return match self.upper(2)?.as_str() {
                "INDEXID" => int(own.stats_id.0),
                "ISSTATISTICS" => int(1),
                "ISAUTOSTATISTICS" => int(i32::from(own.automatic())),
                "ISUNIQUE" | "ISCLUSTERED" | "ISDISABLED" | "ISHYPOTHETICAL" => int(0),
                _ => None,
            };
        };
        match self.upper(2)?.as_str() {
            "INDEXID" => int(index.index_id.0),
            "ISUNIQUE" => int(i32::from(index.unique)),
            "ISCLUSTERED" => int(i32::from(index.index_id == IndexId(1))),
            "ISDISABLED" => int(i32::from(index.disabled)),
            "ISPADINDEX" => int(i32::from(index.padded)),
            "INDEXFILLFACTOR" => int(i32::from(index.fill_factor)),
            "ISHYPOTHETICAL"
            | "ISSTATISTICS"
            | "ISAUTOSTATISTICS"
            | "ISFULLTEXTKEY"
            | "ISPAGELOCKDISALLOWED"
            | "ISROWLOCKDISALLOWED"
            | "ISCOLUMNSTORE"
            | "ISOPTIMIZEDFORSEQUENTIALKEY" => int(0),
            _ => None,
        }
    }

    /// STATS_DATE: when statistics were last updated.
    fn statistics_date(&self, table: &Table) -> Option<Value> {
        let id = self.number(1)?;
        let all = table.all_statistics();
        let found = all.iter().find(|s| i64::from(s.stats_id.0) == id)?;
        let updated = found.gathered.distribution.as_ref()?.updated_ns;
        let ticks = updated.div_euclid(100) + EPOCH_TICKS;
        types::datetime::Moment::from_total(ticks)?.to_value(SqlType::DateTime)
    }

    /// INDEXKEY_PROPERTY(table, index id, key column from 1, property).
    fn index_key(&self, table: &Table) -> Option<Value> {
        let id = self.number(1)?;
        let index = table.indexes.iter().find(|i| i64::from(i.index_id.0) == id)?;
        let key = index.key.get(usize::try_from(self.number(2)?.checked_sub(1)?).ok()?)?;
        match self.upper(3)?.as_str() {
            "COLUMNID" => Some(Value::Int(table.columns.get(key.column)?.column_id)),
            "ISDESCENDING" => Some(Value::Int(i32::from(key.descending))),
            _ => None,
        }
    }

    fn identity(&self, question: Question) -> Option<Value> {
        let found = self.find(&self.text(0)?)?;
        let Object::Table(table) = &found.object else { return None };
        let identity = table.columns[table.identity()?].identity?;
        let value = match question {
            Question::IdentSeed => identity.seed,
            Question::IdentIncr => identity.increment,
            _ => self.state.host.identity_current(found.database.id(), table)?,
        };
        Decimal::new(value, 0).map(Value::Decimal)
    }

    fn file(&self, question: Question) -> Option<Value> {
        let files = self.state.host.files(self.state.database.id);
        match question {
            Question::FileId => {
                let name = self.text(0)?;
                let file = files.iter().find(|f| f.1.eq_ignore_ascii_case(&name))?;
                Some(Value::Int(i32::from(file.0)))
            }
            Question::FileName => {
                let id = self.number(0)?;
                let file = files.iter().find(|f| i64::from(f.0) == id)?;
                Some(Value::nvarchar(&file.1))
            }
            Question::FileGroupId => {
                self.text(0)?.eq_ignore_ascii_case("PRIMARY").then_some(Value::Int(1))
            }
            Question::FileProperty => {
                let name = self.text(0)?;
                let file = files.iter().find(|f| f.1.eq_ignore_ascii_case(&name))?;
                match self.upper(1)?.as_str() {
                    "ISREADONLY" => Some(Value::Int(0)),
                    "ISPRIMARYFILE" => Some(Value::Int(i32::from(file.0 == 1))),
                    "ISLOGFILE" => Some(Value::Int(i32::from(file.0 == 2))),
                    _ => None,
                }
            }
            Question::FileGroupProperty if self.text(0)?.eq_ignore_ascii_case("PRIMARY") => {
                match self.upper(1)?.as_str() {
                    "ISDEFAULT" => Some(Value::Int(1)),
                    "ISREADONLY" | "ISUSERDEFINEDFG" => Some(Value::Int(0)),
                    _ => None,
                }
            }
            Question::FileGroupProperty => None,
            _ => (self.number(0)? == 1).then(|| Value::nvarchar("PRIMARY")),
        }
    }

    fn schema(&self, question: Question) -> Option<Value> {
        let view = self.view()?;
        if question == Question::SchemaId {
            let Some(name) = self.text(0) else { return Some(Value::Int(SchemaId::DBO.0)) };
            return view.schema(&name).map(|s| Value::Int(s.id.0));
        }
        let id = SchemaId(i32::try_from(self.number(0)?).ok()?);
        view.schema_by_id(id).map(|s| Value::nvarchar(&s.name))
    }

    fn type_of(&self, question: Question) -> Option<Value> {
        if question == Question::TypeName {
            let id = self.number(0)?;
            match id {
                256 => return Some(Value::nvarchar("sysname")),
                // Two names of one type: only the ids distinguish them.
                108 => return Some(Value::nvarchar("numeric")),
                _ => {}
            }
            let all = types::ALL_TYPES.iter();
            let found = all.copied().find(|t| i64::from(t.user_type_id()) == id);
            return match found {
                Some(found) => Some(Value::nvarchar(found.name())),
                None => {
                    let view = self.state.view(self.state.database.id)?;
                    let own = view.user_type_by_id(i32::try_from(id).ok()?)?;
                    Some(Value::nvarchar(&own.name))
                }
            };
        }
        let name = self.text(0)?;
        let bare = name.rsplit('.').next().unwrap_or(&name).trim_matches(['[', ']', '"']);
        if question == Question::TypeId && bare.eq_ignore_ascii_case("sysname") {
            return Some(Value::Int(256));
        }
        if question == Question::TypeId && bare.eq_ignore_ascii_case("numeric") {
            return Some(Value::Int(108));
        }
        let own = tsql::parse_object_name(&name).ok().and_then(|n| {
            let view = self.state.view(self.state.database.id)?;
            view.user_type(n.schema.as_deref(), &n.object).cloned()
        });
        let found = match (SqlType::by_name(bare, 1), own) {
            (None, Some(own)) => return self.type_of_user(question, &own),
            (found, _) => found?,
        };
        if question == Question::TypeId {
            return Some(Value::Int(found.user_type_id()));
        }
        match self.upper(1)?.as_str() {
            "PRECISION" => Some(Value::Int(i32::from(found.precision()))),
            "SCALE" => Some(Value::Int(i32::from(found.scale()))),
            "ALLOWSNULL" => Some(Value::Int(1)),
            "OWNERID" => Some(Value::Int(SchemaId::SYS.0)),
            "USESANSITRIM" => trims(found),
            _ => None,
        }
    }

    /// TYPE_ID and TYPEPROPERTY of a user type.
    fn type_of_user(&self, question: Question, own: &UserType) -> Option<Value> {
        if question == Question::TypeId {
            return Some(Value::Int(own.user_type_id));
        }
        let UserTypeKind::Alias { sql_type, nullable, .. } = own.kind else { return None };
        match self.upper(1)?.as_str() {
            "PRECISION" => Some(Value::Int(i32::from(sql_type.precision()))),
            "SCALE" => Some(Value::Int(i32::from(sql_type.scale()))),
            "ALLOWSNULL" => Some(Value::Int(i32::from(nullable))),
            "OWNERID" => Some(Value::Int(own.schema_id.0)),
            "USESANSITRIM" => trims(sql_type),
            _ => None,
        }
    }

    fn user_id(&self) -> Option<Value> {
        let Some(name) = self.text(0) else { return Some(Value::Int(1)) };
        name.eq_ignore_ascii_case("dbo").then_some(Value::Int(1))
    }

    fn connection_property(&self) -> Option<Value> {
        let login = self.state.entry.login();
        let embedded = login.protocol_version == 0;
        let transport = if embedded { "Shared memory" } else { "TCP" };
        match self.text(0)?.to_ascii_lowercase().as_str() {
            "net_transport" | "physical_net_transport" => Some(Value::nvarchar(transport)),
            "protocol_type" => Some(Value::nvarchar("TSQL")),
            "auth_scheme" => Some(Value::nvarchar("SQL")),
            "client_net_address" if embedded => Some(Value::nvarchar("<local machine>")),
            "client_net_address" => {
                let host = login.address.rsplit_once(':').map_or(&*login.address, |a| a.0);
                Some(Value::nvarchar(host))
            }
            _ => None,
        }
    }
}

/// UsesAnsiTrim: ANSI_PADDING is ON for every type with a length.
fn trims(t: SqlType) -> Option<Value> {
    let padded = t.is_character() || t.family() == types::Family::Binary;
    padded.then_some(Value::Int(1))
}

pub(crate) fn type_code(object: &Object) -> &'static str {
    match object {
        Object::Table(_) => "U",
        Object::Module(m) => m.kind.type_code(),
        Object::Sequence(_) => "SO",
        Object::Synonym(_) => "SN",
        Object::Virtual(v) if v.parameters.is_some() => "IF",
        Object::Virtual(_) => "V",
    }
}

/// The text of a CHECK or DEFAULT constraint, by its id.
pub(crate) fn constraint_text(view: &DatabaseView, id: ObjectId) -> Option<Box<str>> {
    view.objects().find_map(|object| {
        let Object::Table(table) = object else { return None };
        let check = table.checks.iter().find(|c| c.object_id == id).map(|c| c.text.clone());
        let defaults = table.columns.iter().filter_map(|c| c.default.as_ref());
        check.or_else(|| defaults.into_iter().find(|d| d.object_id == id).map(|d| d.text.clone()))
    })
}

impl State {
    /// The text of a CHECK or DEFAULT constraint, by its name.
    pub(crate) fn constraint_named(&self, name: &tsql::ast::ObjectName) -> Option<Box<str>> {
        let database = match &name.database {
            None => self.database.id,
            Some(d) => self.host.database_id(d)?,
        };
        let view = self.view(database)?;
        let schema = match &name.schema {
            None => SchemaId::DBO,
            Some(s) => view.schema(s)?.id,
        };
        let id = view.objects().find_map(|object| match object {
            Object::Table(t) if t.schema_id == schema => {
                let mut all = t.constraints();
                let named = all.find(|c| view.same_name(c.name, &name.object));
                named.map(|c| c.object_id)
            }
            _ => None,
        })?;
        constraint_text(&view, id)
    }
}
