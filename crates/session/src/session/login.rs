//! How a login becomes a session.

use crate::cursors::handles::ApiCursors;
use crate::host::Host;
use crate::host::configuration::Setting;
use crate::procedures::list::SYSTEM_PROCEDURES;
use crate::procedures::prepared::Handles;
use crate::request::Login;
use crate::request::activation::Activations;
use crate::request::flow::Flow;
use crate::request::meter::Consumption;
use crate::request::open::Open;
use crate::session::state::State;
use crate::session::{LanguageRefusal, LoginTerms, Session};
use crate::tables::pool::VariableTables;
use base::{DatabaseId, SqlError, SqlResult, messages};
use lock::{Owner, OwnerId, OwnerKind, Timeout};
use os::wait::Waiter;
use std::cell::RefCell;
use std::sync::Arc;
use types::datetime::Language;
use work::Work;

impl Session {
    /// A session for a login that has been authenticated.
    ///
    /// # Errors
    /// 4060 when its database cannot be opened, 17809 when there are too many sessions.
    pub fn new(host: Arc<dyn Host>, login: Login) -> SqlResult<Session> {
        let wanted = if login.database.is_empty() { "master" } else { &login.database };
        let wanted = wanted.to_owned();
        let (language, fatal) = (login.language.clone(), login.language_or_nothing);
        let waiter = Arc::new(Waiter::new());
        let registry = Arc::clone(host.registry());
        let entry = registry.enter(login, Arc::clone(&waiter), DatabaseId(0))?;
        let id = entry.id();
        let owner = OwnerId::new(OwnerKind::SharedTransactionWorkspace, id.0.unsigned_abs().into());
        let workspace = Owner::new(owner, id, Arc::clone(&waiter));
        let entered = host.enter_database(&workspace, Timeout::INFINITE, &wanted, None);
        let database = entered.map_err(|_| {
            registry.leave(id);
            SqlError::new(messages::CANNOT_OPEN_DATABASE, &[&wanted])
        })?;
        let work = Work::new(host.engine(), id, waiter);
        let state = State::new(
            Arc::clone(&host),
            entry,
            database,
            wanted.clone(),
            Arc::clone(work.owner()),
        );
        let mut session = Session {
            procedures: &SYSTEM_PROCEDURES,
            host,
            state,
            work,
            tables: VariableTables::default(),
            flow: Flow::default(),
            spent: Consumption::default(),
            handles: Handles::default(),
            login: LoginTerms {
                database: wanted,
                language: Language::us_english(),
                refused: LanguageRefusal::Nothing,
            },
            workspace,
            open: Open::default(),
            idle: Activations::default(),
            functions: RefCell::default(),
            of_shell: None,
            api_cursors: ApiCursors::default(),
            bulk: None,
            owing: None,
        };
        session.state.now_in_database(database);
        session.take_language(&language, fatal)?;
        session.state.take_user_options();
        session.apply_settings();
        Ok(session)
    }
}

impl State {
    /// Applies the server option 'user options' to a new session.
    fn take_user_options(&mut self) {
        let bits = self.host.configuration().in_use(Setting::UserOptions);
        self.settings.set_all(bits.unsigned_abs());
    }
}
