//! Target `tvp`: table-valued parameters, from the socket to the rows of the engine itself.
//!
//! An input is a byte of choices and what stands behind a parameter's type: columns, options, rows.
//! It becomes the parameter of a call to a procedure of a real instance, which keeps its files in
//! memory, behind the real server. The procedure reads the table, joins it and copies it.
//!
//! Promises
//!  1. Any table ends in rows or in an error that SQL Server numbers; the answer is well-formed.
//!  2. The request behind it is answered, unless the stream could not be trusted any more.
//!  3. What a refused call put into tables is not there.

use crate::Input;
use crate::door::{Conversation, EngineServer};
use crate::memory::MemoryDisk;
use crate::wire::{errors_of, greeting_and_login, packets};
use base::SqlResult;
use instance::{Instance, InstanceOptions};
use os::disk::Disk;
use os::sync::Mutex;
use session::{Connection, Login};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use tds::{Headers, PacketType};

const NAMED: u8 = 1;
const TWICE: u8 = 2;
const BY_STATEMENT: u8 = 4;
/// Tokens of the wire.
const TVP: u8 = 0xF3;
const END: u8 = 0;
const ROW: u8 = 1;
/// Latin1_General_CI_AS with its sort order, as a type carries it.
const COLLATION: [u8; 5] = [9, 4, 0xD0, 0, 52];

/// What the instance has before anybody comes.
const STORY: &[&str] = &[
    "create type dbo.t as table (a int not null primary key, b varchar(10) default 'x', c decimal(10, 2), d nvarchar(max), e datetime2(3), f uniqueidentifier, g varbinary(20), h sql_variant, i bit, check (a <> 13), unique (b, a))",
    "create table kept (n int)",
    "create procedure dbo.take @t dbo.t readonly as begin set xact_abort on; begin tran; insert kept select count(*) from @t; select * into #copy from @t; select count(*), sum(len(x.d)) from @t x join #copy y on x.a = y.a; delete kept; commit end",
];

/// The instance behind a server.
struct RealInstance(Arc<Instance>);

impl server::Engine for RealInstance {
    fn authenticate(&self, _user: &str, _password: &str) -> SqlResult<()> {
        Ok(())
    }

    fn connect(&self, login: Login) -> SqlResult<Box<dyn Connection>> {
        Ok(Box::new(self.0.connect(login)?))
    }

    fn memory(&self) -> Option<Arc<os::memory::Memory>> {
        Some(Arc::clone(self.0.memory()))
    }

    fn server_name(&self) -> &str {
        self.0.server_name()
    }

    fn log(&self, line: &str) {
        assert!(!line.contains("panicked"), "{line}");
        let mut lines = LOGGED.lock();
        lines.push_back(line.to_owned());
        if lines.len() > LINES_KEPT {
            lines.pop_front();
        }
    }
}

/// The error log's last lines, which say why a client was sent away.
static LOGGED: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());
const LINES_KEPT: usize = 20;

fn real() -> &'static EngineServer {
    static REAL: OnceLock<EngineServer> = OnceLock::new();
    REAL.get_or_init(|| {
        let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::default());
        let options = InstanceOptions {
            max_memory_bytes: 96 << 20,
            embedded: true,
            ..InstanceOptions::default()
        };
        let instance = Instance::open(disk, Path::new("/data"), options);
        let instance = instance.expect("an empty disk becomes an instance");
        let engine = EngineServer::start(Arc::new(RealInstance(instance)));
        let mut conversation = logged_in(&engine);
        for text in STORY {
            let answer = conversation.ask(&batch(text)).expect("an answer");
            assert_eq!(errors_of(&answer), [], "{text}");
        }
        engine
    })
}

fn logged_in(engine: &EngineServer) -> Conversation {
    let mut conversation = Conversation::with(engine);
    for message in greeting_and_login() {
        let answer = conversation.ask(&message);
        assert!(answer.is_some(), "no answer to a login; the log says {LOGGED:?}");
    }
    conversation
}

fn batch(text: &str) -> Vec<u8> {
    let mut payload = Vec::new();
    tds::encode_batch(&Headers::new(1), text, &mut payload);
    packets(PacketType::Batch, payload)
}

/// A call whose one parameter is the bytes behind a table's type.
fn call(choices: u8, table: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    tds::encode_rpc(&Headers::new(1), &[], &mut out).expect("headers alone");
    let wide = |s: &str| s.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let name = if choices & BY_STATEMENT == 0 { "dbo.take" } else { "sp_executesql" };
    out.extend_from_slice(&(name.len() as u16).to_le_bytes());
    out.extend_from_slice(&wide(name));
    out.extend_from_slice(&[0, 0]);
    if choices & BY_STATEMENT != 0 {
        for text in ["select count(*), max(a), max(d) from @t", "@t dbo.t readonly"] {
            out.extend_from_slice(&[0, 0, 0xE7, 0x40, 0x1F]);
            out.extend_from_slice(&COLLATION);
            out.extend_from_slice(&(text.len() as u16 * 2).to_le_bytes());
            out.extend_from_slice(&wide(text));
        }
    }
    out.extend_from_slice(&[2]);
    out.extend_from_slice(&wide("@t"));
    out.extend_from_slice(&[0, TVP, 0]);
    if choices & NAMED != 0 {
        out.push(3);
        out.extend_from_slice(&wide("dbo"));
    } else {
        out.push(0);
    }
    out.push(1);
    out.extend_from_slice(&wide("t"));
    out.extend_from_slice(table);
    out
}

/// Calls with the table, then asks whether anything of it stayed.
pub(crate) fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let choices = input.byte();
    let payload = call(choices, input.rest());
    let mut conversation = logged_in(real());
    for _ in 0..=usize::from(choices & TWICE != 0) {
        let Some(answer) = conversation.ask(&packets(PacketType::Rpc, payload.clone())) else {
            return;
        };
        for (number, text) in errors_of(&answer) {
            assert!(number > 0 && !text.is_empty());
            assert_ne!(number, base::messages::INTERNAL.number, "{text}");
        }
    }
    let look = batch("if exists (select * from kept) select 1 / 0; delete kept");
    if let Some(answer) = conversation.ask(&look) {
        assert_eq!(errors_of(&answer), [], "a refused call left rows");
    }
}

/// The columns of the type as a client sends them.
fn columns() -> Vec<u8> {
    let text = |kind: u8, bytes: u16| {
        let mut info = vec![kind];
        info.extend_from_slice(&bytes.to_le_bytes());
        info.extend_from_slice(&COLLATION);
        info
    };
    let infos: [Vec<u8>; 9] = [
        vec![0x26, 4],
        text(0xA7, 10),
        vec![0x6A, 17, 10, 2],
        text(0xE7, 0xFFFF),
        vec![0x2A, 3],
        vec![0x24, 16],
        vec![0xA5, 20, 0],
        vec![0x62, 0x49, 0x1F, 0, 0],
        vec![0x68, 1],
    ];
    let mut out = vec![infos.len() as u8, 0];
    for info in infos {
        out.extend_from_slice(&[0, 0, 0, 0, 1, 0]);
        out.extend_from_slice(&info);
        out.push(0);
    }
    out
}

/// A row of the type with that key.
fn row(key: i32, nulls: bool) -> Vec<u8> {
    let mut out = vec![ROW, 4];
    out.extend_from_slice(&key.to_le_bytes());
    if nulls {
        out.extend_from_slice(&[0xFF, 0xFF, 0]);
        out.extend_from_slice(&[0xFF; 8]);
        out.extend_from_slice(&[0, 0, 0xFF, 0xFF, 0, 0, 0, 0, 0]);
        return out;
    }
    out.extend_from_slice(&[2, 0, b'a', b'b']);
    out.extend_from_slice(&[5, 1, 100, 0, 0, 0]);
    out.extend_from_slice(&[4, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, b'x', 0, b'y', 0, 0, 0, 0, 0]);
    out.extend_from_slice(&[7, 1, 0, 0, 0, 9, 0x3A, 0x0B]);
    out.push(16);
    out.extend_from_slice(&[7; 16]);
    out.extend_from_slice(&[2, 0, 1, 2]);
    out.extend_from_slice(&[6, 0, 0, 0, 0x38, 0, 5, 0, 0, 0]);
    out.extend_from_slice(&[1, 1]);
    out
}

/// Tables that the type takes, and some that it refuses.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![vec![0, 0xFF, 0xFF, END, END]];
    for choices in [0, NAMED, NAMED | TWICE, NAMED | BY_STATEMENT, BY_STATEMENT | TWICE] {
        for keys in [&[][..], &[1], &[1, 2, 3], &[1, 1], &[13]] {
            let mut seed = vec![choices];
            seed.extend_from_slice(&columns());
            // The order of the first column, said or not.
            if keys.len() == 3 {
                seed.extend_from_slice(&[0x10, 1, 0, 1, 0, 1]);
            }
            seed.push(END);
            for (n, key) in keys.iter().enumerate() {
                seed.extend_from_slice(&row(*key, n % 2 == 1));
            }
            seed.push(END);
            seeds.push(seed);
        }
    }
    seeds
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the type takes is taken, what it refuses is refused.
    #[test]
    fn seeds_reach_the_rows() {
        let errors = |keys: &[i32]| {
            let mut table = columns();
            table.push(END);
            keys.iter().for_each(|key| table.extend_from_slice(&row(*key, false)));
            table.push(END);
            let call = packets(PacketType::Rpc, call(NAMED, &table));
            let answer = logged_in(real()).ask(&call).expect("an answer");
            errors_of(&answer).into_iter().map(|(number, _)| number).collect::<Vec<i32>>()
        };
        assert_eq!(errors(&[1, 2]), []);
        assert_eq!(errors(&[1, 1])[0], 2627);
        assert_eq!(errors(&[13])[0], 547);
    }
}
