//! Statements about cursors, compiled: steps of a program.

use crate::answer::sink::Command;
use crate::program::steps::PlaceId;
use plan::VariableId;
use tsql::ast;

/// A DECLARE CURSOR or SET `@c` = CURSOR, compiled.
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
    /// SET ROWCOUNT bounds it: not FAST_FORWARD.
    pub(crate) bounded: bool,
    /// TYPE_WARNING
    pub(crate) warns: bool,
}

/// A statement about a cursor that is there.
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
    /// WHERE CURRENT OF: the columns that are set, none of a DELETE.
    Change {
        cursor: ast::CursorName,
        place: PlaceId,
        columns: Vec<Box<str>>,
    },
    Close(ast::CursorName),
    Deallocate(ast::CursorName),
}

/// Which row is fetched.
#[derive(Debug)]
pub(crate) enum Direction {
    Next,
    Prior,
    First,
    Last,
    Absolute(PlaceId),
    Relative(PlaceId),
}

/// What a cursor sees of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CursorKind {
    Static,
    Keyset,
    Dynamic,
}

impl CursorStep {
    /// The command of the DONE that it ends with. A declaration has none, what sends rows or
    /// changes them has its own.
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
