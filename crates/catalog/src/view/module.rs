//! Procedures and other things kept as the text that made them.

use super::SchemaId;
use base::ObjectId;

/// What a [`Module`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleKind {
    /// A stored procedure.
    Procedure,
    /// A view (stored; not yet readable).
    View,
    /// A scalar function (stored; not yet callable).
    ScalarFunction,
    /// An inline or multi-statement table function (stored; not yet callable).
    TableFunction,
    /// A trigger (stored; not yet fired).
    Trigger,
}

impl ModuleKind {
    /// `sys.objects.type`, without its trailing blank.
    pub const fn type_code(self) -> &'static str {
        match self {
            ModuleKind::Procedure => "P",
            ModuleKind::View => "V",
            ModuleKind::ScalarFunction => "FN",
            ModuleKind::TableFunction => "TF",
            ModuleKind::Trigger => "TR",
        }
    }
}

/// A definition kept as text. Parameters are what its text says.
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
}
