//! System tables read into a view.

use crate::definition::DefinitionRows;
use crate::error::CatalogError;
use crate::files::FileSettings;
use crate::ids::Ids;
use crate::modifications::Modifications;
use crate::options::DatabaseOptions;
use crate::rows::scan;
use crate::spec::{DroppedUnit, HobtPlaces, SystemHobts, UnitPlaces};
use crate::sysrows::{
    AllocUnitRow, ClassRow, ColumnRow, DropRow, FactRow, IdentityRow, IndexColumnRow, IndexRow,
    ObjectRow, RowsetRow, SystemRow, TextRow, text_class,
};
use crate::view::{
    DatabaseView, ExtendedProperty, ModuleKind, Object, PropertyOwner, Schema, SchemaId,
    SystemObjects, UserType,
};
use base::{DatabaseId, HobtId, ObjectId, SqlResult};
use std::collections::BTreeMap;
use std::sync::Arc;
use work::Work;

/// What the system tables of a database say.
#[derive(Debug)]
pub struct CatalogContents {
    /// The definitions.
    pub view: DatabaseView,
    /// Where hobts are; those of system tables too, when they were entered.
    pub places: BTreeMap<HobtId, HobtPlaces>,
    /// Units whose owners were dropped and whose pages are not yet free.
    pub dropped: Vec<DroppedUnit>,
    /// The database's options.
    pub options: DatabaseOptions,
    /// What is set of files.
    pub files: FileSettings,
    /// Identity values that may have been given out, by base hobt.
    pub identities: Vec<(HobtId, i128)>,
    /// How many rows were changed, as far as that was written.
    pub modifications: Modifications,
    /// Numbers not yet used.
    pub ids: Ids,
}

/// Reads a database's definitions. The caller keeps writers away.
///
/// # Errors
/// Damaged pages, rows that make no sense.
pub fn load(
    system: &dyn SystemHobts,
    work: &mut Work,
    id: DatabaseId,
    name: &str,
    objects: Arc<SystemObjects>,
) -> SqlResult<CatalogContents> {
    load_definitions(system, work, (id, name), objects, false)
}

/// The same while unfinished transactions are being undone: definitions that they left half
/// written are passed by, since what is undone later does not need them.
///
/// # Errors
/// Damaged pages, places that make no sense.
pub fn load_for_undo(
    system: &dyn SystemHobts,
    work: &mut Work,
    id: DatabaseId,
    name: &str,
    objects: Arc<SystemObjects>,
) -> SqlResult<CatalogContents> {
    load_definitions(system, work, (id, name), objects, true)
}

fn load_definitions(
    system: &dyn SystemHobts,
    work: &mut Work,
    (id, name): (DatabaseId, &str),
    objects: Arc<SystemObjects>,
    passes_by: bool,
) -> SqlResult<CatalogContents> {
    let (mut options, mut files) = (DatabaseOptions::default(), FileSettings::default());
    let modifications = Modifications::default();
    for row in scan::<FactRow>(system, work)? {
        if modifications.read_fact(&row.name, &row.value) {
            continue;
        }
        let senseless = || bad::<FactRow>(&row.name);
        if files.read_fact(&row.name, &row.value).ok_or_else(senseless)? {
            continue;
        }
        options.read_fact(&row.name, &row.value).ok_or_else(senseless)?;
    }
    let collation = options.collation;
    let mut view = DatabaseView::new(id, name, collation, objects);
    let mut ids = Ids::default();
    for row in scan::<ClassRow>(system, work)? {
        view = view.with_schema(Schema {
            id: SchemaId(row.id),
            name: row.name,
            properties: Vec::new(),
        });
    }
    let (groups, alone) = definitions(system, work, &mut ids, passes_by)?;
    match alone.properties() {
        Ok(properties) => view = with_properties(view, properties),
        Err(_) if passes_by => {}
        Err(e) => return Err(e.into()),
    }
    let view = with_definitions(view, id, groups, &mut ids, passes_by)?;
    let mut places = BTreeMap::<HobtId, HobtPlaces>::new();
    for row in scan::<AllocUnitRow>(system, work)? {
        let unit = UnitPlaces::of_row(&row).ok_or_else(|| bad::<AllocUnitRow>(&row.unit))?;
        ids.used_unit(unit.unit);
        places.entry(HobtId(row.hobt as u32)).or_default().units.push(unit);
    }
    let mut dropped = Vec::new();
    for row in scan::<DropRow>(system, work)? {
        let unit = DroppedUnit::of_row(&row).ok_or_else(|| bad::<DropRow>(&row.unit))?;
        ids.used_unit(unit.places.unit);
        ids.used_hobt(unit.hobt);
        dropped.push(unit);
    }
    let mut identities = Vec::new();
    for row in scan::<IdentityRow>(system, work)? {
        let hobt = HobtId(row.hobt as u32);
        ids.used_hobt(hobt);
        identities.push((hobt, row.reserved));
    }
    for schema in view.schemas() {
        ids.used_schema(schema.id);
    }
    for object in view.objects() {
        match object {
            Object::Table(table) => modifications.cover(table),
            Object::Sequence(sequence) => ids.used_hobt(sequence.counter),
            Object::Module(_) | Object::Synonym(_) | Object::Virtual(_) => {}
        }
    }
    Ok(CatalogContents { view, places, dropped, options, files, identities, modifications, ids })
}

fn bad<R: SystemRow>(what: &dyn std::fmt::Display) -> CatalogError {
    CatalogError::corrupt(R::DEFINITION.name, format!("row {what} makes no sense"))
}

/// A view with all objects and types of these rows.
fn with_definitions(
    mut view: DatabaseView,
    id: DatabaseId,
    groups: BTreeMap<i32, DefinitionRows>,
    ids: &mut Ids,
    passes_by: bool,
) -> SqlResult<DatabaseView> {
    for (owner, rows) in groups {
        if rows.is_type(owner) {
            match type_of(&view, id, owner, rows) {
                Ok(user_type) => {
                    ids.used_user_type(user_type.user_type_id);
                    view = view.with_type(Arc::new(user_type));
                }
                Err(_) if passes_by => {}
                Err(e) => return Err(e.into()),
            }
            continue;
        }
        match object_of(&view, id, owner, &rows) {
            Ok(object) => view = view.with_object(object),
            Err(_) if passes_by => {}
            Err(e) => return Err(e.into()),
        }
    }
    Ok(view)
}

/// A view with properties of schemas and of itself.
fn with_properties(mut view: DatabaseView, all: Vec<ExtendedProperty>) -> DatabaseView {
    let (own, of_schemas): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|p| p.owner == PropertyOwner::DATABASE);
    for property in of_schemas {
        let schema = view.schema_by_id(SchemaId(property.owner.major.0)).cloned();
        if let Some(mut schema) = schema {
            schema.properties.push(property);
            view = view.with_schema(schema);
        }
    }
    view.with_properties(own.into())
}

/// All rows, grouped by the object that they belong to, and those that belong to none.
fn definitions(
    system: &dyn SystemHobts,
    work: &mut Work,
    ids: &mut Ids,
    passes_by: bool,
) -> SqlResult<(BTreeMap<i32, DefinitionRows>, DefinitionRows)> {
    let mut alone = DefinitionRows::default();
    let mut groups = BTreeMap::<i32, DefinitionRows>::new();
    let mut owners = BTreeMap::new();
    for row in scan::<ObjectRow>(system, work)? {
        ids.used_object(ObjectId(row.id));
        let owner = if row.is_whole() { row.id } else { row.parent };
        owners.insert(row.id, owner);
        groups.entry(owner).or_default().objects.push(row);
    }
    for row in scan::<ColumnRow>(system, work)? {
        groups.entry(row.object).or_default().columns.push(row);
    }
    for row in scan::<IndexRow>(system, work)? {
        groups.entry(row.object).or_default().indexes.push(row);
    }
    for row in scan::<IndexColumnRow>(system, work)? {
        groups.entry(row.object).or_default().index_columns.push(row);
    }
    for row in scan::<RowsetRow>(system, work)? {
        ids.used_hobt(HobtId(row.hobt as u32));
        // Rows of system tables describe themselves; they have no definition rows.
        if row.hobt as u32 >= crate::FIRST_USER_HOBT {
            groups.entry(row.object).or_default().rowsets.push(row);
        }
    }
    for row in scan::<TextRow>(system, work)? {
        if text_class::stands_alone(row.class) {
            alone.texts.push(row);
            continue;
        }
        match owners.get(&row.object) {
            Some(owner) => groups.entry(*owner).or_default().texts.push(row),
            None if passes_by => {}
            None => return Err(bad::<TextRow>(&row.object).into()),
        }
    }
    Ok((groups, alone))
}

fn object_of(
    view: &DatabaseView,
    database: DatabaseId,
    owner: i32,
    rows: &DefinitionRows,
) -> Result<Object, CatalogError> {
    let own = rows.objects.iter().find(|o| o.id == owner);
    let own = own.ok_or_else(|| bad::<ObjectRow>(&owner))?;
    let schema = view.schema_by_id(SchemaId(own.schema));
    let schema = &schema.ok_or_else(|| bad::<ObjectRow>(&owner))?.name;
    let kind = match own.kind.trim_end() {
        crate::sequence_rows::KIND => {
            return Ok(Object::Sequence(Arc::new(rows.sequence(schema)?)));
        }
        crate::synonym_rows::KIND => {
            return Ok(Object::Synonym(Arc::new(rows.synonym(schema)?)));
        }
        "U" => return Ok(Object::Table(Arc::new(rows.table(database, schema)?))),
        other => ModuleKind::of_type_code(other).ok_or_else(|| {
            let what = format!("object {owner} is of type {other}");
            CatalogError::corrupt("sysschobjs", what)
        })?,
    };
    Ok(Object::Module(Arc::new(rows.module(kind, schema)?)))
}

fn type_of(
    view: &DatabaseView,
    database: DatabaseId,
    owner: i32,
    rows: DefinitionRows,
) -> Result<UserType, CatalogError> {
    let schema = rows.own().ok().and_then(|own| view.schema_by_id(SchemaId(own.schema)));
    let schema = schema.ok_or_else(|| bad::<ObjectRow>(&owner))?;
    rows.user_type(database, &schema.name)
}

/// When an object was made and last changed: nanoseconds since 1970 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectDates {
    /// The object.
    pub object: ObjectId,
    /// CREATE.
    pub created_ns: i64,
    /// The last change of its definition.
    pub modified_ns: i64,
}

/// The dates of all objects by id, constraints included.
///
/// # Errors
/// Damaged pages.
pub fn object_dates(system: &dyn SystemHobts, work: &mut Work) -> SqlResult<Vec<ObjectDates>> {
    let rows = scan::<ObjectRow>(system, work)?.into_iter();
    let dates = rows.map(|r| ObjectDates {
        object: ObjectId(r.id),
        created_ns: r.created,
        modified_ns: r.modified,
    });
    Ok(dates.collect())
}
