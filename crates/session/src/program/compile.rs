//! From a syntax tree to a [`Program`]: control flow becomes jumps, variables become slots.
//!
//! Recursion follows the nesting of the text, which the parser limits (error 191).

use crate::program::compile_cursor::current_of;
use crate::program::declarer::Declarer;
use crate::program::steps::{
    Place, PlaceId, Program, ProgramParameter, ProgramTable, Source, Step, StepIndex, StepKind,
    TryBlock, UsedType, same_name,
};
use crate::program::variables::ProgramVariables;
use crate::program::variables::{ProgramVariable, VariableKind};
use base::{DatabaseId, ObjectId, SqlError, SqlResult, messages};
use catalog::view::{SchemaId, Table, UserType};
use plan::VariableId;
use plancache::PlanCell;
use std::sync::Arc;
use tsql::ast::{self, Statement, StatementKind as K};
use types::SqlType;

/// The number of statements between two checks whether the request is cancelled.
const LOOK_STATEMENTS: usize = 256;

/// The database of table variables.
const TEMPDB: DatabaseId = DatabaseId(2);

/// The input of one compilation.
pub(crate) struct Unit<'u> {
    pub(crate) text: &'u Arc<str>,
    pub(crate) database: DatabaseId,
    /// The schema in which names without schema are looked up before dbo.
    pub(crate) schema: SchemaId,
    pub(crate) object: ObjectId,
    pub(crate) procedure: Option<&'u str>,
    pub(crate) quoted_identifier: bool,
    pub(crate) ansi_nulls: bool,
    pub(crate) parameters: Vec<ast::Parameter>,
    pub(crate) statements: Vec<Statement>,
    pub(crate) recompile: bool,
    pub(crate) returns: Returns,
    /// Tables that exist from the beginning: those of a trigger, or of a function that returns a
    /// table.
    pub(crate) tables: Vec<GivenTable>,
}

/// What RETURN may return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Returns {
    Nothing,
    /// A status: in a procedure.
    Status,
    /// A value: in a scalar function.
    Value(SqlType),
}

/// A table of [`Unit::tables`].
pub(crate) enum GivenTable {
    Returned(ast::Name, ast::TableDefinition),
    Made(Arc<Table>),
}

/// A WHILE that is being compiled.
struct Loop {
    again: StepIndex,
    depth: usize,
    breaks: Vec<StepIndex>,
}

struct Label {
    name: ast::Name,
    at: StepIndex,
    /// The TRY and CATCH blocks around it, outermost first.
    blocks: Vec<usize>,
    depth: usize,
}

struct Goto {
    step: StepIndex,
    name: ast::Name,
    blocks: Vec<usize>,
}

/// Compiles one program.
pub(crate) struct Compiler<'d, 's> {
    program: Program,
    declarer: &'d mut Declarer<'s>,
    loops: Vec<Loop>,
    labels: Vec<Label>,
    gotos: Vec<Goto>,
    blocks: Vec<usize>,
    blocks_made: usize,
    returns: Returns,
    /// The number of CATCH blocks around.
    depth: usize,
    /// Temporary tables that the text makes and has not dropped since, in the order of the text.
    pub(crate) temporary: Vec<Box<str>>,
    errors: Vec<SqlError>,
}

/// Compiles text that has been parsed.
///
/// # Errors
/// All that is wrong with variables and labels, each with its line.
pub(crate) fn compile(
    unit: Unit<'_>,
    declarer: &mut Declarer<'_>,
) -> Result<Program, Vec<SqlError>> {
    let program = Program {
        text: Arc::clone(unit.text),
        procedure: unit.procedure.map(Into::into),
        object: unit.object,
        database: unit.database,
        schema: unit.schema,
        parameters: Vec::new(),
        variables: ProgramVariables::default(),
        tables: Vec::new(),
        types: Vec::new(),
        steps: Vec::new(),
        places: Vec::new(),
        handlers: Vec::new(),
        quoted_identifier: unit.quoted_identifier,
        ansi_nulls: unit.ansi_nulls,
        recompile: unit.recompile,
        unguarded: bind::SkippedGuards::default(),
        shell: None,
    };
    let mut compiler = Compiler {
        program,
        declarer,
        loops: Vec::new(),
        labels: Vec::new(),
        gotos: Vec::new(),
        blocks: Vec::new(),
        blocks_made: 0,
        returns: unit.returns,
        depth: 0,
        temporary: Vec::new(),
        errors: Vec::new(),
    };
    // Names in the module's head were resolved at its creation, in the schema of its creator.
    compiler.declarer.schema = SchemaId::DBO;
    for parameter in unit.parameters {
        compiler.parameter(parameter);
    }
    for table in unit.tables {
        compiler.given_table(table);
    }
    compiler.declarer.schema = unit.schema;
    compiler.statements(unit.statements);
    compiler.resolve_gotos();
    compiler.errors.extend(crate::showplan::describe::not_alone(&compiler.program));
    if compiler.errors.is_empty() { Ok(compiler.program) } else { Err(compiler.errors) }
}

impl Compiler<'_, '_> {
    fn parameter(&mut self, parameter: ast::Parameter) {
        if parameter.type_name.is_cursor() {
            return self.cursor_parameter(&parameter);
        }
        let ast::Parameter { name, type_name, default, output, read_only, span, .. } = parameter;
        if let Some(user_type) = self.user_type(&type_name).filter(|t| t.table().is_some()) {
            return self.table_parameter(&name, &user_type, read_only, span);
        }
        if read_only {
            let e = SqlError::new(messages::READONLY_OF_SCALAR, &[&name]);
            self.errors.push(e.at_line(span.line));
        }
        let Some(id) = self.declare(&name, &type_name, false) else { return };
        let wanted = self.program.variables[id.0 as usize].sql_type;
        // A default value cannot refer to a parameter.
        let default = default.map(|value| {
            let place = self.place(Source::Scalar(value, Some(wanted)), span.line);
            self.program.places[place].visible = 0;
            place
        });
        self.program.parameters.push(ProgramParameter {
            output,
            table: None,
            cursor: false,
            default,
        });
    }

    /// A table-valued parameter, which must be READONLY (352).
    fn table_parameter(
        &mut self,
        name: &ast::Name,
        user_type: &Arc<UserType>,
        read_only: bool,
        span: ast::Span,
    ) {
        if !read_only {
            let e = SqlError::new(messages::READONLY_MISSING, &[name]);
            self.errors.push(e.at_line(span.line));
        }
        let number = self.declare_of_type(name, user_type, true);
        let parameter =
            ProgramParameter { output: false, table: number, cursor: false, default: None };
        self.program.parameters.push(parameter);
    }

    /// The user type that a name means; `None` for a system type, or if there is none.
    pub(crate) fn user_type(&mut self, written: &ast::TypeName) -> Option<Arc<UserType>> {
        let first = self.declarer.schema;
        let found = self.declarer.user_type(written)?;
        self.program.types.push(UsedType {
            schema: written.name.schema.as_ref().map(|s| s.text.clone()),
            name: written.name.object.text.clone(),
            first,
            object: found.object_id,
        });
        Some(found)
    }

    /// Declares a table variable of a table type. Returns its number.
    fn declare_of_type(
        &mut self,
        name: &ast::Name,
        user_type: &Arc<UserType>,
        read_only: bool,
    ) -> Option<u16> {
        if !self.is_free(name) {
            return None;
        }
        let number = self.next_table(name)?;
        let table = ddl::variable_of(user_type, name, number)?;
        let definition = Arc::new(Table { database: TEMPDB, ..table });
        let of = Some(Arc::clone(user_type));
        self.add_table(name, ProgramTable { definition, of, read_only });
        Some(number)
    }

    /// The number of the next table variable.
    fn next_table(&mut self, name: &ast::Name) -> Option<u16> {
        // Numbers from CAPTURES on are those of the rows that triggers see.
        let next = u16::try_from(self.program.tables.len()).ok().filter(|n| *n < plan::CAPTURES);
        if next.is_none() {
            let what = "more than 65,280 table variables";
            self.errors.push(SqlError::new(messages::NOT_SUPPORTED, &[&what]).at_line(name.line));
        }
        next
    }

    fn add_table(&mut self, name: &str, table: ProgramTable) {
        let holds = VariableKind::Table(self.program.tables.len() as u16);
        self.program.tables.push(table);
        self.program.variables.push(ProgramVariable {
            name: name.into(),
            sql_type: SqlType::Int,
            holds,
        });
    }

    /// Declares a scalar variable (`local`), or a parameter.
    fn declare(
        &mut self,
        name: &ast::Name,
        type_name: &ast::TypeName,
        local: bool,
    ) -> Option<VariableId> {
        if !self.is_free(name) {
            return None;
        }
        let alias = self.user_type(type_name).and_then(|t| t.alias());
        match alias.map_or_else(|| bind::declared_type(type_name, 1), Ok) {
            Ok(sql_type) if local && sql_type.is_text_image() => {
                let e = SqlError::new(messages::TEXT_VARIABLE, &[]);
                self.errors.push(e.at_line(name.line));
                None
            }
            Ok(sql_type) => {
                let id = VariableId(self.program.variables.len() as u32);
                let (name, holds) = (name.text.clone(), VariableKind::Scalar);
                self.program.variables.push(ProgramVariable { name, sql_type, holds });
                Some(id)
            }
            Err(e) => {
                let e = self.of_variable(e, name, type_name);
                self.errors.push(e.at_line(name.line));
                None
            }
        }
    }

    /// The error of a wrong type in the declaration of a variable.
    fn of_variable(&self, e: SqlError, name: &ast::Name, written: &ast::TypeName) -> SqlError {
        let bare = SqlType::by_name(&written.name.object, 1);
        let wide = matches!(bare, Some(SqlType::NChar(_) | SqlType::NVarChar(_)));
        match &written.arguments {
            _ if e.number() == messages::TYPE_UNKNOWN.number => {
                let number = self.program.variables.len() + 1;
                SqlError::new(messages::DATA_TYPE_NOT_FOUND, &[&number, &written.name])
            }
            ast::TypeArguments::One(size)
                if wide && e.number() == messages::SIZE_EXCEEDS_MAX.number =>
            {
                let args: [&dyn std::fmt::Display; 4] = [size, &"parameter", name, &4000];
                SqlError::new(messages::SIZE_EXCEEDS_COLUMN, &args).with_state(2)
            }
            _ => e,
        }
    }

    /// Whether no variable has the name yet; else error 134.
    fn is_free(&mut self, name: &ast::Name) -> bool {
        let free = self.program.variables.find(name, usize::MAX).is_none();
        if !free {
            let e = SqlError::new(messages::VARIABLE_DUPLICATE, &[name]);
            self.errors.push(e.at_line(name.line));
        }
        free
    }

    /// Declares a table variable. It exists from here on, without a step of its own.
    fn declare_table(&mut self, name: &ast::Name, definition: &ast::TableDefinition) {
        self.add_declared(name, definition, Arc::new);
    }

    fn add_declared(
        &mut self,
        name: &ast::Name,
        definition: &ast::TableDefinition,
        made: impl FnOnce(Table) -> Arc<Table>,
    ) {
        if !self.is_free(name) {
            return;
        }
        let Some(number) = self.next_table(name) else { return };
        match self.declarer.table(name, number, definition) {
            Ok(table) => {
                let definition = made(table);
                let table = ProgramTable { definition, of: None, read_only: false };
                self.add_table(name, table);
            }
            Err(e) => self.errors.push(e.at_line(name.line)),
        }
    }

    fn given_table(&mut self, table: GivenTable) {
        match table {
            GivenTable::Returned(name, definition) => {
                self.add_declared(&name, &definition, all_stored);
            }
            GivenTable::Made(definition) => {
                let name = definition.name.clone();
                self.add_table(&name, ProgramTable { definition, of: None, read_only: true });
            }
        }
    }

    /// Declares a cursor variable or parameter. It exists from here on, without a cursor.
    pub(crate) fn declare_cursor(&mut self, name: &ast::Name) {
        if self.is_free(name) {
            let (name, holds) = (name.text.clone(), VariableKind::Cursor);
            let sql_type = SqlType::Int;
            self.program.variables.push(ProgramVariable { name, sql_type, holds });
        }
    }

    /// Records an error of the text. Compilation goes on.
    pub(crate) fn refuse(&mut self, e: SqlError) {
        self.errors.push(e);
    }

    pub(crate) fn add_parameter(&mut self, parameter: ProgramParameter) {
        self.program.parameters.push(parameter);
    }

    /// Whether the text is that of a module.
    pub(crate) fn is_of_module(&self) -> bool {
        self.program.procedure.is_some()
    }

    /// A variable that must have been declared (137).
    pub(crate) fn variable(&mut self, name: &ast::Name) -> SqlResult<(VariableId, SqlType)> {
        let found = self.program.variables.scalar(name, usize::MAX);
        let found = found.or_else(|| self.declarer.undeclared(name).map(|id| (id, SqlType::Int)));
        let message = match self.is_cursor_variable(name) {
            true => messages::CURSOR_VARIABLE_HERE,
            false => messages::VARIABLE_UNDECLARED,
        };
        found.ok_or_else(|| SqlError::new(message, &[name]).with_state(1).at_line(name.line))
    }

    /// The number of a table variable.
    pub(crate) fn table_variable(&self, name: &ast::Name) -> Option<u16> {
        self.program.variables.table(name, usize::MAX)
    }

    /// Whether a name is that of a cursor variable.
    pub(crate) fn is_cursor_variable(&self, name: &str) -> bool {
        let variables = &self.program.variables;
        variables
            .find(name, usize::MAX)
            .is_some_and(|at| variables[at].holds == VariableKind::Cursor)
    }

    /// Whether a name is that of any variable.
    pub(crate) fn is_variable(&self, name: &str) -> bool {
        self.program.variables.find(name, usize::MAX).is_some()
    }

    pub(crate) fn returns(&self) -> Returns {
        self.returns
    }

    pub(crate) fn is_within_catch(&self) -> bool {
        self.depth > 0
    }

    pub(crate) fn place(&mut self, source: Source, line: u32) -> PlaceId {
        let visible = self.program.variables.len();
        self.program.places.push(Place {
            source,
            cell: PlanCell::default(),
            last: os::sync::Mutex::default(),
            visible,
            line,
        });
        self.program.places.len() - 1
    }

    pub(crate) fn scalar(&mut self, expr: ast::Expr, wanted: Option<SqlType>) -> PlaceId {
        let line = expr.span.line;
        self.place(Source::Scalar(expr, wanted), line)
    }

    fn step(&mut self, kind: StepKind, span: ast::Span) -> StepIndex {
        self.program.steps.push(Step { kind, span });
        self.program.steps.len() - 1
    }

    fn here(&self) -> StepIndex {
        self.program.steps.len()
    }

    fn statements(&mut self, statements: Vec<Statement>) {
        for (n, statement) in statements.into_iter().enumerate() {
            if n % LOOK_STATEMENTS == LOOK_STATEMENTS - 1
                && let Err(why) = os::values::look()
            {
                // A text that is given up reports nothing else.
                self.errors = vec![why];
                return;
            }
            let line = statement.span.line;
            if let Err(e) = self.statement(statement) {
                self.errors.push(e.at_line(line));
            }
        }
    }

    fn statement(&mut self, statement: Statement) -> SqlResult<()> {
        let span = statement.span;
        self.note_temporary(&statement.kind)?;
        match statement.kind {
            K::Insert(it) if matches!(it.source, ast::InsertSource::Execute(_)) => {
                let kind = self.insert_execute(it, span)?;
                self.step(kind, span);
            }
            K::Select(s) if bind::into_of(&s).is_some() => {
                let kind = K::Select(s);
                let source = Source::Into(Statement { kind, ..statement });
                let place = self.place(source, span.line);
                self.step(StepKind::SelectInto(place), span);
            }
            K::Update(_) | K::Delete(_) if current_of(&statement).is_some() => {
                if let Some(cursor) = current_of(&statement).cloned() {
                    let kind = self.change_current(statement, cursor)?;
                    self.step(kind, span);
                }
            }
            K::Select(s) if bind::mixes_assignment(&s.query) => {
                return Err(SqlError::new(messages::SELECT_ASSIGN_MIXED, &[]));
            }
            K::Select(_) | K::Insert(_) | K::Update(_) | K::Delete(_) | K::Merge(_) => {
                let place = self.place(Source::Statement(statement), span.line);
                self.step(StepKind::Run(place), span);
            }
            K::Block(body) => self.statements(body),
            K::If(it) => self.if_else(*it, span)?,
            K::While(it) => self.while_loop(*it, span)?,
            K::TryCatch(it) => self.try_catch(*it, span),
            K::Break | K::Continue => self.leave_loop(matches!(statement.kind, K::Break), span)?,
            K::Label(name) => self.label(name),
            K::Goto(name) => {
                let step = self.step(StepKind::Jump { to: 0, depth: self.depth }, span);
                self.gotos.push(Goto { step, name, blocks: self.blocks.clone() });
            }
            K::Declare(list) => {
                for declaration in list {
                    self.declaration(declaration, span)?;
                }
            }
            K::SetVariable(it) => self.set_variable(*it, span)?,
            _ => {
                let kind = self.simple(statement)?;
                self.step(kind, span);
            }
        }
        Ok(())
    }

    fn condition(&mut self, condition: ast::Condition, span: ast::Span) -> StepIndex {
        let place = self.place(Source::Condition(condition), span.line);
        self.step(StepKind::Branch { place, otherwise: 0 }, span)
    }

    fn if_else(&mut self, it: ast::If, span: ast::Span) -> SqlResult<()> {
        let branch = self.condition(it.condition, span);
        self.statement(it.then)?;
        let Some(otherwise) = it.otherwise else {
            self.aim(branch, self.here());
            return Ok(());
        };
        let over = self.step(StepKind::Jump { to: 0, depth: self.depth }, span);
        self.aim(branch, self.here());
        self.statement(otherwise)?;
        self.aim(over, self.here());
        Ok(())
    }

    fn while_loop(&mut self, it: ast::While, span: ast::Span) -> SqlResult<()> {
        let again = self.here();
        let branch = self.condition(it.condition, span);
        self.loops.push(Loop { again, depth: self.depth, breaks: Vec::new() });
        let body = self.statement(it.body);
        self.step(StepKind::Jump { to: again, depth: self.depth }, span);
        let end = self.here();
        self.aim(branch, end);
        let finished = self.loops.pop().expect("pushed above");
        for step in finished.breaks {
            self.aim(step, end);
        }
        body
    }

    fn leave_loop(&mut self, leave: bool, span: ast::Span) -> SqlResult<()> {
        let Some(around) = self.loops.last() else {
            let message = if leave {
                messages::BREAK_OUTSIDE_WHILE
            } else {
                messages::CONTINUE_OUTSIDE_WHILE
            };
            return Err(SqlError::new(message, &[]));
        };
        let jump = StepKind::Jump { to: around.again, depth: around.depth };
        let step = self.step(jump, span);
        if leave && let Some(around) = self.loops.last_mut() {
            around.breaks.push(step);
        }
        Ok(())
    }

    fn try_catch(&mut self, it: ast::TryCatch, span: ast::Span) {
        let from = self.here();
        self.enter_block();
        self.statements(it.body);
        self.blocks.pop();
        let over = self.step(StepKind::Jump { to: 0, depth: self.depth }, span);
        let catch = self.here();
        self.program.handlers.push(TryBlock { from, to: over, catch, depth: self.depth });
        self.enter_block();
        self.depth += 1;
        self.statements(it.handler);
        self.depth -= 1;
        self.blocks.pop();
        self.step(StepKind::LeaveCatch, span);
        self.aim(over, self.here());
    }

    fn enter_block(&mut self) {
        self.blocks_made += 1;
        self.blocks.push(self.blocks_made);
    }

    /// Sets the target of a jump or branch.
    fn aim(&mut self, step: StepIndex, target: StepIndex) {
        match &mut self.program.steps[step].kind {
            StepKind::Jump { to, .. } => *to = target,
            StepKind::Branch { otherwise, .. } => *otherwise = target,
            _ => debug_assert!(false, "only jumps are aimed"),
        }
    }

    fn label(&mut self, name: ast::Name) {
        if self.labels.iter().any(|l| same_name(&l.name, &name)) {
            let e = SqlError::new(messages::LABEL_DUPLICATE, &[&name]);
            self.errors.push(e.at_line(name.line));
        }
        let (at, blocks, depth) = (self.here(), self.blocks.clone(), self.depth);
        self.labels.push(Label { name, at, blocks, depth });
    }

    fn resolve_gotos(&mut self) {
        for goto in std::mem::take(&mut self.gotos) {
            let Some(label) = self.labels.iter().find(|l| same_name(&l.name, &goto.name)) else {
                let e = SqlError::new(messages::LABEL_UNKNOWN, &[&goto.name]);
                self.errors.push(e.at_line(goto.name.line));
                continue;
            };
            if !goto.blocks.starts_with(&label.blocks) {
                let e = SqlError::new(messages::GOTO_INTO_TRY, &[]);
                self.errors.push(e.at_line(goto.name.line));
                continue;
            }
            let target = StepKind::Jump { to: label.at, depth: label.depth };
            self.program.steps[goto.step].kind = target;
        }
    }

    fn declaration(&mut self, it: ast::Declaration, span: ast::Span) -> SqlResult<()> {
        match it.kind {
            ast::DeclarationKind::Scalar { type_name, value } => {
                // An initialiser does not see its own variable.
                let table_type = self.user_type(&type_name).filter(|t| t.table().is_some());
                if let Some(user_type) = table_type {
                    if value.is_some() {
                        let args: [&dyn std::fmt::Display; 2] = [&"int", &user_type.name];
                        return Err(SqlError::new(messages::OPERAND_CLASH, &args));
                    }
                    self.declare_of_type(&it.name, &user_type, false);
                    return Ok(());
                }
                let place = value.map(|v| self.scalar(v, None));
                let Some(variable) = self.declare(&it.name, &type_name, true) else {
                    return Ok(());
                };
                let Some(place) = place else { return Ok(()) };
                let wanted = self.program.variables[variable.0 as usize].sql_type;
                if let Source::Scalar(_, target) = &mut self.program.places[place].source {
                    *target = Some(wanted);
                }
                self.step(StepKind::Assign { variable, place, declares: true }, span);
            }
            ast::DeclarationKind::Table(definition) => self.declare_table(&it.name, &definition),
            ast::DeclarationKind::Cursor => {
                self.declare_cursor(&it.name);
            }
        }
        Ok(())
    }

    fn set_variable(&mut self, it: ast::SetVariable, span: ast::Span) -> SqlResult<()> {
        let (op, value) = match it.value {
            ast::SetVariableValue::Expr { op: ast::AssignOp::Set, value }
                if self.is_cursor_variable(&it.variable) =>
            {
                let step = self.cursor_assignment(&it.variable, &value)?;
                self.step(step, span);
                return Ok(());
            }
            ast::SetVariableValue::Expr { op, value } => (op, value),
            ast::SetVariableValue::Cursor(definition) => {
                if !self.is_cursor_variable(&it.variable) {
                    return Err(self.no_cursor(&it.variable));
                }
                let step = self.cursor(&it.variable, *definition, span)?;
                self.step(step, span);
                return Ok(());
            }
            ast::SetVariableValue::Method { method, arguments } => {
                let (variable, sql_type) = self.variable(&it.variable)?;
                let kind = ast::ExprKind::Variable(it.variable);
                let target = ast::MethodTarget::Value(ast::Expr { kind, span });
                let call = ast::MethodCall { target, method, arguments, mutator: true };
                let kind = ast::ExprKind::Method(Box::new(call));
                let place = self.scalar(ast::Expr { kind, span }, Some(sql_type));
                self.step(StepKind::Assign { variable, place, declares: false }, span);
                return Ok(());
            }
        };
        let (variable, sql_type) = self.variable(&it.variable)?;
        let value = match arithmetic(op) {
            None => value,
            Some(op) => compound(it.variable, op, value),
        };
        let wanted = bind::untyped_parameter(variable).is_none().then_some(sql_type);
        let place = self.scalar(value, wanted);
        self.step(StepKind::Assign { variable, place, declares: false }, span);
        Ok(())
    }
}

/// `@v op= x` is `@v = @v op x`.
fn compound(variable: ast::Name, op: ast::BinaryOp, value: ast::Expr) -> ast::Expr {
    let span = value.span;
    let first = ast::Expr { kind: ast::ExprKind::Variable(variable), span };
    let rest = vec![ast::ArithmeticTerm { op, operand: value }];
    let arithmetic = Box::new(ast::Arithmetic { first, rest });
    ast::Expr { kind: ast::ExprKind::Arithmetic(arithmetic), span }
}

fn arithmetic(op: ast::AssignOp) -> Option<ast::BinaryOp> {
    use ast::{AssignOp as A, BinaryOp as B};
    Some(match op {
        A::Set => return None,
        A::Add => B::Add,
        A::Subtract => B::Subtract,
        A::Multiply => B::Multiply,
        A::Divide => B::Divide,
        A::Modulo => B::Modulo,
        A::BitAnd => B::BitAnd,
        A::BitXor => B::BitXor,
        A::BitOr => B::BitOr,
    })
}

/// The table that a function returns. Its caller reads the rows by position, so the rows contain
/// the computed columns, too, each in its place.
fn all_stored(mut table: Table) -> Arc<Table> {
    for (n, column) in table.columns.iter_mut().enumerate() {
        column.physical = u16::try_from(n).ok();
    }
    Arc::new(table)
}
