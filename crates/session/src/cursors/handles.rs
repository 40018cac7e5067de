//! The handles of API server cursors: what a client asks of a cursor, and the cursor's fetch
//! buffer. `api.rs` has the rules.

use crate::answer::failure::Failure;
use crate::cursors::cursor::Cursor;
use crate::procedures::call::CallArgument;
use crate::program::cursor_step::CursorKind;
use base::{SqlError, SqlResult, messages};
use os::sync::Mutex;
use os::values::Charge;
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Display;
use std::sync::Arc;
use types::{SqlType, Value};

/// The properties that a client asks for: the scrollopt and ccopt of sp_cursoropen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wish {
    pub(crate) scroll: i64,
    pub(crate) concurrency: i64,
}

/// Bits of [`Wish::scroll`].
pub(crate) mod scroll {
    pub(crate) const KEYSET: i64 = 0x1;
    pub(crate) const DYNAMIC: i64 = 0x2;
    pub(crate) const FORWARD_ONLY: i64 = 0x4;
    pub(crate) const STATIC: i64 = 0x8;
    pub(crate) const FAST_FORWARD: i64 = 0x10;
    pub(crate) const PARAMETERIZED: i64 = 0x1000;
    pub(crate) const AUTO_FETCH: i64 = 0x2000;
    pub(crate) const AUTO_CLOSE: i64 = 0x4000;
}

/// Bits of [`Wish::concurrency`].
pub(crate) mod concurrency {
    pub(crate) const READ_ONLY: i64 = 0x1;
    pub(crate) const SCROLL_LOCKS: i64 = 0x2;
    pub(crate) const OPTIMISTIC: i64 = 0x4;
    pub(crate) const OPTIMISTIC_VALUES: i64 = 0x8;
    pub(crate) const ALLOW_DIRECT: i64 = 0x2000;
}

/// The name of a cursor that has no handle yet.
pub(crate) const NEW: &str = "sp_cursoropen (new)";

/// The first handle.
pub(crate) const FIRST_HANDLE: i32 = 180_150_003;

pub(crate) fn name_of(handle: i32) -> String {
    format!("sp_cursoropen ({handle})")
}

/// Which rows a fetch asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fetch {
    First,
    Next,
    /// The previous rows; if there are too few, the first rows of the cursor.
    Prior,
    /// The previous rows, however few.
    PriorOnly,
    Last,
    Absolute(i64),
    Relative(i64),
    Refresh,
}

/// The positions of the last fetch; 0 is before the first row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(super) first: u64,
    pub(super) behind: u64,
}

pub(crate) const BEFORE: Window = Window { first: 0, behind: 1 };

/// A row of the fetch buffer.
pub(crate) struct BufferedRow {
    pub(super) position: u64,
    /// `None` if the row is gone.
    pub(super) row: Option<Vec<Value>>,
}

/// The rows of the last fetch. Their memory is charged.
#[derive(Default)]
pub(crate) struct FetchBuffer {
    pub(super) rows: VecDeque<BufferedRow>,
    pub(super) bytes: usize,
    pub(super) charge: Charge,
}

impl FetchBuffer {
    /// Adds a row at the end, or at the beginning for a backward fetch.
    pub(super) fn push(&mut self, fetched: BufferedRow, back: bool) -> SqlResult<()> {
        self.bytes += 2 * size_of::<BufferedRow>() + row_bytes(fetched.row.as_deref());
        self.charge.cover(self.bytes)?;
        match back {
            true => self.rows.push_front(fetched),
            false => self.rows.push_back(fetched),
        }
        Ok(())
    }

    /// Replaces a row.
    pub(super) fn replace(&mut self, at: usize, row: Option<Vec<Value>>) -> SqlResult<()> {
        let Some(fetched) = self.rows.get_mut(at) else { return Ok(()) };
        self.bytes += row_bytes(row.as_deref());
        self.bytes -= row_bytes(fetched.row.as_deref());
        fetched.row = row;
        self.charge.cover(self.bytes)
    }

    /// Keeps only the positions.
    pub(super) fn forget_rows(&mut self) {
        self.rows.iter_mut().for_each(|f| f.row = None);
        self.charge.clear();
        self.bytes = 0;
    }
}

pub(crate) fn row_bytes(row: Option<&[Value]>) -> usize {
    let heap = |row: &[Value]| row.iter().map(Value::heap_bytes).sum::<usize>();
    row.map_or(0, |row| size_of_val(row) + heap(row))
}

/// An open cursor of a client.
pub(crate) struct ApiCursor {
    pub(super) cursor: Arc<Mutex<Cursor>>,
    pub(super) wish: Wish,
    pub(super) window: Window,
    pub(super) buffer: FetchBuffer,
    /// The name that sp_cursoroption gave the cursor.
    pub(super) alias: Option<String>,
}

/// The cursors of a client by handle.
#[derive(Default)]
pub(crate) struct ApiCursors {
    pub(super) open: BTreeMap<i32, ApiCursor>,
    pub(super) opened: i32,
    /// The statements that sp_cursorprepare keeps.
    pub(crate) prepared: BTreeMap<i32, PreparedCursor>,
}

/// A statement that sp_cursorprepare has prepared.
#[derive(Clone)]
pub(crate) struct PreparedCursor {
    pub(crate) parameters: String,
    pub(crate) text: String,
    pub(crate) wish: Wish,
}

/// The result of an open: the output parameters of sp_cursoropen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenResult {
    /// 0 if the statement ran without a cursor.
    pub(crate) handle: i32,
    pub(crate) scroll: i32,
    pub(crate) concurrency: i32,
    /// -1 if unknown.
    pub(crate) rows: i32,
}

impl ApiCursors {
    pub(crate) fn clear(&mut self) {
        *self = ApiCursors { opened: self.opened, ..ApiCursors::default() };
    }

    pub(super) fn get(&self, handle: i32, procedure: &str) -> Result<&ApiCursor, Failure> {
        self.open.get(&handle).ok_or_else(|| unknown(handle, procedure))
    }

    pub(super) fn get_mut(
        &mut self,
        handle: i32,
        procedure: &str,
    ) -> Result<&mut ApiCursor, Failure> {
        self.open.get_mut(&handle).ok_or_else(|| unknown(handle, procedure))
    }
}

/// Error 16909.
pub(crate) fn unknown(handle: i32, procedure: &str) -> Failure {
    let args: [&dyn Display; 2] = [&procedure, &format_args!("{handle:x}")];
    SqlError::new(messages::CURSOR_HANDLE_UNKNOWN, &args).into()
}

impl Wish {
    /// The options of a DECLARE CURSOR that asks for the same.
    pub(super) fn words(self) -> &'static str {
        let has = |bits: i64| self.scroll & bits != 0;
        let reads = self.concurrency & concurrency::READ_ONLY != 0;
        let locks = self.concurrency & concurrency::SCROLL_LOCKS != 0;
        let pick = |words: [&'static str; 3]| match (reads, locks) {
            (true, _) => words[0],
            (false, true) => words[1],
            (false, false) => words[2],
        };
        if has(scroll::FAST_FORWARD) || (has(scroll::FORWARD_ONLY) && reads) {
            return "FAST_FORWARD";
        }
        match () {
            () if has(scroll::STATIC) => "SCROLL STATIC READ_ONLY",
            () if has(scroll::DYNAMIC) => pick([
                "SCROLL DYNAMIC READ_ONLY",
                "SCROLL DYNAMIC SCROLL_LOCKS",
                "SCROLL DYNAMIC OPTIMISTIC",
            ]),
            () if has(scroll::FORWARD_ONLY) => pick([
                "FAST_FORWARD",
                "FORWARD_ONLY DYNAMIC SCROLL_LOCKS",
                "FORWARD_ONLY DYNAMIC OPTIMISTIC",
            ]),
            () => pick([
                "SCROLL KEYSET READ_ONLY",
                "SCROLL KEYSET SCROLL_LOCKS",
                "SCROLL KEYSET OPTIMISTIC",
            ]),
        }
    }

    pub(super) fn forward_only(self) -> bool {
        self.scroll & (scroll::FORWARD_ONLY | scroll::FAST_FORWARD) != 0
    }

    /// The properties that the cursor got, in the same bits.
    pub(super) fn granted(self, cursor: &Cursor) -> (i32, i32) {
        let scroll = match cursor.kind() {
            _ if self.scroll & scroll::FAST_FORWARD != 0 => scroll::FAST_FORWARD,
            _ if self.forward_only() => scroll::FORWARD_ONLY,
            CursorKind::Static => scroll::STATIC,
            CursorKind::Keyset => scroll::KEYSET,
            CursorKind::Dynamic => scroll::DYNAMIC,
        };
        let asked =
            concurrency::SCROLL_LOCKS | concurrency::OPTIMISTIC | concurrency::OPTIMISTIC_VALUES;
        let concurrency = match self.concurrency & asked {
            _ if cursor.is_read_only() => concurrency::READ_ONLY,
            0 => concurrency::OPTIMISTIC,
            bits => bits,
        };
        (scroll as i32, concurrency as i32)
    }
}

/// The change that sp_cursor makes to a row.
pub(crate) struct ApiChange {
    /// `UPDATE t SET a = @p1` or `DELETE t`
    pub(crate) text: String,
    /// The declarations of its parameters.
    pub(crate) parameters: String,
    /// The columns of the values; empty if the client gave a text.
    pub(crate) columns: Vec<String>,
    pub(crate) values: Vec<(SqlType, Value)>,
}

impl ApiChange {
    /// A change without values.
    pub(crate) fn of_text(text: String) -> ApiChange {
        ApiChange { text, parameters: String::new(), columns: Vec::new(), values: Vec::new() }
    }

    /// The values as arguments.
    pub(crate) fn arguments(&self) -> Vec<CallArgument> {
        let argument = |(sql_type, value): &(SqlType, Value)| CallArgument {
            name: None,
            value: value.clone(),
            sql_type: *sql_type,
            output: false,
            default: false,
            table: None,
        };
        self.values.iter().map(argument).collect()
    }
}

impl Fetch {
    /// The position where a fetch begins, and whether it reads towards the beginning.
    pub(super) fn start(self, window: Window, total: u64) -> (u64, bool) {
        let by = |from: u64, n: i64| match n < 0 {
            true => from.saturating_sub(n.unsigned_abs()),
            false => from.saturating_add(n.unsigned_abs()),
        };
        match self {
            Fetch::First => (1, false),
            Fetch::Next => (window.behind, false),
            Fetch::Prior | Fetch::PriorOnly => (window.first.saturating_sub(1), true),
            Fetch::Last => (total, true),
            Fetch::Absolute(n) if n < 0 => (by(total + 1, n), false),
            Fetch::Absolute(n) => (by(0, n), false),
            Fetch::Relative(n) => (by(window.first, n), false),
            Fetch::Refresh => (window.first, false),
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Fetch::First => "first",
            Fetch::Next => "next",
            Fetch::Prior | Fetch::PriorOnly => "prior",
            Fetch::Last => "last",
            Fetch::Absolute(_) => "absolute",
            Fetch::Relative(_) => "relative",
            Fetch::Refresh => "refresh",
        }
    }
}

/// A name in brackets.
pub(crate) fn bracketed(name: &str) -> String {
    format!("[{}]", name.replace(']', "]]"))
}
