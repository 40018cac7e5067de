//! Makes the definitions of table variables and types while text is compiled.

use crate::host::Host;
use crate::host::temporary_tables::DeclareCall;
use crate::session::settings::Settings;
use base::{DatabaseId, SessionId, SqlResult};
use catalog::view::{SchemaId, Table, UserType};
use std::sync::Arc;
use tsql::ast;
use work::Work;

/// Makes definitions of table variables while text is compiled.
pub(crate) struct Declarer<'s> {
    pub(crate) host: Arc<dyn Host>,
    pub(crate) session: SessionId,
    pub(crate) database: DatabaseId,
    /// The schema in which types without schema are looked up before dbo.
    pub(crate) schema: SchemaId,
    pub(crate) work: &'s mut Work,
    pub(crate) settings: &'s Settings,
    pub(crate) text: Arc<str>,
    /// If parameters may be undeclared: the names of those found so far.
    pub(crate) undeclared: Option<Vec<Box<str>>>,
}

impl Declarer<'_> {
    /// A name that no variable has, if it may be a parameter's.
    pub(crate) fn undeclared(&mut self, name: &str) -> Option<plan::VariableId> {
        let names = self.undeclared.as_mut()?;
        let at = names
            .iter()
            .position(|n| crate::program::steps::same_name(n, name))
            .unwrap_or_else(|| {
                names.push(name.into());
                names.len() - 1
            });
        u16::try_from(at).ok().map(bind::untyped_variable)
    }

    pub(crate) fn table(
        &mut self,
        name: &ast::Name,
        number: u16,
        definition: &ast::TableDefinition,
    ) -> SqlResult<Table> {
        self.host.declare_table(DeclareCall {
            session: self.session,
            database: self.database,
            schema: self.schema,
            work: self.work,
            name,
            number,
            definition,
            text: &self.text,
            settings: self.settings,
        })
    }

    /// The user type that a name means; `None` for a system type, or if there is none.
    pub(crate) fn user_type(&self, written: &ast::TypeName) -> Option<Arc<UserType>> {
        let view = self.host.view(self.session, self.database)?;
        ddl::user_type(written, &view, self.schema)
    }
}
