//! The statement: the one enum that the session dispatches on.
#![expect(missing_docs, reason = "variants carry what their name says")]

use super::*;

/// All the text between two GO lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    pub statements: Vec<Statement>,
}

/// One statement and its place, without the semicolon.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    pub kind: StatementKind,
    pub span: Span,
}

/// See [`Statement`].
#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    Select(Box<SelectStatement>),
    Insert(Box<Insert>),
    Update(Box<Update>),
    Delete(Box<Delete>),
    Merge(Box<Merge>),
    Truncate(Box<Truncate>),
    BulkInsert(Box<BulkInsert>),
    InsertBulk(Box<InsertBulk>),

    Declare(Vec<Declaration>),
    SetVariable(Box<SetVariable>),
    SetOption(Box<SetOption>),
    SetIsolation(IsolationLevel),
    SetIdentityInsert {
        table: Box<ObjectName>,
        on: bool,
    },
    If(Box<If>),
    While(Box<While>),
    Break,
    Continue,
    Return(Option<Box<Expr>>),
    Goto(Name),
    Label(Name),
    /// `BEGIN … END`
    Block(Vec<Statement>),
    TryCatch(Box<TryCatch>),
    /// None rethrows.
    Throw(Option<Box<Throw>>),
    RaiseError(Box<RaiseError>),
    Print(Box<Expr>),
    Execute(Box<Execute>),
    ExecuteAs(Box<ExecuteAs>),
    Revert,
    WaitFor(Box<WaitFor>),
    Transaction(Box<Transaction>),
    Use(Name),

    DeclareCursor(Box<DeclareCursor>),
    OpenCursor(CursorName),
    Fetch(Box<Fetch>),
    CloseCursor(CursorName),
    DeallocateCursor(CursorName),

    CreateDatabase(Box<CreateDatabase>),
    AlterDatabase(Box<AlterDatabase>),
    CreateSchema(Box<CreateSchema>),
    CreateTable(Box<CreateTable>),
    AlterTable(Box<AlterTable>),
    CreateIndex(Box<CreateIndex>),
    AlterIndex(Box<AlterIndex>),
    CreateStatistics(Box<CreateStatistics>),
    UpdateStatistics(Box<UpdateStatistics>),
    CreatePartitionFunction(Box<CreatePartitionFunction>),
    AlterPartitionFunction(Box<AlterPartitionFunction>),
    CreatePartitionScheme(Box<CreatePartitionScheme>),
    Procedure(Box<Procedure>),
    View(Box<View>),
    Function(Box<Function>),
    Trigger(Box<Trigger>),
    SwitchTrigger(Box<SwitchTrigger>),
    CreateType(Box<CreateType>),
    Sequence(Box<Sequence>),
    CreateSynonym(Box<CreateSynonym>),
    AlterSchema(Box<AlterSchema>),
    Drop(Box<Drop>),

    Checkpoint(Option<Box<Expr>>),
    Kill(Box<Kill>),
    Dbcc(Box<Dbcc>),
    Reconfigure {
        with_override: bool,
    },
    Shutdown {
        nowait: bool,
    },
    Permission(Box<Permission>),
    AlterServerConfiguration(Box<AlterServerConfiguration>),
    Opaque(Box<OpaqueStatement>),
}
