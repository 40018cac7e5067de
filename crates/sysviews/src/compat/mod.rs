//! Compatibility views: the system tables of SQL Server 2000, as views of schema sys, one a file.
//!
//! They are found by the name of schema dbo too (`catalog/src/view/lookup.rs`).

mod file_list;
mod options;
mod sysaltfiles;
mod syscolumns;
mod syscomments;
mod sysconfigures;
mod sysconstraints;
mod syscurconfigs;
mod sysdatabases;
mod sysfiles;
mod sysforeignkeys;
mod sysindexes;
mod sysindexkeys;
mod syslanguages;
mod syslogins;
mod sysobjects;
mod sysprocesses;
mod sysreferences;
mod systypes;
mod sysusers;
mod type_codes;

use crate::view::View;

/// All compatibility views. Append only: the position is the object id.
pub(crate) const VIEWS: &[&View] = &[
    &sysobjects::VIEW,
    &syscolumns::VIEW,
    &systypes::VIEW,
    &sysusers::VIEW,
    &sysdatabases::VIEW,
    &syscomments::VIEW,
    &sysindexes::VIEW,
    &sysprocesses::VIEW,
    &sysforeignkeys::VIEW,
    &sysreferences::VIEW,
    &sysconstraints::VIEW,
    &sysindexkeys::VIEW,
    &sysfiles::VIEW,
    &sysaltfiles::VIEW,
    &sysconfigures::VIEW,
    &syscurconfigs::VIEW,
    &syslogins::VIEW,
    &syslanguages::VIEW,
];
