//! `SQLServer:General Statistics`: connections.

use super::{Counter, Kind, counter};
use crate::view::System;

pub(crate) fn general(system: &System<'_>) -> Vec<Counter> {
    let connected = system.sessions.count() as u64;
    let logins = system.sessions.logins();
    let waits = system.engine.locks.waits();
    let blocked = waits.iter().filter(|w| w.session.is_user() && w.blocker.is_some()).count();
    vec![
        counter("User Connections", Kind::Now, connected),
        counter("Logins/sec", Kind::Total, logins),
        counter("Processes blocked", Kind::Now, blocked as u64),
    ]
}
