//! A module as rows of the system tables, and back.

use crate::definition::{DefinitionRows, flag};
use crate::error::CatalogError;
use crate::sysrows::{ColumnRow, column_status, object_status, split_text, text_class};
use crate::view::{
    BoundObject, Column, Events, ExecuteAs, Module, ModuleKind, ModuleOptions, Parameter, SchemaId,
    Trigger,
};
use base::ObjectId;

impl DefinitionRows {
    pub(crate) fn of_module(module: &Module) -> DefinitionRows {
        let mut rows = DefinitionRows::default();
        let id = module.object_id;
        let code = module.kind.type_code();
        let parent = module.trigger.as_ref().map_or(ObjectId(0), |t| t.parent);
        rows.object(id, module.schema_id, &module.name, code, status_of(module), parent);
        for (ordinal, column) in module.columns.iter().enumerate() {
            rows.column(id, module.schema_id, ordinal, column);
        }
        rows.columns.extend(module.parameters.iter().map(|p| parameter_row(id, p)));
        rows.texts.extend(split_text(id.0, text_class::OBJECT, 0, &module.text));
        if !module.bound.is_empty() {
            let text = BoundObject::list_to_text(&module.bound);
            rows.texts.extend(split_text(id.0, text_class::BOUND_TO, 0, &text));
        }
        rows.add_properties(&module.properties);
        rows
    }

    pub(crate) fn module(
        &self,
        kind: ModuleKind,
        schema_name: &str,
    ) -> Result<Module, CatalogError> {
        let row = self.own()?;
        let has = |bit| row.status & bit != 0;
        let (mut columns, mut parameters): (Vec<&ColumnRow>, Vec<&ColumnRow>) =
            self.columns.iter().partition(|c| c.column > 0);
        columns.sort_by_key(|c| c.ordinal);
        parameters.sort_by_key(|c| c.ordinal);
        Ok(Module {
            object_id: ObjectId(row.id),
            schema_id: SchemaId(row.schema),
            schema_name: schema_name.into(),
            name: row.name.clone(),
            kind,
            text: self.text(row.id, text_class::OBJECT, 0)?,
            properties: self.properties()?,
            quoted_identifier: has(object_status::QUOTED_IDENTIFIER),
            ansi_nulls: has(object_status::ANSI_NULLS),
            options: ModuleOptions {
                check_option: has(object_status::CHECK_OPTION),
                recompile: has(object_status::RECOMPILE),
                null_on_null_input: has(object_status::NULL_ON_NULL_INPUT),
                schema_bound: has(object_status::SCHEMA_BOUND),
                execute_as: match () {
                    () if has(object_status::AS_OWNER) => ExecuteAs::Owner,
                    () if has(object_status::AS_DBO) => ExecuteAs::Dbo,
                    () => ExecuteAs::Caller,
                },
            },
            columns: columns
                .into_iter()
                .map(|c| self.result_column(c))
                .collect::<Result<_, _>>()?,
            parameters: parameters.into_iter().map(parameter_of).collect::<Result<_, _>>()?,
            trigger: (kind == ModuleKind::Trigger)
                .then(|| trigger_of(ObjectId(row.parent), row.status)),
            bound: self.bound_to(row.id)?,
        })
    }

    /// A column of what a view or function gives. The text of a computed one once was not written;
    /// such a column is read as one that is not computed, since the module's own text says how
    /// its table is made.
    fn result_column(&self, row: &ColumnRow) -> Result<Column, CatalogError> {
        let of = (row.object, text_class::COMPUTED, row.column);
        if self.texts.iter().any(|t| (t.object, t.class, t.column) == of) {
            return self.column_of(row);
        }
        let computed = column_status::COMPUTED | column_status::PERSISTED;
        self.column_of(&ColumnRow { status: row.status & !computed, ..row.clone() })
    }

    fn bound_to(&self, object: i32) -> Result<Vec<BoundObject>, CatalogError> {
        let class = text_class::BOUND_TO;
        if !self.texts.iter().any(|t| (t.object, t.class) == (object, class)) {
            return Ok(Vec::new());
        }
        let text = self.text(object, class, 0)?;
        BoundObject::list_of_text(&text).ok_or_else(|| {
            let what = format!("what module {object} is bound to: {text}");
            CatalogError::corrupt("sysobjvalues", what)
        })
    }
}

fn status_of(module: &Module) -> i32 {
    let own = flag(module.quoted_identifier, object_status::QUOTED_IDENTIFIER)
        | flag(module.ansi_nulls, object_status::ANSI_NULLS)
        | flag(module.options.check_option, object_status::CHECK_OPTION)
        | flag(module.options.recompile, object_status::RECOMPILE)
        | flag(module.options.null_on_null_input, object_status::NULL_ON_NULL_INPUT)
        | flag(module.options.schema_bound, object_status::SCHEMA_BOUND)
        | flag(module.options.execute_as == ExecuteAs::Owner, object_status::AS_OWNER)
        | flag(module.options.execute_as == ExecuteAs::Dbo, object_status::AS_DBO);
    let Some(t) = &module.trigger else { return own };
    let shifted = |events: Events, by: u32| i32::from(events.bits()) << by;
    own | flag(t.instead_of, object_status::INSTEAD_OF)
        | flag(t.disabled, object_status::DISABLED)
        | flag(t.not_for_replication, object_status::NOT_FOR_REPLICATION)
        | shifted(t.events, object_status::EVENTS_SHIFT)
        | shifted(t.first, object_status::FIRST_SHIFT)
        | shifted(t.last, object_status::LAST_SHIFT)
}

fn trigger_of(parent: ObjectId, status: i32) -> Trigger {
    let has = |bit| status & bit != 0;
    let events = |by: u32| Events::of_bits((status >> by) as u8);
    Trigger {
        parent,
        events: events(object_status::EVENTS_SHIFT),
        instead_of: has(object_status::INSTEAD_OF),
        disabled: has(object_status::DISABLED),
        not_for_replication: has(object_status::NOT_FOR_REPLICATION),
        first: events(object_status::FIRST_SHIFT),
        last: events(object_status::LAST_SHIFT),
    }
}

fn parameter_row(object: ObjectId, p: &Parameter) -> ColumnRow {
    ColumnRow {
        object: object.0,
        column: -(p.id + 1),
        ordinal: p.id,
        name: p.name.clone(),
        system_type: p.sql_type.system_type_id(),
        user_type: p.user_type_id,
        length: p.sql_type.max_length(),
        precision: p.sql_type.precision(),
        scale: p.sql_type.scale(),
        collation: 0,
        status: flag(p.output, column_status::OUTPUT)
            | flag(p.has_default, column_status::HAS_DEFAULT)
            | flag(p.read_only, column_status::READ_ONLY)
            | flag(p.cursor, column_status::CURSOR),
        physical: None,
        default: 0,
        seed: None,
        increment: None,
    }
}

fn parameter_of(row: &ColumnRow) -> Result<Parameter, CatalogError> {
    let sql_type = row.sql_type().ok_or_else(|| {
        let what = format!("parameter {} of object {}: no such type", row.ordinal, row.object);
        CatalogError::corrupt("syscolpars", what)
    })?;
    Ok(Parameter {
        id: row.ordinal,
        name: row.name.clone(),
        sql_type,
        user_type_id: row.user_type,
        output: row.status & column_status::OUTPUT != 0,
        has_default: row.status & column_status::HAS_DEFAULT != 0,
        read_only: row.status & column_status::READ_ONLY != 0,
        cursor: row.status & column_status::CURSOR != 0,
    })
}
