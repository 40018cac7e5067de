//! TABLESAMPLE: which part of a table's pages is read.

use crate::binder::Binder;
use crate::names::from::FromPart;
use crate::names::scope::{Clause, Columns, Scope};
use crate::refusal::unsupported;
use base::{SqlError, SqlResult, messages};
use plan::{Logical, Sample, SampleSize, Scalar, ScalarKind};
use tsql::ast;
use types::{SqlType, Value, convert};

impl Binder<'_> {
    /// The rows of a table, of the pages that a sample has: 494 where they are of no table.
    pub(crate) fn sampled(
        &mut self,
        mut from: FromPart,
        sample: &ast::TableSample,
        line: u32,
    ) -> SqlResult<FromPart> {
        let sample = self.sample(sample).map_err(|e| e.at_line(line))?;
        // A view may be nothing but its table.
        let table = from.sources.first().and_then(|s| match (&s.columns, &s.body) {
            (Columns::Reference(no), None) => self.references.table(*no),
            _ => None,
        });
        let own = table.is_some_and(|t| t.object_id.table_variable().is_none());
        let Logical::Get(get) = &mut from.tree else {
            return Err(SqlError::new(messages::TABLESAMPLE_LOCAL, &[]).at_line(line));
        };
        if !own {
            return Err(SqlError::new(messages::TABLESAMPLE_LOCAL, &[]).at_line(line));
        }
        if !self.modules.is_empty() {
            return Err(unsupported("TABLESAMPLE in a view or function", line));
        }
        if get.index.is_some_and(|index| index != 0) {
            return Err(unsupported("TABLESAMPLE with an index", line));
        }
        // Rows lie on the pages of the heap or clustered index.
        get.index = Some(0);
        get.sample = Some(sample);
        Ok(from)
    }

    fn sample(&mut self, s: &ast::TableSample) -> SqlResult<Sample> {
        let size = match s.rows {
            true => match self.sample_number(&s.size, SqlType::BigInt)? {
                Value::BigInt(n) => u64::try_from(n).ok().map(SampleSize::Rows),
                _ => None,
            },
            false => match self.sample_number(&s.size, SqlType::Float)? {
                Value::Float(p) if (0.0..=100.0).contains(&p) => Some(SampleSize::Percent(p)),
                _ => None,
            },
        };
        let invalid = || SqlError::new(messages::TABLESAMPLE_INVALID, &[]);
        let size = size.ok_or_else(invalid)?;
        let seed = match &s.repeatable {
            None => None,
            Some(e) => match self.sample_number(e, SqlType::BigInt)? {
                Value::BigInt(seed) => Some(seed),
                _ => return Err(invalid()),
            },
        };
        Ok(Sample { size, seed })
    }

    /// A constant: 497, 498.
    fn sample_number(&mut self, e: &ast::Expr, to: SqlType) -> SqlResult<Value> {
        let scope = Scope::barrier(Clause::Definition);
        let x: Scalar = self.within(scope, |b| b.expr(e))?;
        let mut variable = false;
        x.clone().rewrite(&mut |x| variable |= matches!(x.kind, ScalarKind::Variable(_)));
        if variable {
            return Err(SqlError::new(messages::TABLESAMPLE_VARIABLE, &[]));
        }
        let invalid = || SqlError::new(messages::TABLESAMPLE_INVALID, &[]);
        let value = x.as_constant().ok_or_else(invalid)?;
        convert(value, x.ty.sql_type, to, 0).map_err(|_| invalid())
    }
}
