//! Parameters that nobody declared, and what a statement says of their types:
//! sp_describe_undeclared_parameters.
//!
//! The caller gives a [`Deduction`](crate::Deduction). In the first pass such a parameter is bound
//! as something of no type, as the word NULL is: it takes the type of whatever it meets, and the
//! deduction is told ([`Inference`]). Where the place alone does not say it (an operand of `+`, of
//! `<`, an argument of a function), the statement is bound again with one candidate after the
//! other; each conversion that it then needs is told with its cost, and whoever asks takes the
//! cheapest. (From the reference: "Parameter selection algorithm". What functions like their
//! arguments to be of is our own table.)

use crate::binder::Binder;
use crate::expressions::deduction::{
    Inference, TRIED, UndeclaredType, is_untyped_null, untyped, untyped_variable,
};
use base::SqlResult;
use builtins::Function;
use plan::{Scalar, ScalarKind, VariableId};
use tsql::ast;
use types::{Family, SqlType};

/// Costs of conversions, the best first: of length, of fixed to variable length, of NULL to int,
/// any other.
const OF_LENGTH: u32 = 1;
const OF_VARYING: u32 = 2;
const OF_NULL: u32 = 3;
const OF_TYPE: u32 = 1000;

/// The parameter for whose type an expression's is not known.
fn depends(x: &Scalar) -> Option<u16> {
    match &x.kind {
        ScalarKind::Variable(_) => untyped(x),
        ScalarKind::Negate(x) | ScalarKind::BitNot(x) => depends(x),
        ScalarKind::Binary { left, right, .. } => depends(left).or_else(|| depends(right)),
        ScalarKind::Case { branches, otherwise } => {
            let results = branches.iter().map(|(_, x)| x).chain(otherwise.as_deref());
            results.into_iter().find_map(depends)
        }
        ScalarKind::Coalesce(items) => items.iter().find_map(depends),
        ScalarKind::Function { args, .. } => args.iter().find_map(depends),
        ScalarKind::Cast { operand, implicit, .. } if implicit.0 => depends(operand),
        _ => None,
    }
}

/// What two types cost that meet.
fn cost(from: SqlType, to: SqlType) -> u32 {
    let varies = |t: SqlType| {
        matches!(t, SqlType::VarChar(_) | SqlType::NVarChar(_) | SqlType::VarBinary(_))
    };
    match () {
        () if from == to => 0,
        () if std::mem::discriminant(&from) == std::mem::discriminant(&to) => OF_LENGTH,
        () if from.family() == to.family()
            && varies(from) != varies(to)
            && matches!(from.family(), Family::Char | Family::NChar | Family::Binary) =>
        {
            OF_VARYING
        }
        () => OF_TYPE,
    }
}

/// What a function likes an argument to be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ArgumentPreference {
    Text,
    Number,
    Moment,
}

fn liking(function: &str, at: usize) -> Option<ArgumentPreference> {
    use ArgumentPreference::{Moment, Number, Text};
    Some(match (function, at) {
        ("LEFT" | "RIGHT" | "SUBSTRING" | "REPLICATE", 0) => Text,
        ("LEFT" | "RIGHT" | "SUBSTRING" | "REPLICATE", _) => Number,
        ("STUFF", 1 | 2) | ("CHARINDEX", 2) | ("ROUND" | "STR", 1 | 2) => Number,
        ("SPACE" | "CHAR" | "NCHAR" | "CHOOSE" | "DATEADD", 0 | 1) => Number,
        ("DATEFROMPARTS" | "DATETIMEFROMPARTS" | "TIMEFROMPARTS", _) => Number,
        ("LEN" | "LOWER" | "UPPER" | "LTRIM" | "RTRIM" | "TRIM" | "REVERSE" | "ASCII", _) => Text,
        ("UNICODE" | "SOUNDEX" | "DIFFERENCE" | "CHARINDEX" | "PATINDEX", _) => Text,
        ("REPLACE" | "TRANSLATE" | "QUOTENAME" | "STUFF" | "STRING_ESCAPE" | "CONCAT", _) => Text,
        ("DATEADD", 2) | ("DATEDIFF" | "DATEDIFF_BIG", 1 | 2) => Moment,
        ("DATEPART" | "DATENAME" | "DATETRUNC", 1) | ("YEAR" | "MONTH" | "DAY" | "EOMONTH", 0) => {
            Moment
        }
        _ => return None,
    })
}

fn likes(liking: ArgumentPreference, t: SqlType) -> bool {
    match liking {
        ArgumentPreference::Text => t.is_character(),
        ArgumentPreference::Number => t == SqlType::Int,
        ArgumentPreference::Moment => t.is_temporal() && t.family() == Family::Temporal,
    }
}

impl Binder<'_> {
    /// A name that is no variable's, where types are deduced.
    pub(crate) fn undeclared(&self, name: &ast::Name) -> Option<Scalar> {
        let found = self.environment.deduction?.undeclared(name);
        let (id, sql_type) = match found {
            UndeclaredType::No => return None,
            UndeclaredType::Untyped(parameter) => (untyped_variable(parameter), SqlType::Int),
            UndeclaredType::Tried(sql_type) => (VariableId(TRIED), sql_type),
        };
        Some(Scalar { kind: ScalarKind::Variable(id), ty: self.plain(sql_type, true) })
    }

    /// What a place says of an expression that is a parameter alone.
    pub(crate) fn learn(&self, x: &Scalar, what: impl FnOnce() -> Inference) {
        if let (Some(deduction), Some(parameter)) = (self.environment.deduction, untyped(x)) {
            deduction.learn(parameter, what());
        }
    }

    /// The type of what is assigned: the variable's; a parameter without one has the value's.
    pub(crate) fn target_type(&self, target: &Scalar, value: &Scalar) -> SqlType {
        let of_value = value.ty.sql_type;
        self.learn(target, || Inference::Assigned(of_value));
        if untyped(target).is_some() { of_value } else { target.ty.sql_type }
    }

    /// Expressions of which one says what the others are: 11503 where two have no type.
    pub(crate) fn meet<'x>(&self, items: impl IntoIterator<Item = &'x Scalar>) {
        let Some(deduction) = self.environment.deduction else { return };
        let mut known = None;
        for parameter in items.into_iter().filter_map(depends) {
            match known {
                None => known = Some(parameter),
                Some(first) if first != parameter => {
                    deduction.learn(first, Inference::Meets(parameter));
                    deduction.learn(parameter, Inference::Meets(first));
                }
                Some(_) => {}
            }
        }
    }

    /// The same of an operator's operands: for them candidates are tried.
    pub(crate) fn meet_generally(&self, items: &[&Scalar]) {
        if self.environment.deduction.is_some() {
            self.meet(items.iter().copied());
            items.iter().for_each(|x| self.learn(x, || Inference::General));
        }
    }

    /// A value that a statement has in another type.
    pub(crate) fn costs(&self, x: &Scalar, to: SqlType) {
        let Some(deduction) = self.environment.deduction else { return };
        deduction.cost(match is_untyped_null(x) {
            true if to == SqlType::Int => OF_NULL,
            true => OF_TYPE,
            false => cost(x.ty.sql_type, to),
        });
    }

    /// The type of the first one among a few with which an operation has a meaning.
    pub(crate) fn with_some_type<T>(
        &self,
        mut operation: impl FnMut(SqlType) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let few = [
            SqlType::Int,
            SqlType::nvarchar(4000),
            SqlType::DateTime,
            SqlType::varbinary(8000),
            SqlType::Xml,
        ];
        let first = operation(few[0]);
        few[1..].iter().fold(first, |found, t| found.or_else(|e| operation(*t).map_err(|_| e)))
    }

    /// Arguments of a function that is built in: those without a type get one for now.
    pub(crate) fn untyped_arguments(
        &self,
        function: &'static Function,
        args: &mut [Scalar],
    ) -> SqlResult<()> {
        let Some(deduction) = self.environment.deduction else { return Ok(()) };
        self.meet_generally(&args.iter().collect::<Vec<_>>());
        for (at, x) in args.iter().enumerate() {
            let tried = matches!(x.kind, ScalarKind::Variable(VariableId(TRIED)));
            let wanted = liking(function.name, at).filter(|_| tried);
            if wanted.is_some_and(|l| !likes(l, x.ty.sql_type)) {
                deduction.cost(OF_TYPE);
            }
        }
        if function.name == "ISNULL"
            && let [first, second] = &*args
        {
            self.costs(second, first.ty.sql_type);
        }
        let Some(at) = args.iter().position(|x| untyped(x).is_some()) else { return Ok(()) };
        let mut types: Vec<SqlType> = args.iter().map(|a| a.ty.sql_type).collect();
        args[at].ty.sql_type = self.with_some_type(|t| {
            types[at] = t;
            crate::expressions::comparable::check_arguments(function.name, &types)?;
            (function.result)(&types).map(|_| t)
        })?;
        Ok(())
    }
}
