//! Top: the first rows, a percentage of all, with ties, after an offset.

use super::{Node, Operator};
use crate::expr::Expr;
use crate::memory::RowBuffer;
use crate::run::Run;
use base::{SqlError, SqlResult, messages};
use plan::{Slot, SortKey};
use types::{Value, compare};

/// The first rows of the input.
pub(crate) struct Top {
    id: usize,
    input: Node,
    count: Option<Expr>,
    offset: Option<Expr>,
    percent: bool,
    ties: Option<Vec<SortKey>>,
    /// All rows, where a percentage asks how many there are and the input does not know.
    rows: RowBuffer,
    buffered: bool,
    /// Rows still to come.
    left: u64,
    /// The tie keys of the last row that counted.
    last: Vec<Value>,
}

/// 1014: an invalid number of rows.
fn invalid() -> SqlError {
    SqlError::new(messages::TOP_INVALID, &[])
}

/// A number of rows: a bigint, not negative.
pub(crate) fn row_count(x: &Expr, run: &mut Run<'_>) -> SqlResult<u64> {
    let count = x.with(run, Value::as_i64)?.ok_or_else(invalid)?;
    u64::try_from(count).map_err(|_| invalid())
}

impl Top {
    /// `rows` are the slots that are kept where a percentage asks how many rows there are.
    pub(crate) fn new(id: usize, input: Node, top: &plan::Top, rows: Vec<Slot>) -> SqlResult<Top> {
        Ok(Top {
            id,
            input,
            count: top.count.as_ref().map(Expr::new).transpose()?,
            offset: top.offset.as_ref().map(Expr::new).transpose()?,
            percent: top.percent,
            ties: top.ties.clone(),
            rows: RowBuffer::new(rows),
            buffered: false,
            left: 0,
            last: Vec::new(),
        })
    }

    fn percentage(&mut self, run: &mut Run<'_>) -> SqlResult<u64> {
        let Some(x) = &self.count else { return Ok(u64::MAX) };
        let share = match x.eval(run)? {
            Value::Float(share) if (0.0..=100.0).contains(&share) => share,
            _ => return Err(invalid()),
        };
        let total = match self.input.known_rows() {
            Some(total) => total,
            None => {
                self.rows.clear(run);
                while self.input.next(run)? {
                    run.tick()?;
                    self.rows.push(run)?;
                }
                run.counts.of(self.id).spilled(self.rows.spilled_bytes());
                self.rows.rewind()?;
                self.buffered = true;
                self.rows.total()
            }
        };
        Ok((total as f64 * share / 100.0).ceil() as u64)
    }

    fn advance(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        if self.buffered { self.rows.next(run) } else { self.input.next(run) }
    }

    fn begin(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.buffered = false;
        self.last.clear();
        self.left = match &self.count {
            None => u64::MAX,
            Some(_) if self.percent => 1,
            Some(x) => row_count(x, run)?,
        };
        let offset = self.offset.as_ref().map_or(Ok(0), |x| row_count(x, run))?;
        if self.left == 0 {
            return Ok(());
        }
        self.input.open(run)?;
        if self.percent {
            self.left = self.percentage(run)?;
        }
        for _ in 0..offset {
            run.tick()?;
            if !self.advance(run)? {
                self.left = 0;
                break;
            }
        }
        Ok(())
    }

    /// After the last row that counts: one more if it ties with it.
    fn next_tie(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        if self.last.is_empty() || !self.advance(run)? {
            return Ok(false);
        }
        let keys = self.ties.iter().flatten();
        let same =
            keys.zip(&self.last).all(|(k, v)| compare(run.slot(k.slot), v, k.collation).is_eq());
        if !same {
            self.last.clear();
        }
        Ok(same)
    }
}

impl Operator for Top {
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.begin(run)
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        if self.left == 0 {
            return self.next_tie(run);
        }
        if !self.advance(run)? {
            self.left = 0;
            return Ok(false);
        }
        self.left -= 1;
        if self.left == 0
            && let Some(ties) = &self.ties
        {
            self.last.extend(ties.iter().map(|k| run.slot(k.slot).clone()));
        }
        Ok(true)
    }

    fn close(&mut self) {
        self.rows.drop_rows();
        self.last.clear();
        self.left = 0;
        self.input.close();
    }
}
