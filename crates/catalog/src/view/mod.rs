//! What a reader of definitions gets: immutable data, stamped with a schema version.
//!
//! A [`DatabaseView`] is replaced as a whole when a definition changes; whoever holds one goes on
//! seeing what it saw. Nothing here reads a page or takes a lock. Expressions (defaults, checks)
//! are text, because no floor below `bind` knows T-SQL.
//!
//! Invariants
//!  1. Two views of a database with one schema version are equal.
//!  2. Names are found as the database's collation compares them.
//!  3. What the physical columns of a hobt are, and in which order, is said by
//!     [`Table::hobt_layout`] and nowhere else: rowstore's layouts, plans and verifiers ask it.

mod auto_fill;
mod captured;
mod database;
mod foreign_key;
mod history;
mod layout;
mod lookup;
mod module;
mod partitions;
mod property;
mod schema;
mod sequence;
mod synonym;
mod table;
mod user_type;
mod virtual_table;

pub use auto_fill::AutoFill;
pub use captured::captured_rows;
pub use database::{DatabaseView, Object};
pub(crate) use foreign_key::Wording;
pub use foreign_key::{ForeignKey, ForeignKeyColumn, ReferentialAction};
pub use history::{AddedColumn, DroppedColumn, RowHistory, stored_width};
pub use layout::{HobtLayout, KeyField, PhysicalColumn};
pub use lookup::{
    Catalogs, DeclaredTable, ObjectName, ResolvedObject, RowKey, follow, in_database,
    is_global_temp, resolve,
};
pub use module::{
    BoundObject, Events, ExecuteAs, Module, ModuleKind, ModuleOptions, Parameter, Trigger,
};
pub use partitions::{Partition, PartitionNumber, Partitions};
pub use property::{ExtendedProperty, PropertyClass, PropertyOwner};
pub use schema::{Schema, SchemaId};
pub use sequence::{Origin, Sequence};
pub use synonym::{BaseName, Synonym};
pub use table::{
    AnyStatistics, Check, Column, ComputedColumn, Constraint, Default, Identity, Index,
    IndexColumn, IndexKind, Statistics, StatisticsContent, Table,
};
pub use user_type::{TABLE_TYPE, UserType, UserTypeKind};
pub use virtual_table::{SystemObjects, VirtualColumn, VirtualParameter, VirtualTable};
