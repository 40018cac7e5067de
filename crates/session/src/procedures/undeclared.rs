//! `sp_describe_undeclared_parameters @tsql [, @params]`: the parameters that a text uses and does
//! not declare, with deduced types.
//!
//! The text is compiled and bound, not run. `bind` records what each place says about a parameter
//! ([`bind::Deduction`]); here one type is chosen from that (the reference: "Parameter selection
//! algorithm"). A user type is reported as its base type. Arguments of system procedures get no
//! type here (11502).

use super::describe::on_the_wire;
use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::answer::sink::DoneScope;
use crate::host::rowset::Rowset;
use crate::procedures::call::{Call, CallArgument};
use crate::program::compile::{Returns, Unit, compile};
use crate::program::programs::Errors;
use crate::program::steps::{
    ArgumentValue, Execute, ExecuteTarget, Program, Source, StepKind, same_name,
};
use crate::request::execute::place_of;
use crate::session::Session;
use crate::session::settings::Switches;
use crate::session::state::{Origin, State};
use base::{ObjectId, SqlError, messages};
use bind::{Deduction, Inference, UndeclaredType, candidates, untyped_parameter};
use catalog::view::SchemaId;
use plan::{Statement, VariableId};
use std::cell::{Cell, RefCell};
use tsql::ast::StatementKind;
use types::{SqlType, Value, check_implicit};

const NAME: &str = "sp_describe_undeclared_parameters";

/// A call, too, cannot have more parameters.
const PARAMETERS_MAX: usize = 2_100;

/// What is known of the parameters of a text, in the order in which they appear.
#[derive(Default)]
struct Deducer {
    names: RefCell<Vec<Box<str>>>,
    learned: RefCell<Vec<Vec<Inference>>>,
    trying: Cell<Option<(u16, SqlType)>>,
    cost: Cell<u32>,
}

impl Deduction for Deducer {
    fn undeclared(&self, name: &str) -> UndeclaredType {
        let mut names = self.names.borrow_mut();
        let known = names.iter().position(|n| same_name(n, name));
        let at = known.unwrap_or_else(|| {
            names.push(name.into());
            names.len() - 1
        });
        match (u16::try_from(at), self.trying.get()) {
            (Ok(at), Some((tried, sql_type))) if tried == at => UndeclaredType::Tried(sql_type),
            (Ok(at), _) => UndeclaredType::Untyped(at),
            (Err(_), _) => UndeclaredType::No,
        }
    }

    fn learn(&self, parameter: u16, what: Inference) {
        let mut learned = self.learned.borrow_mut();
        let at = usize::from(parameter);
        if learned.len() <= at {
            learned.resize(at + 1, Vec::new());
        }
        if self.trying.get().is_none() && !learned[at].contains(&what) {
            learned[at].push(what);
        }
    }

    fn cost(&self, cost: u32) {
        self.cost.set(self.cost.get().saturating_add(cost));
    }
}

/// A parameter with its type.
struct DeducedParameter {
    name: Box<str>,
    sql_type: SqlType,
    /// Whether this is one of the types that are tried; the answer then says numeric.
    general: bool,
    output: bool,
    formal: Option<Box<str>>,
}

pub(crate) fn run(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let facts: [&dyn std::fmt::Display; 2] = [&NAME, &"@tsql"];
    let missing = || SqlError::new(messages::EXECUTE_ARGUMENT_COUNT, &facts);
    let text = call.text("@tsql", 0).ok_or_else(missing)?;
    let parameters = call.text("@params", 1).unwrap_or_default();
    let deduced = match session.deduce(&parameters, &text) {
        Ok(deduced) => deduced,
        Err(mut errors) => {
            // A cancelled request reports nothing but the cancellation.
            session.work.owner().waiter().check().map_err(SqlError::from)?;
            if !errors.iter().all(is_of_deduction) {
                errors.push(SqlError::new(messages::DESCRIBE_COMPILE, &[]));
            }
            let errors = errors.into_iter().map(|e| e.at_line(1)).collect();
            return Err(session.tell_all(errors, DoneScope::InProcedure, out));
        }
    };
    let rows = deduced.iter().zip(1..).map(|(d, at)| row(d, at)).collect();
    session.send_rowset(&Rowset { columns: shape(), rows }, out, DoneScope::InProcedure)?;
    Ok(0)
}

/// Whether an error is about the parameters, and not about the text.
fn is_of_deduction(e: &SqlError) -> bool {
    (messages::DEDUCE_NOT_HERE.number..=messages::DEDUCE_TEMP_TABLE.number).contains(&e.number())
}

impl Session {
    fn deduce(&mut self, parameters: &str, text: &str) -> Result<Vec<DeducedParameter>, Errors> {
        let options = self.state.settings.parse_options();
        let declared = tsql::parse_parameters(parameters, options).map_err(|e| vec![e])?;
        let parsed = tsql::parse(text, options);
        if !parsed.errors.is_empty() {
            return Err(parsed.errors);
        }
        let text = text.into();
        let unit = Unit {
            text: &text,
            database: self.state.database.id,
            schema: SchemaId::DBO,
            object: ObjectId(0),
            procedure: None,
            quoted_identifier: self.state.settings.is_on(Switches::QUOTED_IDENTIFIER),
            ansi_nulls: self.state.settings.is_on(Switches::ANSI_NULLS),
            parameters: declared,
            statements: parsed.batch.statements,
            recompile: false,
            returns: Returns::Nothing,
            tables: Vec::new(),
        };
        let mut declarer = self.declarer(self.state.database.id, &text);
        declarer.undeclared = Some(Vec::new());
        let program = compile(unit, &mut declarer)?;
        let names = RefCell::new(declarer.undeclared.take().unwrap_or_default());
        let deducer = Deducer { names, ..Deducer::default() };
        no_temporary_tables(&program)?;
        self.state.learn_places(&program, &deducer)?;
        self.learn_calls(&program, &deducer);
        self.chosen(&program, &deducer)
    }

    /// Records the parameter types of the procedures that the text calls.
    fn learn_calls(&mut self, program: &Program, deducer: &Deducer) {
        for step in &program.steps {
            match &step.kind {
                StepKind::Execute(it) => self.learn_call(it, deducer),
                StepKind::InsertExecute(it) => self.learn_call(&it.execute, deducer),
                _ => {}
            }
        }
    }

    fn learn_call(&mut self, it: &Execute, deducer: &Deducer) {
        if let Some(result) = it.result.and_then(untyped_parameter) {
            deducer.learn(result, Inference::Assigned(SqlType::Int));
        }
        let ExecuteTarget::Procedure(name) = &it.what else { return };
        let from = Origin { database: self.state.database.id, schema: SchemaId::DBO };
        let Some((database, module)) = self.state.find_procedure(name, from) else { return };
        let Ok(entry) = self.procedure_program(database, &module, false) else { return };
        for (at, argument) in it.arguments.iter().enumerate() {
            let ArgumentValue::Variable(id) = argument.value else { continue };
            let Some(parameter) = untyped_parameter(id) else { continue };
            let given = CallArgument {
                name: argument.name.clone(),
                value: Value::Null,
                sql_type: SqlType::Int,
                output: argument.output,
                default: false,
                table: None,
            };
            let Ok(place) = place_of(&entry.value, &module.name, &given, at) else { continue };
            let formal = &entry.value.variables[place];
            deducer.learn(parameter, Inference::Formal(formal.name.clone()));
            deducer.learn(parameter, Inference::Is(formal.sql_type));
            if argument.output {
                deducer.learn(parameter, Inference::Assigned(formal.sql_type));
            }
        }
    }

    /// The parameters in the order of the text, each with its type.
    fn chosen(
        &self,
        program: &Program,
        deducer: &Deducer,
    ) -> Result<Vec<DeducedParameter>, Errors> {
        let met = deducer.names.borrow().clone();
        let written = names_of(&program.text);
        let place = |name: &str| written.iter().position(|w| same_name(w, name));
        let mut order: Vec<usize> = (0..met.len()).collect();
        order.sort_by_key(|&at| place(&met[at]));
        let mut chosen = Vec::with_capacity(met.len());
        for at in order {
            let name = &met[at];
            let times = written.iter().filter(|w| same_name(w, name)).count();
            if times > 1 + formally_named(program, name) {
                return Err(vec![SqlError::new(messages::DEDUCE_TWICE, &[name])]);
            }
            chosen.push(self.choose(program, deducer, at).map_err(|e| vec![e])?);
        }
        Ok(chosen)
    }

    fn choose(
        &self,
        program: &Program,
        deducer: &Deducer,
        at: usize,
    ) -> Result<DeducedParameter, SqlError> {
        let name = deducer.names.borrow()[at].clone();
        let learned = deducer.learned.borrow().get(at).cloned().unwrap_or_default();
        let find = |wanted: fn(&Inference) -> bool| learned.iter().find(|l| wanted(l)).cloned();
        let formal = match find(|l| matches!(l, Inference::Formal(_))) {
            Some(Inference::Formal(formal)) => Some(formal),
            _ => None,
        };
        let assigned = find(|l| matches!(l, Inference::Assigned(_)));
        let deduced = |sql_type, general, output| DeducedParameter {
            name: name.clone(),
            sql_type,
            general,
            output,
            formal: formal.clone(),
        };
        if let Some(Inference::Meets(other)) = find(|l| matches!(l, Inference::Meets(_))) {
            let other = deducer.names.borrow()[usize::from(other)].clone();
            return Err(SqlError::new(messages::DEDUCE_TWO, &[&name, &other]));
        }
        if let Some(Inference::Assigned(sql_type)) = assigned {
            return Ok(deduced(sql_type, false, true));
        }
        let first = learned.iter().find(|l| !matches!(l, Inference::Formal(_)));
        match first {
            Some(Inference::Is(sql_type)) => {
                // A place that accepts values of these types cannot always compare them.
                let strange = *sql_type == SqlType::Xml || sql_type.is_text_image();
                if strange && !self.state.works(program, deducer, at, *sql_type) {
                    return Err(SqlError::new(messages::DEDUCE_NO_TYPE, &[&name]));
                }
                Ok(deduced(*sql_type, false, false))
            }
            Some(Inference::Nothing) => Err(SqlError::new(messages::DEDUCE_NOT_HERE, &[&name])),
            _ if !is_bound(program, deducer, at) => {
                Err(SqlError::new(messages::DEDUCE_NOT_HERE, &[&name]))
            }
            _ => {
                let sql_type = self.tried(program, deducer, at)?;
                Ok(deduced(sql_type, true, false))
            }
        }
    }

    /// The candidate type with the lowest cost of conversions.
    fn tried(&self, program: &Program, deducer: &Deducer, at: usize) -> Result<SqlType, SqlError> {
        let mut best: Option<u32> = None;
        let mut equal: Vec<SqlType> = Vec::new();
        for candidate in candidates() {
            self.work.owner().waiter().check().map_err(SqlError::from)?;
            let works = self.state.works(program, deducer, at, candidate);
            let cost = deducer.cost.get();
            match best {
                _ if !works => {}
                Some(known) if cost > known => {}
                Some(known) if cost == known => equal.push(candidate),
                _ => (best, equal) = (Some(cost), vec![candidate]),
            }
        }
        let name = deducer.names.borrow()[at].clone();
        let Some(&first) = equal.first() else {
            return Err(SqlError::new(messages::DEDUCE_NO_TYPE, &[&name]));
        };
        // The first type has the highest precedence: each other type must convert to it implicitly.
        if let Some(other) = equal.iter().find(|t| check_implicit(**t, first).is_err()) {
            let facts: [&dyn std::fmt::Display; 3] = [&name, &shown(first), &shown(*other)];
            return Err(SqlError::new(messages::DEDUCE_NOT_UNIQUE, &facts));
        }
        Ok(first)
    }
}

impl State {
    /// Binds all statements of the text.
    fn learn_places(&self, program: &Program, deducer: &Deducer) -> Result<(), Errors> {
        let mut errors = Errors::new();
        for place in 0..program.places.len() {
            if matches!(program.places[place].source, Source::CursorRow(..)) {
                continue;
            }
            match self.deduce_place(program, place, deducer) {
                Err(e) => errors.push(e.at_line(program.places[place].line)),
                Ok(bound) => {
                    let Statement::Scalar(x) = &bound.plan.statement else { continue };
                    let of_it = |s: &crate::program::steps::Step| match s.kind {
                        StepKind::Assign { variable, place: of, .. } if of == place => {
                            untyped_parameter(variable)
                        }
                        _ => None,
                    };
                    if let Some(parameter) = program.steps.iter().find_map(of_it) {
                        deducer.learn(parameter, Inference::Assigned(x.ty.sql_type));
                    }
                }
            }
        }
        let names = deducer.names.borrow().len();
        if names > PARAMETERS_MAX {
            errors.push(SqlError::new(messages::INTERNAL, &[&"too many parameters"]));
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// Whether the text can be bound when a parameter has a type. Counts the cost.
    fn works(&self, program: &Program, deducer: &Deducer, at: usize, sql_type: SqlType) -> bool {
        deducer.trying.set(u16::try_from(at).ok().map(|at| (at, sql_type)));
        deducer.cost.set(0);
        let mut places = 0..program.places.len();
        let works = places.all(|place| {
            matches!(program.places[place].source, Source::CursorRow(..))
                || self.deduce_place(program, place, deducer).is_ok()
        });
        deducer.trying.set(None);
        works
    }
}

/// A type as message 11506 names it.
fn shown(t: SqlType) -> String {
    match t {
        SqlType::Decimal { precision, scale } => format!("numeric({precision},{scale})"),
        t => t.to_string(),
    }
}

/// Whether a parameter appears in something that is bound. Other places (FETCH INTO, a
/// transaction's name) do not determine a type.
fn is_bound(program: &Program, deducer: &Deducer, at: usize) -> bool {
    let id = |v: VariableId| untyped_parameter(v).map(usize::from) == Some(at);
    let steps = program.steps.iter().any(|s| match &s.kind {
        StepKind::Execute(it) => {
            it.arguments.iter().any(|a| matches!(a.value, ArgumentValue::Variable(v) if id(v)))
        }
        StepKind::Cursor(_) | StepKind::Transaction(..) => true,
        _ => false,
    });
    !steps || deducer.learned.borrow().get(at).is_some_and(|l| !l.is_empty())
}

/// Error 11525.
fn no_temporary_tables(program: &Program) -> Result<(), Errors> {
    let temporary = |s: &&crate::program::steps::Step| match &s.kind {
        StepKind::Definition(statement) => match &statement.kind {
            StatementKind::CreateTable(it) => it.name.object.starts_with('#'),
            _ => false,
        },
        StepKind::SelectInto(place) => match &program.places[*place].source {
            Source::Into(statement) => match &statement.kind {
                StatementKind::Select(s) => {
                    bind::into_of(s).is_some_and(|into| into.table.object.starts_with('#'))
                }
                _ => false,
            },
            _ => false,
        },
        _ => false,
    };
    let Some(step) = program.steps.iter().find(temporary) else { return Ok(()) };
    let (from, to) = (step.span.start as usize, step.span.end as usize);
    let text = program.text.get(from..to).unwrap_or_default().trim_end();
    Err(vec![SqlError::new(messages::DEDUCE_TEMP_TABLE, &[&text])])
}

/// How often a name occurs as a procedure's parameter in the text: `EXEC p @name = …`.
fn formally_named(program: &Program, name: &str) -> usize {
    let of = |it: &Execute| {
        let named = it.arguments.iter().filter_map(|a| a.name.as_deref());
        named.filter(|n| same_name(n, name)).count()
    };
    let steps = program.steps.iter().map(|s| match &s.kind {
        StepKind::Execute(it) => of(it),
        StepKind::InsertExecute(it) => of(&it.execute),
        _ => 0,
    });
    steps.sum()
}

/// The names of variables in a text, one for each occurrence.
fn names_of(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = match first {
            '\'' | '"' | '[' => quoted(rest, if first == '[' { ']' } else { first }),
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => comment(rest),
            '@' => {
                let length = word(&rest[1..]) + 1;
                if !rest.starts_with("@@") {
                    names.push(&rest[..length]);
                }
                length
            }
            c => word(rest).max(c.len_utf8()),
        };
        rest = rest.get(skipped..).unwrap_or_default();
    }
    names
}

/// The length in bytes of the word at the beginning of a text.
fn word(text: &str) -> usize {
    let within = |c: char| c.is_alphanumeric() || matches!(c, '_' | '@' | '#' | '$');
    text.find(|c: char| !within(c)).unwrap_or(text.len())
}

/// The length in bytes of a quoted text. A doubled quote is part of it.
fn quoted(text: &str, end: char) -> usize {
    text[1..].find(end).map_or(text.len(), |at| at + 2)
}

/// The length in bytes of a comment, which may be nested.
fn comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        match () {
            () if text[at..].starts_with("/*") => (depth, at) = (depth + 1, at + 2),
            () if text[at..].starts_with("*/") => (depth, at) = (depth - 1, at + 2),
            () => at += text[at..].chars().next().map_or(1, char::len_utf8),
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

const BIT: SqlType = SqlType::Bit;

const INT: SqlType = SqlType::Int;

const SYSNAME: SqlType = SqlType::SYSNAME;

/// The columns of the answer.
fn shape() -> Vec<(String, SqlType, bool)> {
    let shape: [(&str, SqlType, bool); 24] = [
        ("parameter_ordinal", INT, false),
        ("name", SYSNAME, false),
        ("suggested_system_type_id", INT, false),
        ("suggested_system_type_name", SqlType::nvarchar(256), true),
        ("suggested_max_length", SqlType::SmallInt, false),
        ("suggested_precision", SqlType::TinyInt, false),
        ("suggested_scale", SqlType::TinyInt, false),
        ("suggested_user_type_id", INT, true),
        ("suggested_user_type_database", SYSNAME, true),
        ("suggested_user_type_schema", SYSNAME, true),
        ("suggested_user_type_name", SYSNAME, true),
        ("suggested_assembly_qualified_type_name", SqlType::nvarchar(4000), true),
        ("suggested_xml_collection_id", INT, true),
        ("suggested_xml_collection_database", SYSNAME, true),
        ("suggested_xml_collection_schema", SYSNAME, true),
        ("suggested_xml_collection_name", SYSNAME, true),
        ("suggested_is_xml_document", BIT, false),
        ("suggested_is_case_sensitive", BIT, false),
        ("suggested_is_fixed_length_clr_type", BIT, false),
        ("suggested_is_input", BIT, false),
        ("suggested_is_output", BIT, false),
        ("formal_parameter_name", SYSNAME, true),
        ("suggested_tds_type_id", INT, false),
        ("suggested_tds_length", INT, false),
    ];
    shape.into_iter().map(|(name, t, nullable)| (name.to_owned(), t, nullable)).collect()
}

fn row(d: &DeducedParameter, ordinal: i32) -> Vec<Value> {
    let t = d.sql_type;
    let numeric = d.general && matches!(t, SqlType::Decimal { .. });
    let id = if numeric { 108 } else { i32::from(t.system_type_id()) };
    let mut row = vec![
        Value::Int(ordinal),
        Value::nvarchar(&d.name),
        Value::Int(id),
        Value::nvarchar(&if numeric { shown(t) } else { t.to_string() }),
        Value::SmallInt(t.max_length()),
        Value::TinyInt(t.precision()),
        Value::TinyInt(t.scale()),
    ];
    // Columns about user types and schema collections.
    row.resize(16, Value::Null);
    row.extend([Value::Bit(false), Value::Bit(false), Value::Bit(false)]);
    row.extend([Value::Bit(!d.output || d.formal.is_some()), Value::Bit(d.output)]);
    row.push(d.formal.as_deref().map_or(Value::Null, Value::nvarchar));
    let (id, length) = on_the_wire(t, true);
    row.extend([Value::Int(id), Value::Int(length)]);
    row
}

#[cfg(test)]
mod tests {
    use super::names_of;

    /// Names within strings, comments or other names do not count.
    #[test]
    fn names_are_found_where_they_are_names() {
        let text =
            "SELECT @a, '@b''@c', [@d], \"@e\", a@f -- @g\n + @h /* @i /* @j */ @k */ + @@l+@é";
        assert_eq!(names_of(text), ["@a", "@h", "@é"]);
        assert_eq!(names_of("'@open"), Vec::<&str>::new());
        assert_eq!(names_of("/* @open"), Vec::<&str>::new());
    }
}
