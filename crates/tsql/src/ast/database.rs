//! Databases: CREATE, ALTER, their files and options.
#![expect(missing_docs, reason = "fields are named as the grammar names them")]

use super::{Name, Setting, Span};

/// CREATE DATABASE
#[derive(Clone, Debug, PartialEq)]
pub struct CreateDatabase {
    pub name: Name,
    pub containment: Option<Name>,
    /// `ON [PRIMARY] file, …, FILEGROUP g file, …`
    pub files: Vec<FileGroupFiles>,
    pub log_files: Vec<FileSpec>,
    pub collation: Option<Name>,
    pub options: Vec<Setting>,
    /// `FOR ATTACH`, `AS SNAPSHOT OF source`: upper-case words.
    pub purpose: Option<Box<str>>,
}

/// The files of one filegroup; None is the primary one.
#[derive(Clone, Debug, PartialEq)]
pub struct FileGroupFiles {
    pub filegroup: Option<Name>,
    pub options: Vec<Setting>,
    pub files: Vec<FileSpec>,
}

/// `(NAME = …, FILENAME = …, SIZE = …, MAXSIZE = …, FILEGROWTH = …)`
#[derive(Clone, Debug, PartialEq)]
pub struct FileSpec {
    pub settings: Vec<Setting>,
    pub span: Span,
}

/// ALTER DATABASE
#[derive(Clone, Debug, PartialEq)]
pub struct AlterDatabase {
    /// None means CURRENT.
    pub name: Option<Name>,
    pub action: AlterDatabaseAction,
}

/// See [`AlterDatabase`].
#[derive(Clone, Debug, PartialEq)]
pub enum AlterDatabaseAction {
    /// `SET option, … [WITH termination]`
    Set {
        options: Vec<Setting>,
        termination: Option<Termination>,
    },
    ModifyName(Name),
    Collate(Name),
    AddFile {
        files: Vec<FileSpec>,
        filegroup: Option<Name>,
    },
    AddLogFile(Vec<FileSpec>),
    RemoveFile(Name),
    ModifyFile(FileSpec),
    AddFilegroup {
        name: Name,
        options: Vec<Setting>,
    },
    RemoveFilegroup(Name),
    ModifyFilegroup {
        name: Name,
        options: Vec<Setting>,
    },
    /// `ALTER DATABASE SCOPED CONFIGURATION [FOR SECONDARY] SET name = value | CLEAR name`
    ScopedConfiguration {
        secondary: bool,
        clear: bool,
        setting: Setting,
    },
}

/// What happens to others' transactions when a database's option is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Termination {
    RollbackImmediate,
    RollbackAfter(u32),
    NoWait,
}
