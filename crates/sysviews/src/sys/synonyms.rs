//! `sys.synonyms`: names for other objects.

use super::object_list;
use crate::cell::text;
use crate::column::{Column, col, join};
use crate::view::{Rows, System, View};
use catalog::view::{Object, SchemaId};
use types::{SqlType, Value};

const COLUMNS: [Column; 13] =
    join(object_list::of_kind("SN", "SYNONYM"), [col("base_object_name", SqlType::nvarchar(1035))]);

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "synonyms", parameters: None, columns: &COLUMNS, rows };

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let view = system.view()?;
    let mut rows = Vec::new();
    for listed in object_list::own_of(system, "SN")? {
        let Some(Object::Synonym(s)) = view.by_id(listed.id) else { continue };
        let mut cells = listed.kind_cells();
        cells.push(text(&s.base.quoted()));
        rows.push(cells);
    }
    Ok(rows)
}
