//! Compiled statements about cursors: steps of a program.

use crate::answer::sink::Command;
use crate::program::steps::PlaceId;
use plan::VariableId;
use tsql::ast;

/// A compiled DECLARE CURSOR or SET `@c` = CURSOR.
#[derive(Debug)]
pub(crate) struct CursorDeclaration {
    pub(crate) name: Box<str>,
    pub(crate) place: PlaceId,
    pub(crate) again: Option<PlaceId>,
    pub(crate) local: bool,
    pub(crate) scroll: bool,
    pub(crate) kind: CursorKind,
    pub(crate) read_only: bool,
    /// FOR UPDATE
    pub(crate) for_update: bool,
    /// FOR UPDATE OF
    pub(crate) listed: Vec<Box<str>>,
    /// Whether SET ROWCOUNT limits its rows; not those of FAST_FORWARD.
    pub(crate) bounded: bool,
    /// TYPE_WARNING
    pub(crate) warns: bool,
}

/// A statement about a declared cursor.
#[derive(Debug)]
pub(crate) enum CursorStep {
    Declare(CursorDeclaration),
    /// SET `@c` = another cursor.
    Assign {
        variable: Box<str>,
        from: ast::CursorName,
    },
    Open(ast::CursorName),
    Fetch {
        from: ast::CursorName,
        direction: Direction,
        into: Vec<VariableId>,
    },
    /// WHERE CURRENT OF: the columns that are set; empty for DELETE.
    Change {
        cursor: ast::CursorName,
        place: PlaceId,
        columns: Vec<Box<str>>,
    },
    Close(ast::CursorName),
    Deallocate(ast::CursorName),
}

/// The row to fetch.
#[derive(Debug)]
pub(crate) enum Direction {
    Next,
    Prior,
    First,
    Last,
    Absolute(PlaceId),
    Relative(PlaceId),
}

/// Which changes a cursor sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CursorKind {
    Static,
    Keyset,
    Dynamic,
}

impl CursorStep {
    /// The command of its DONE. A declaration has none; a statement that sends or changes rows has
    /// its own.
    pub(crate) fn ends_with(&self) -> Option<Command> {
        match self {
            CursorStep::Declare(_) | CursorStep::Change { .. } => None,
            CursorStep::Fetch { into, .. } if into.is_empty() => None,
            CursorStep::Open(_) => Some(Command::OpenCursor),
            CursorStep::Assign { .. } => Some(Command::Set),
            CursorStep::Fetch { .. } | CursorStep::Close(_) | CursorStep::Deallocate(_) => {
                Some(Command::Other)
            }
        }
    }
}

impl Direction {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Direction::Next => "NEXT",
            Direction::Prior => "prior",
            Direction::First => "first",
            Direction::Last => "last",
            Direction::Absolute(_) => "absolute",
            Direction::Relative(_) => "relative",
        }
    }
}
