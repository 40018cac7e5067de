//! Quantiles of values that are too many to keep: APPROX_PERCENTILE_CONT and _DISC.
//!
//! Values lie in levels; one of level `l` stands for 2^l rows. A level that is full is sorted, and
//! every second of its values goes a level up, the first or the second of each pair in turns. So a
//! sketch of n rows keeps at most [`LEVEL_VALUES`] · log2(n / LEVEL_VALUES) values, and a rank is
//! off by a fraction of at most log2(n / LEVEL_VALUES) / (2 · LEVEL_VALUES): 0.5 % for 10^9 rows,
//! where 1.33 % is promised. Up to LEVEL_VALUES rows it is exact. After: Manku, Rajagopalan and
//! Lindsay, "Approximate medians and other quantiles in one pass and with limited memory" (1998).

use base::SqlResult;
use types::{Collation, Value, compare};

/// Values of a level.
const LEVEL_VALUES: usize = 2048;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Sketch {
    levels: Vec<Level>,
}

#[derive(Clone, Debug, Default)]
struct Level {
    values: Vec<Value>,
    /// The second of each pair went up last.
    odd: bool,
}

impl Sketch {
    pub(super) fn heap_bytes(&self) -> usize {
        let values = |l: &Level| {
            let own = l.values.capacity() * size_of::<Value>();
            own + l.values.iter().map(Value::heap_bytes).sum::<usize>()
        };
        self.levels.iter().map(values).sum()
    }

    pub(super) fn push(&mut self, value: Value, collation: Collation) {
        self.put(0, [value], collation);
    }

    fn put(&mut self, at: usize, values: impl IntoIterator<Item = Value>, collation: Collation) {
        if self.levels.len() <= at {
            self.levels.resize_with(at + 1, Level::default);
        }
        self.levels[at].values.extend(values);
        let mut at = at;
        while self.levels[at].values.len() >= LEVEL_VALUES {
            let kept = self.levels[at].thin(collation);
            at += 1;
            if self.levels.len() <= at {
                self.levels.push(Level::default());
            }
            self.levels[at].values.extend(kept);
        }
    }

    pub(super) fn merge(&mut self, other: &Sketch, collation: Collation) {
        for (at, level) in other.levels.iter().enumerate() {
            self.put(at, level.values.iter().cloned(), collation);
        }
    }

    pub(super) fn save(&self, out: &mut dyn FnMut(&Value)) {
        out(&Value::Int(self.levels.len() as i32));
        for level in &self.levels {
            out(&Value::Int(level.values.len() as i32));
            level.values.iter().for_each(&mut *out);
        }
    }

    pub(super) fn load(&mut self, next: &mut dyn FnMut() -> SqlResult<Value>) -> SqlResult<()> {
        let levels = next()?.as_i64().unwrap_or(0);
        for _ in 0..levels {
            let mut level = Level::default();
            for _ in 0..next()?.as_i64().unwrap_or(0) {
                level.values.push(next()?);
            }
            self.levels.push(level);
        }
        Ok(())
    }

    /// The value at a fraction of the ranks: between two of them where `continuous`.
    pub(super) fn at(&self, fraction: f64, continuous: bool, collation: Collation) -> Value {
        let mut all: Vec<(&Value, u64)> = Vec::new();
        for (n, level) in self.levels.iter().enumerate() {
            all.extend(level.values.iter().map(|v| (v, 1 << n)));
        }
        all.sort_by(|a, b| compare(a.0, b.0, collation));
        let rows: u64 = all.iter().map(|(_, weight)| weight).sum();
        let of_rank = |rank: u64| {
            let mut before = 0;
            let found = all.iter().find(|(_, weight)| {
                before += weight;
                rank < before
            });
            found.or(all.last()).map_or(Value::Null, |(v, _)| Value::clone(v))
        };
        if !continuous {
            return of_rank(((fraction * rows as f64).ceil() as u64).saturating_sub(1));
        }
        let rank = fraction * rows.saturating_sub(1) as f64;
        match (of_rank(rank.floor() as u64), of_rank(rank.ceil() as u64)) {
            (Value::Float(a), Value::Float(b)) => Value::Float(a + (b - a) * rank.fract()),
            (a, _) => a,
        }
    }
}

impl Level {
    /// What goes up; one value stays where they are odd.
    fn thin(&mut self, collation: Collation) -> Vec<Value> {
        self.values.sort_by(|a, b| compare(a, b, collation));
        let mut all = std::mem::take(&mut self.values);
        if all.len() % 2 == 1 {
            self.values.extend(all.pop());
        }
        self.odd = !self.odd;
        all.into_iter().skip(usize::from(self.odd)).step_by(2).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_many_values_are_nearly_right_and_of_few_exactly() {
        let collation = Collation::default();
        for (rows, most) in [(1_u64, 0.0), (2_000, 0.0), (300_000, 0.005)] {
            let (mut left, mut right) = (Sketch::default(), Sketch::default());
            for n in 0..rows {
                let value = (n * 7_919) % rows;
                let half = if n % 2 == 0 { &mut left } else { &mut right };
                half.push(Value::Float(value as f64), collation);
            }
            let mut saved = Vec::new();
            right.save(&mut |v| saved.push(v.clone()));
            let mut saved = saved.into_iter();
            let mut loaded = Sketch::default();
            loaded.load(&mut || Ok(saved.next().unwrap_or(Value::Null))).expect("as saved");
            left.merge(&loaded, collation);
            for p in [0.0, 0.1, 0.5, 0.99, 1.0] {
                let Value::Float(came) = left.at(p, true, collation) else { panic!("a number") };
                let wanted = p * (rows - 1) as f64;
                let off = (came - wanted).abs() / rows as f64;
                assert!(off <= most + 1e-9, "{p} of {rows}: {came}, not {wanted}");
            }
        }
    }

    #[test]
    fn a_discrete_percentile_is_the_first_value_that_reaches_it() {
        let mut sketch = Sketch::default();
        for n in 1..=4 {
            sketch.push(Value::Int(n * 10), Collation::default());
        }
        let at = |p| sketch.at(p, false, Collation::default());
        assert_eq!(
            [at(0.0), at(0.25), at(0.26), at(1.0)].map(|v| v.as_i64()),
            [Some(10), Some(10), Some(20), Some(40)]
        );
    }
}
