//! OPTION (…): what is asked of the plan is noted in its header, what changes nothing here is
//! taken, what would be ignored is refused by name.

use crate::binder::Binder;
use crate::refusal::unsupported;
use base::{SqlError, SqlResult, messages};
use plan::{GroupHint, JoinHint, ScalarKind, UnionHint, VariableId};
use tsql::ast::{self, QueryOptionKind};
use types::Value;

/// Hints that are true of every plan here: rows between operators have no largest size, no view has
/// an index, no table a columnstore, and no plan is forced.
const TAKEN: [&str; 4] = [
    "ROBUST PLAN",
    "EXPAND VIEWS",
    "IGNORE_NONCLUSTERED_COLUMNSTORE_INDEX",
    "DISABLE_OPTIMIZED_PLAN_FORCING",
];

/// The trace flag under which each index is changed by itself.
const WIDE_CHANGES: &str = "8790";

impl Binder<'_> {
    /// The options of a statement.
    pub(crate) fn options(&mut self, options: &[ast::QueryOption]) -> SqlResult<()> {
        for option in options {
            let line = option.span.line;
            match &option.kind {
                QueryOptionKind::Word(word) => self.option_word(word, line),
                QueryOptionKind::Value { name, value } => self.option_value(name, value, line),
                QueryOptionKind::OptimizeForUnknown => {
                    self.header.hints.unknown = true;
                    Ok(())
                }
                QueryOptionKind::OptimizeFor(list) => list.iter().try_for_each(|(name, value)| {
                    let known = self.optimize_for(name, value.as_ref())?;
                    self.header.hints.optimize_for.push(known);
                    Ok(())
                }),
                QueryOptionKind::UseHint(names) => {
                    names.iter().try_for_each(|name| self.use_hint(name, line))
                }
                QueryOptionKind::TableHint { table, hints } => self.table_hint(table, hints),
            }?;
        }
        Ok(())
    }

    fn option_word(&mut self, word: &str, line: u32) -> SqlResult<()> {
        let hints = &mut self.header.hints;
        match word {
            "RECOMPILE" => self.header.recompile = true,
            "KEEPFIXED PLAN" => hints.keep_fixed = true,
            "KEEP PLAN" => hints.keep_plan = true,
            "NO_PERFORMANCE_SPOOL" => hints.no_spool = true,
            "FORCE ORDER" => hints.force_order = true,
            "LOOP JOIN" => hints.joins.push(JoinHint::Loop),
            "HASH JOIN" => hints.joins.push(JoinHint::Hash),
            "MERGE JOIN" => hints.joins.push(JoinHint::Merge),
            "HASH GROUP" => self.group_hint(GroupHint::Hash),
            "ORDER GROUP" => self.group_hint(GroupHint::Order),
            "CONCAT UNION" => hints.unions.push(UnionHint::Concat),
            "HASH UNION" => hints.unions.push(UnionHint::Hash),
            "MERGE UNION" => hints.unions.push(UnionHint::Merge),
            taken if TAKEN.contains(&taken) => {}
            other => return Err(unsupported(other, line)),
        }
        Ok(())
    }

    /// Both together leave the choice open.
    fn group_hint(&mut self, hint: GroupHint) {
        let groups = &mut self.header.hints.groups;
        *groups = match *groups {
            Some(other) if other != hint => None,
            _ => Some(hint),
        };
    }

    fn option_value(&mut self, name: &str, value: &ast::Expr, line: u32) -> SqlResult<()> {
        match name {
            "MIN_GRANT_PERCENT" => self.header.grant.min_percent = Some(percent(value)?),
            "MAX_GRANT_PERCENT" => self.header.grant.max_percent = Some(percent(value)?),
            "MAXRECURSION" => self.max_recursion = recursion_limit(value)?,
            "MAXDOP" => {
                let workers = workers(value)?;
                self.header.hints.max_workers = Some(workers).filter(|&n| n != 0);
            }
            "FAST" => self.header.hints.fast = Some(count(value)?),
            "QUERYTRACEON" => match number(value) {
                Some((WIDE_CHANGES, _)) => self.header.hints.wide = true,
                _ => return Err(unsupported(name, line)),
            },
            taken if TAKEN.contains(&taken) => {}
            other => return Err(unsupported(other, line)),
        }
        Ok(())
    }

    /// The variable of OPTIMIZE FOR with its value, none for UNKNOWN.
    fn optimize_for(
        &mut self,
        name: &ast::Name,
        value: Option<&ast::Expr>,
    ) -> SqlResult<(VariableId, Option<Value>)> {
        let variable = self.variable(name)?;
        let ScalarKind::Variable(id) = variable.kind else {
            return Err(SqlError::new(messages::VARIABLE_UNDECLARED, &[name]).at_line(name.line));
        };
        let Some(value) = value else { return Ok((id, None)) };
        let bound = self.expr(value)?;
        let bound = self.folding.fold(bound);
        let Some(constant) = bound.as_constant() else {
            return Err(SqlError::new(messages::SYNTAX_NEAR, &[name]).at_line(value.span.line));
        };
        let (from, to) = (bound.ty.sql_type, variable.ty.sql_type);
        let known = types::convert_dated(constant, from, to, 0, self.environment.dialect);
        Ok((id, Some(known.map_err(|e| e.at_line(value.span.line))?)))
    }

    /// USE HINT: a name that means something here, or an error that names it.
    fn use_hint(&mut self, name: &str, line: u32) -> SqlResult<()> {
        match name.to_ascii_uppercase().as_str() {
            "DISABLE_PARAMETER_SNIFFING" => {
                self.header.hints.unknown = true;
                Ok(())
            }
            "ENABLE_PARALLEL_PLAN_PREFERENCE" => {
                self.header.hints.prefer_exchanges = true;
                Ok(())
            }
            // What this estimator does anyway, and plans that do not exist here.
            "FORCE_DEFAULT_CARDINALITY_ESTIMATION"
            | "DISABLE_BATCH_MODE_ADAPTIVE_JOINS"
            | "DISABLE_BATCH_MODE_MEMORY_GRANT_FEEDBACK"
            | "DISABLE_ROW_MODE_MEMORY_GRANT_FEEDBACK"
            | "DISABLE_INTERLEAVED_EXECUTION_TVF"
            | "DISABLE_TSQL_SCALAR_UDF_INLINING"
            | "DISALLOW_BATCH_MODE" => Ok(()),
            _ => Err(unsupported(&format!("USE HINT('{name}')"), line)),
        }
    }
}

fn number(value: &ast::Expr) -> Option<(&str, f64)> {
    use ast::Literal::{Decimal, Float, Integer};
    let ast::ExprKind::Literal(Integer(text) | Decimal(text) | Float(text)) = &value.kind else {
        return None;
    };
    Some((text, text.parse::<f64>().ok()?))
}

/// The constant of a hint: 0 to 100, with or without a point.
fn percent(value: &ast::Expr) -> SqlResult<f64> {
    let wrong =
        |near: &str| SqlError::new(messages::SYNTAX_NEAR, &[&near]).at_line(value.span.line);
    match number(value) {
        Some((_, percent)) if (0.0..=100.0).contains(&percent) => Ok(percent),
        Some((text, _)) => Err(wrong(text)),
        None => Err(wrong("=")),
    }
}

/// The constant of a hint that counts rows.
fn count(value: &ast::Expr) -> SqlResult<u64> {
    let wrong = || SqlError::new(messages::SYNTAX_NEAR, &[&"FAST"]).at_line(value.span.line);
    number(value).and_then(|(text, _)| text.parse().ok()).ok_or_else(wrong)
}

/// The constant of MAXDOP.
fn workers(value: &ast::Expr) -> SqlResult<u32> {
    let wrong =
        |near: &str| SqlError::new(messages::SYNTAX_NEAR, &[&near]).at_line(value.span.line);
    match number(value) {
        Some((text, _)) => text.parse().ok().filter(|n| *n <= 32_767).ok_or_else(|| wrong(text)),
        None => Err(wrong("MAXDOP")),
    }
}

/// The constant of MAXRECURSION.
fn recursion_limit(value: &ast::Expr) -> SqlResult<u32> {
    let ast::ExprKind::Literal(ast::Literal::Integer(text)) = &value.kind else {
        return Err(SqlError::new(messages::SYNTAX_NEAR, &[&"MAXRECURSION"]));
    };
    match text.parse::<u32>() {
        Ok(n) if n <= 32767 => Ok(n),
        _ => Err(SqlError::new(messages::MAXRECURSION_VALUE, &[text]).at_line(value.span.line)),
    }
}
