//! The load generator: many sessions on one thread, each asking for a transaction again and again:
//! one RPC of Ghostlight's, what pgbench is to PostgreSQL (`-j 1`), or one prepared INSERT of any
//! engine's.

use crate::connection::Connection;
use crate::figure::Outcome;
use crate::persons::Persons;
use crate::wire::{Session, packets};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::{Duration, Instant};
use tds::{Headers, PacketType, Procedure, RpcCall, RpcOptions, Token};

/// Calls for so long; transactions a second.
///
/// # Errors
/// The connection's, or the first error that the procedure answers.
pub(crate) fn calls(sessions: &mut [Session], procedure: &str, seconds: u64) -> io::Result<f64> {
    let request = request(procedure)?;
    let start = Instant::now();
    let end = start + Duration::from_secs(seconds);
    for session in &mut *sessions {
        session.socket.write_all(&request)?;
    }
    let (mut done, mut waiting) = (0_u64, sessions.len());
    let mut asked = vec![true; sessions.len()];
    while waiting > 0 {
        let ready = ready(|at| sessions[at].socket.as_fd(), &asked)?;
        let more = Instant::now() < end;
        for at in ready {
            let session = &mut sessions[at];
            let Some(message) = session.arrived()? else { continue };
            for token in session.read(&message)? {
                if let Token::Error(e) = token {
                    return Err(io::Error::other(format!("{}: {}", e.number, e.text)));
                }
            }
            done += 1;
            asked[at] = more;
            match more {
                true => session.socket.write_all(&request)?,
                false => waiting -= 1,
            }
        }
    }
    Ok(done as f64 / start.elapsed().as_secs_f64())
}

/// A session that inserts rows of its own.
pub(crate) struct InsertSession {
    pub(crate) session: Box<dyn Connection>,
    pub(crate) persons: Persons,
}

/// Inserts persons for so long, a transaction each; how many, and in how many seconds.
pub(crate) fn inserts(sessions: &mut [InsertSession], seconds: u64) -> Outcome<(u64, f64)> {
    let start = Instant::now();
    let end = start + Duration::from_secs(seconds);
    for one in &mut *sessions {
        one.session.ask(&one.persons.next())?;
    }
    let (mut done, mut waiting) = (0, sessions.len());
    let mut asked = vec![true; sessions.len()];
    while waiting > 0 {
        let ready = ready(|at| sessions[at].session.socket(), &asked).map_err(|e| e.to_string())?;
        let more = Instant::now() < end;
        for at in ready {
            let one = &mut sessions[at];
            if !one.session.answered()? {
                continue;
            }
            done += 1;
            asked[at] = more;
            match more {
                true => one.session.ask(&one.persons.next())?,
                false => waiting -= 1,
            }
        }
    }
    Ok((done, start.elapsed().as_secs_f64()))
}

/// The sessions from which something has come.
fn ready<'s>(socket: impl Fn(usize) -> BorrowedFd<'s>, asked: &[bool]) -> io::Result<Vec<usize>> {
    let waiting: Vec<usize> = (0..asked.len()).filter(|&at| asked[at]).collect();
    let poll_of = |&at: &usize| PollFd::new(socket(at), PollFlags::POLLIN);
    let mut polled: Vec<PollFd<'_>> = waiting.iter().map(poll_of).collect();
    poll(&mut polled, PollTimeout::from(60_000_u16))?;
    let ready: Vec<usize> = polled
        .iter()
        .zip(&waiting)
        .filter(|(p, _)| p.any() == Some(true))
        .map(|(_, &at)| at)
        .collect();
    match ready.is_empty() {
        true => Err(io::Error::other("no answer within a minute")),
        false => Ok(ready),
    }
}

fn request(procedure: &str) -> io::Result<Vec<u8>> {
    let call = RpcCall {
        procedure: Procedure::Name(procedure.to_owned()),
        options: RpcOptions(0),
        parameters: Vec::new(),
    };
    let mut payload = Vec::new();
    tds::encode_rpc(&Headers::new(0), &[call], &mut payload).map_err(io::Error::other)?;
    Ok(packets(PacketType::Rpc, payload))
}
