//! Procedures and other things kept as the text that made them.
//!
//! What a reader of the catalog asks of them without parsing stands beside the text: columns,
//! parameters, what a trigger watches. It is what the text said when it was stored; columns of a
//! view are those its tables had then.

use super::{Column, ExtendedProperty, PropertyClass, SchemaId};
use base::ObjectId;
use types::SqlType;

/// What a [`Module`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleKind {
    /// A stored procedure.
    Procedure,
    /// A view.
    View,
    /// A scalar function.
    ScalarFunction,
    /// An inline table-valued function.
    InlineFunction,
    /// A multi-statement table-valued function.
    TableFunction,
    /// A trigger.
    Trigger,
}

impl ModuleKind {
    /// `sys.objects.type`, without its trailing blank.
    pub const fn type_code(self) -> &'static str {
        match self {
            ModuleKind::Procedure => "P",
            ModuleKind::View => "V",
            ModuleKind::ScalarFunction => "FN",
            ModuleKind::InlineFunction => "IF",
            ModuleKind::TableFunction => "TF",
            ModuleKind::Trigger => "TR",
        }
    }

    /// The kind of a type code without blanks.
    pub fn of_type_code(code: &str) -> Option<ModuleKind> {
        Some(match code {
            "P" => ModuleKind::Procedure,
            "V" => ModuleKind::View,
            "FN" => ModuleKind::ScalarFunction,
            "IF" => ModuleKind::InlineFunction,
            "TF" => ModuleKind::TableFunction,
            "TR" => ModuleKind::Trigger,
            _ => return None,
        })
    }

    /// What messages call it.
    pub const fn word(self) -> &'static str {
        match self {
            ModuleKind::Procedure => "procedure",
            ModuleKind::View => "view",
            ModuleKind::ScalarFunction | ModuleKind::InlineFunction | ModuleKind::TableFunction => {
                "function"
            }
            ModuleKind::Trigger => "trigger",
        }
    }

    /// Whether it is a function of any kind.
    pub const fn is_function(self) -> bool {
        matches!(
            self,
            ModuleKind::ScalarFunction | ModuleKind::InlineFunction | ModuleKind::TableFunction
        )
    }
}

/// A definition kept as text.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// Its object id.
    pub object_id: ObjectId,
    /// Its schema.
    pub schema_id: SchemaId,
    /// The schema's name.
    pub schema_name: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// What it is.
    pub kind: ModuleKind,
    /// The whole CREATE statement, verbatim.
    pub text: Box<str>,
    /// SET QUOTED_IDENTIFIER when it was made.
    pub quoted_identifier: bool,
    /// SET ANSI_NULLS when it was made.
    pub ansi_nulls: bool,
    /// What its WITH clauses say.
    pub options: ModuleOptions,
    /// The columns of a view or table-valued function when it was made. They are computed by
    /// nothing and stored nowhere.
    pub columns: Vec<Column>,
    /// Parameters in order; of a scalar function its result before them.
    pub parameters: Vec<Parameter>,
    /// Extended properties of the module, its columns and parameters.
    pub properties: Vec<ExtendedProperty>,
    /// What a trigger watches.
    pub trigger: Option<Trigger>,
    /// WITH SCHEMABINDING: what must stay as it is.
    pub bound: Vec<BoundObject>,
}

/// An object that a schema-bound module names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundObject {
    /// Which.
    pub object: ObjectId,
    /// The ids of its columns that the module reads or writes, ascending.
    pub columns: Vec<i32>,
}

/// What WITH clauses of a module say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModuleOptions {
    /// WITH CHECK OPTION of a view.
    pub check_option: bool,
    /// RECOMPILE of a procedure.
    pub recompile: bool,
    /// RETURNS NULL ON NULL INPUT of a scalar function.
    pub null_on_null_input: bool,
    /// WITH SCHEMABINDING.
    pub schema_bound: bool,
    /// EXECUTE AS.
    pub execute_as: ExecuteAs,
}

/// The principal whose rights a module's statements have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExecuteAs {
    /// Those of the session that calls it.
    #[default]
    Caller,
    /// Those of the module's owner, whoever that is when it is called.
    Owner,
    /// Those of `dbo`: of SELF too, since no other principal makes modules.
    Dbo,
}

/// A parameter of a procedure or function, or the result of a scalar function.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// 0 is the result, parameters begin at 1.
    pub id: i32,
    /// With its `@`; empty for the result.
    pub name: Box<str>,
    /// Its type.
    pub sql_type: SqlType,
    /// `sys.parameters.user_type_id`.
    pub user_type_id: i32,
    /// OUTPUT, or the result.
    pub output: bool,
    /// Whether a call may leave it out.
    pub has_default: bool,
    /// READONLY: it is a table, of the type that `user_type_id` says.
    pub read_only: bool,
    /// CURSOR VARYING: its type says nothing.
    pub cursor: bool,
}

/// What a trigger watches, and when it fires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// The table or view.
    pub parent: ObjectId,
    /// The statements that fire it.
    pub events: Events,
    /// INSTEAD OF; else AFTER.
    pub instead_of: bool,
    /// DISABLE TRIGGER.
    pub disabled: bool,
    /// NOT FOR REPLICATION.
    pub not_for_replication: bool,
    /// The statements for which it fires before the others (sp_settriggerorder).
    pub first: Events,
    /// The statements for which it fires after the others.
    pub last: Events,
}

impl Trigger {
    /// Whether it fires after rows were changed.
    pub const fn fires_after(&self, event: Events) -> bool {
        !self.instead_of && !self.disabled && self.events.has(event)
    }

    /// Whether it fires instead of a change.
    pub const fn fires_instead(&self, event: Events) -> bool {
        self.instead_of && !self.disabled && self.events.has(event)
    }
}

/// A set of INSERT, UPDATE and DELETE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events(u8);

impl Events {
    /// INSERT alone.
    pub const INSERT: Events = Events(1);
    /// UPDATE alone.
    pub const UPDATE: Events = Events(2);
    /// DELETE alone.
    pub const DELETE: Events = Events(4);

    /// The set of three bits.
    pub const fn of_bits(bits: u8) -> Events {
        Events(bits & 7)
    }

    /// Three bits: INSERT is the lowest, then UPDATE, DELETE.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether all of another set are in this one.
    pub const fn has(self, other: Events) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets.
    #[must_use]
    pub const fn with(self, other: Events) -> Events {
        Events(self.0 | other.0)
    }

    /// This one without another.
    #[must_use]
    pub const fn without(self, other: Events) -> Events {
        Events(self.0 & !other.0)
    }
}

impl BoundObject {
    /// `object column column …;` one after the other.
    pub(crate) fn list_to_text(list: &[BoundObject]) -> String {
        let one = |b: &BoundObject| {
            let ids = std::iter::once(b.object.0).chain(b.columns.iter().copied());
            ids.map(|n| n.to_string()).collect::<Vec<_>>().join(" ")
        };
        list.iter().map(one).collect::<Vec<_>>().join(";")
    }

    pub(crate) fn list_of_text(text: &str) -> Option<Vec<BoundObject>> {
        let one = |part: &str| {
            let mut ids = part.split(' ').map(|n| n.parse::<i32>().ok());
            let object = ObjectId(ids.next()??);
            Some(BoundObject { object, columns: ids.collect::<Option<_>>()? })
        };
        text.split(';').filter(|part| !part.is_empty()).map(one).collect()
    }
}

impl Module {
    /// Whether it is bound to an object, or to one of its columns.
    pub fn is_bound_to(&self, object: ObjectId, column: Option<i32>) -> bool {
        let of =
            |b: &BoundObject| b.object == object && column.is_none_or(|c| b.columns.contains(&c));
        self.bound.iter().any(of)
    }

    /// The result of a scalar function.
    pub fn result(&self) -> Option<&Parameter> {
        self.parameters.iter().find(|p| p.id == 0)
    }

    /// Its parameters without the result.
    pub fn arguments(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().filter(|p| p.id > 0)
    }

    /// `schema.module`
    pub fn two_part_name(&self) -> String {
        format!("{}.{}", self.schema_name, self.name)
    }

    /// Forgets the properties of columns and parameters that are gone.
    pub fn forget_orphans(&mut self) {
        let (columns, parameters) = (&self.columns, &self.parameters);
        self.properties.retain(|p| match p.owner.class {
            PropertyClass::ObjectOrColumn => {
                p.owner.minor == 0 || columns.iter().any(|c| c.column_id == p.owner.minor)
            }
            PropertyClass::Parameter => parameters.iter().any(|q| q.id == p.owner.minor),
            PropertyClass::Database
            | PropertyClass::Schema
            | PropertyClass::Type
            | PropertyClass::Index
            | PropertyClass::TypeColumn => false,
        });
    }
}
