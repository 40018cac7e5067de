//! OBJECTPROPERTY: properties of an object or a constraint, by name.
//!
//! A property of all objects is 0 if it does not hold. A property of tables, modules or constraints
//! is NULL for other objects, as Microsoft's page says.

use base::ObjectId;
use catalog::view::{
    DatabaseView, Events, Index, Module, ModuleKind, Object, ReferentialAction, Table,
};
use std::sync::Arc;
use types::{SqlType, Value};

/// An object or a constraint.
pub(crate) enum Subject {
    Object(Object),
    Constraint(Arc<Table>, ObjectId),
}

impl Subject {
    /// The object or constraint with an id.
    pub(crate) fn of(view: &DatabaseView, id: ObjectId) -> Option<Subject> {
        if let Some(object) = view.by_id(id) {
            return Some(Subject::Object(object));
        }
        view.objects().find_map(|o| match o {
            Object::Table(t) if t.constraints().any(|c| c.object_id == id) => {
                Some(Subject::Constraint(Arc::clone(t), id))
            }
            _ => None,
        })
    }

    /// A property by its name in upper case; NULL if the subject has no such property.
    pub(crate) fn property(&self, view: &DatabaseView, name: &str) -> Option<Value> {
        let known = self.general(name).map(i32::from).or_else(|| match self {
            Subject::Constraint(table, id) => of_constraint(table, *id, name),
            Subject::Object(Object::Table(table)) => of_table(view, table, name),
            Subject::Object(Object::Module(module)) => of_module(view, module, name),
            Subject::Object(Object::Sequence(_) | Object::Synonym(_) | Object::Virtual(_)) => None,
        });
        known.or_else(|| self.number(view, name)).map(Value::Int)
    }

    /// `sys.objects.type`, two characters.
    pub(crate) fn type_code(&self) -> String {
        let code = match self {
            Subject::Object(object) => super::type_code(object),
            Subject::Constraint(table, id) => code(table, *id),
        };
        format!("{code:<2}")
    }

    fn number(&self, view: &DatabaseView, name: &str) -> Option<i32> {
        let schema = match self {
            Subject::Object(object) => object.schema_id(),
            Subject::Constraint(table, _) => table.schema_id,
        };
        match name {
            "SCHEMAID" => view.schema_by_id(schema).map(|s| s.id.0),
            "OWNERID" => Some(1),
            _ => None,
        }
    }

    /// Properties that every object has.
    fn general(&self, name: &str) -> Option<bool> {
        let code = match self {
            Subject::Object(object) => super::type_code(object),
            Subject::Constraint(table, id) => code(table, *id),
        };
        let system = matches!(self, Subject::Object(o) if o.object_id().0 < 0);
        let constraint = matches!(self, Subject::Constraint(..));
        Some(match name {
            "ISTABLE" | "ISUSERTABLE" => code == "U",
            "ISVIEW" => code == "V",
            "ISPROCEDURE" => code == "P",
            "ISSCALARFUNCTION" => code == "FN",
            "ISINLINEFUNCTION" => code == "IF",
            "ISTABLEFUNCTION" => matches!(code, "IF" | "TF"),
            "ISTRIGGER" => code == "TR",
            "ISEXECUTED" => matches!(code, "V" | "P" | "FN" | "IF" | "TF" | "TR"),
            "ISCONSTRAINT" => constraint,
            "ISPRIMARYKEY" => code == "PK",
            "ISUNIQUECNST" => code == "UQ",
            "ISFOREIGNKEY" => code == "F",
            "ISCHECKCNST" => code == "C",
            "ISDEFAULTCNST" => code == "D",
            "ISMSSHIPPED" => system,
            "ISSYSTEMTABLE" | "ISDEFAULT" | "ISRULE" | "ISEXTENDEDPROC" | "ISREPLPROC"
            | "ISQUEUE" => false,
            _ => return None,
        })
    }
}

fn code(table: &Table, id: ObjectId) -> &'static str {
    table.constraints().find(|c| c.object_id == id).map_or("", |c| c.type_code)
}

fn of_constraint(table: &Table, id: ObjectId, name: &str) -> Option<i32> {
    let key: Option<&Index> = table.indexes.iter().find(|i| i.constraint_id == Some(id));
    let check = table.checks.iter().find(|c| c.object_id == id);
    let foreign = table.foreign_keys.iter().find(|k| k.object_id == id);
    let is = match name {
        "CNSTISCLUSTKEY" => key.is_some_and(|k| k.kind.is_clustered()),
        "CNSTISNONCLUSTKEY" => key.is_some_and(|k| k.kind.holds_entries()),
        "CNSTISCOLUMN" => match (check, foreign, key) {
            (Some(check), ..) => check.column.is_some(),
            (_, Some(foreign), _) => foreign.columns.len() == 1,
            (.., Some(_)) => false,
            (None, None, None) => true,
        },
        "CNSTISDELETECASCADE" => foreign.is_some_and(|k| k.on_delete == ReferentialAction::Cascade),
        "CNSTISUPDATECASCADE" => foreign.is_some_and(|k| k.on_update == ReferentialAction::Cascade),
        "CNSTISDISABLED" => check.map_or(foreign.is_some_and(|k| k.disabled), |c| c.disabled),
        "CNSTISNOTTRUSTED" => {
            check.map_or(foreign.is_some_and(|k| k.not_trusted), |c| c.not_trusted)
        }
        "CNSTISNOTREPL" => false,
        _ => return None,
    };
    Some(i32::from(is))
}

fn of_table(view: &DatabaseView, table: &Table, name: &str) -> Option<i32> {
    if let Some(rest) = name.strip_prefix("TABLE") {
        return of_table_alone(view, table, rest);
    }
    let is = match name {
        "ISANSINULLSON" | "ISINDEXABLE" => true,
        "ISINDEXED" => table.indexes.iter().any(|i| i.kind.has_key()),
        "ISQUOTEDIDENTON" => true,
        _ => return has_trigger(view, table.object_id, name).map(i32::from),
    };
    Some(i32::from(is))
}

/// Properties of tables, whose names begin with TABLE.
fn of_table_alone(view: &DatabaseView, table: &Table, rest: &str) -> Option<i32> {
    let columns = || table.columns.iter();
    let index = |is: &dyn Fn(&Index) -> bool| table.indexes.iter().any(is);
    let is = match rest {
        "HASIDENTITY" => table.identity().is_some(),
        "HASPRIMARYKEY" => index(&|i| i.primary_key),
        "HASUNIQUECNST" => index(&|i| i.unique_constraint),
        "HASCLUSTINDEX" => index(&|i| i.kind.is_clustered()),
        "HASNONCLUSTINDEX" => index(&|i| i.kind.holds_entries()),
        "HASINDEX" => index(&|i| i.kind.has_key()),
        "HASCHECKCNST" => !table.checks.is_empty(),
        "HASDEFAULTCNST" => columns().any(|c| c.default.is_some()),
        "HASFOREIGNKEY" => !table.foreign_keys.is_empty(),
        "HASFOREIGNREF" => view.referring(table.object_id).next().is_some(),
        "HASROWGUIDCOL" => columns().any(|c| c.row_guid),
        "HASTEXTIMAGE" => columns().any(|c| c.sql_type.is_text_image()),
        "HASTIMESTAMP" => columns().any(|c| c.sql_type == SqlType::RowVersion),
        "HASVARDECIMALSTORAGEFORMAT"
        | "HASCOLUMNSET"
        | "HASACTIVEFULLTEXTINDEX"
        | "ISFAKE"
        | "ISLOCKEDONBULKLOAD"
        | "ISMEMORYOPTIMIZED"
        | "ISPINNED" => false,
        "FULLTEXTCATALOGID" | "FULLTEXTKEYCOLUMN" | "TEXTINROWLIMIT" | "TEMPORALTYPE" => {
            return Some(0);
        }
        _ => return of_triggers(view, table, rest),
    };
    Some(i32::from(is))
}

/// `HASINSERTTRIGGER`, `INSERTTRIGGER` (the first one's id), `INSERTTRIGGERCOUNT`.
fn of_triggers(view: &DatabaseView, table: &Table, rest: &str) -> Option<i32> {
    if let Some(is) = has_trigger(view, table.object_id, rest) {
        return Some(i32::from(is));
    }
    let (word, count) = match rest.strip_suffix("COUNT") {
        Some(word) => (word, true),
        None => (rest, false),
    };
    let event = event(word.strip_suffix("TRIGGER")?)?;
    let own = view.triggers_of(table.object_id);
    let mut firing = own.filter(|m| m.trigger.as_ref().is_some_and(|t| t.events.has(event)));
    Some(match count {
        true => i32::try_from(firing.count()).unwrap_or(i32::MAX),
        false => firing.next().map_or(0, |m| m.object_id.0),
    })
}

fn event(word: &str) -> Option<Events> {
    match word {
        "INSERT" => Some(Events::INSERT),
        "UPDATE" => Some(Events::UPDATE),
        "DELETE" => Some(Events::DELETE),
        _ => None,
    }
}

/// `HASAFTERTRIGGER` and its kin, of a table or view.
fn has_trigger(view: &DatabaseView, parent: ObjectId, name: &str) -> Option<bool> {
    let word = name.strip_prefix("HAS")?.strip_suffix("TRIGGER")?;
    let mut triggers = view.triggers_of(parent).filter_map(|m| m.trigger.clone());
    Some(match word {
        "AFTER" => triggers.any(|t| !t.instead_of),
        "INSTEADOF" => triggers.any(|t| t.instead_of),
        _ => {
            let event = event(word)?;
            triggers.any(|t| t.events.has(event))
        }
    })
}

fn of_module(view: &DatabaseView, module: &Module, name: &str) -> Option<i32> {
    let function = matches!(
        module.kind,
        ModuleKind::ScalarFunction | ModuleKind::InlineFunction | ModuleKind::TableFunction
    );
    let is = match name {
        "ISSCHEMABOUND" => module.options.schema_bound,
        "ISANSINULLSON" | "EXECISANSINULLSON" => module.ansi_nulls,
        "ISQUOTEDIDENTON" | "EXECISQUOTEDIDENTON" => module.quoted_identifier,
        "ISENCRYPTED" | "EXECISSTARTUP" | "EXECISWITHNATIVECOMPILATION" => false,
        // Only a schema-bound function can be deterministic; which of those are is unknown.
        "ISDETERMINISTIC" if function && !module.options.schema_bound => false,
        "ISINDEXED" if module.kind == ModuleKind::View => false,
        _ => match &module.trigger {
            Some(_) => of_trigger(module, name)?,
            None => has_trigger(view, module.object_id, name)?,
        },
    };
    Some(i32::from(is))
}

fn of_trigger(module: &Module, name: &str) -> Option<bool> {
    let t = module.trigger.as_ref()?;
    let word = name.strip_prefix("EXECIS")?;
    Some(match word {
        "AFTERTRIGGER" => !t.instead_of,
        "INSTEADOFTRIGGER" => t.instead_of,
        "TRIGGERDISABLED" => t.disabled,
        "TRIGGERNOTFORREPL" => t.not_for_replication,
        _ => {
            let word = word.strip_suffix("TRIGGER")?;
            let (set, word) = match (word.strip_prefix("FIRST"), word.strip_prefix("LAST")) {
                (Some(word), _) => (t.first, word),
                (_, Some(word)) => (t.last, word),
                (None, None) => (t.events, word),
            };
            set.has(event(word)?)
        }
    })
}
