//! Point lookups in 10 million rows (proof query.2): pages each reads, CPU of each in a cached
//! procedure's loop and as a prepared statement through TDS, keys at random.

use crate::engine::{Durability, Engine as _, Start};
use crate::figure::{Figure, Outcome, median};
use crate::ghostlight;
use crate::wire::Session;
use std::path::Path;
use tds::{ProcId, Procedure, RpcParameter, Token};
use types::{SqlType, Value};

const ROWS: i64 = 10_000_000;
const IN_LOOP: u64 = 1_000_000;
const IN_LOOP_US_MAX: f64 = 3.0;
const PREPARED: u64 = 50_000;
const PREPARED_US_MAX: f64 = 60.0;
/// Lookups whose pages are counted.
const COUNTED: i64 = 1_000;

pub(crate) fn run(binary: &Path, folder: &Path, repetitions: usize) -> Outcome<Vec<Figure>> {
    let durability = Durability::Delayed;
    let start = Start { binary, folder: &folder.join("lookups"), durability, memory_mb: None };
    let mut server = ghostlight::start_server(&start)?;
    server.run(&server.script("lookups")?)?;
    // Pages come into memory.
    server.number(&format!("exec lookups {IN_LOOP}"))?;
    let (mut loops, mut calls) = (Vec::new(), Vec::new());
    for _ in 0..repetitions {
        let before = server.cpu_seconds();
        server.number(&format!("exec lookups {IN_LOOP}"))?;
        loops.push((server.cpu_seconds() - before) * 1e6 / IN_LOOP as f64);
        let mut session = server.login()?;
        let handle = prepare(&mut session)?;
        let before = server.cpu_seconds();
        execute(&mut session, handle)?;
        calls.push((server.cpu_seconds() - before) * 1e6 / PREPARED as f64);
    }
    let pages = pages_of_a_lookup(&mut server)?;
    Ok(vec![
        pages,
        figure("a lookup in a procedure's loop, CPU", median(loops), IN_LOOP_US_MAX),
        figure("a prepared lookup through TDS, the server's CPU", median(calls), PREPARED_US_MAX),
    ])
}

fn figure(what: &str, us: f64, limit: f64) -> Figure {
    Figure {
        what: what.to_owned(),
        figure: format!("{us:.2} us"),
        limit: format!("{limit} us"),
        pass: us > 0.0 && us <= limit,
    }
}

/// What the session has read after many lookups, against the depth of the index.
fn pages_of_a_lookup(server: &mut ghostlight::Ghostlight) -> Outcome<Figure> {
    let depth = server.number(
        "select cast(index_depth as int) from sys.dm_db_index_physical_stats(db_id(), object_id('p'), 1, null, 'LIMITED')",
    )?;
    let reads = "select logical_reads from sys.dm_exec_sessions where session_id = @@spid";
    let before = server.number(reads)?;
    server.number(&format!("exec lookups {COUNTED}"))?;
    let read = server.number(reads)? - before;
    Ok(Figure {
        what: format!("logical reads of {COUNTED} lookups in {ROWS} rows"),
        figure: read.to_string(),
        limit: format!("{COUNTED} x {depth}, the index's depth"),
        pass: depth > 1 && read == COUNTED * depth,
    })
}

fn prepare(session: &mut Session) -> Outcome<i32> {
    let text = |s: &str| RpcParameter::input("", SqlType::nvarchar(4000), Value::nvarchar(s));
    let handle =
        RpcParameter { output: true, ..RpcParameter::input("", SqlType::Int, Value::Null) };
    let parameters = vec![handle, text("@k int"), text("select v from p where id = @k")];
    let tokens = session.call(Procedure::Id(ProcId::Prepare), parameters)?;
    let value = tokens.iter().find_map(|token| match token {
        Token::ReturnValue(v) => v.value.as_i64(),
        _ => None,
    });
    value.map(|n| n as i32).ok_or_else(|| "sp_prepare gives no handle".to_owned())
}

/// One call after the other; each answer is looked at.
fn execute(session: &mut Session, handle: i32) -> Outcome<()> {
    let int = |n: i32| RpcParameter::input("", SqlType::Int, Value::Int(n));
    let mut key = 1_i64;
    for _ in 0..PREPARED {
        key = (key * 7919 + 12_345) % ROWS;
        let parameters = vec![int(handle), int(key as i32)];
        let tokens = session.call(Procedure::Id(ProcId::Execute), parameters)?;
        let row = tokens.iter().find_map(|token| match token {
            Token::Row(row) => row.first().and_then(Value::as_i64),
            _ => None,
        });
        if row != Some(key % 1000) {
            return Err(format!("the row of {key} is {row:?}"));
        }
    }
    Ok(())
}
