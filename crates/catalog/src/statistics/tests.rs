//! Estimates against the rows themselves. The bounds are the promise: how far an estimate of `=`
//! or of a range with at least one row in a hundred may be from the truth, as a factor.

use super::{Collector, Distribution, Histogram, STEPS_MAX, StatisticsHeader};
use std::collections::BTreeMap;
use types::{Collation, SqlType, compare_storage};

const ORDER: (SqlType, Collation) = (SqlType::Int, Collation::LATIN1_BIN2);

/// The same numbers in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) % n
    }
}

fn collect(values: &[Option<i32>], rows: u64) -> Distribution {
    let mut collector = Collector::new(&[ORDER]);
    for value in values {
        let bytes = value.map(i32::to_le_bytes);
        collector.push(&[bytes.as_ref().map(|b| &b[..])]);
    }
    let whole = StatisticsHeader { rows, updated_ns: 7, modified: 3, columns: &[1] };
    collector.finish(&whole).expect("there are rows")
}

fn sorted(mut values: Vec<i32>) -> Vec<Option<i32>> {
    values.sort_unstable();
    values.into_iter().map(Some).collect()
}

fn factor(estimate: f64, truth: f64) -> f64 {
    let (a, b) = (estimate.max(1.0), truth.max(1.0));
    (a / b).max(b / a)
}

/// The worst factors: of `=` on values that are there, and of ranges.
fn worst(values: &[Option<i32>], known: &Distribution) -> (f64, f64) {
    let histogram = Histogram::of(known, ORDER.0, ORDER.1);
    let mut counts = BTreeMap::<i32, u64>::new();
    for value in values.iter().flatten() {
        *counts.entry(*value).or_default() += 1;
    }
    let mut equal = 1.0_f64;
    for (value, count) in &counts {
        equal = equal.max(factor(histogram.equal_rows(&value.to_le_bytes()), *count as f64));
    }
    let mut below = Vec::new();
    let mut sum = 0;
    for (value, count) in &counts {
        below.push((*value, sum));
        sum += count;
    }
    let (mut dice, mut range) = (Dice(5), 1.0_f64);
    for _ in 0..2_000 {
        let n = below.len() as u64;
        let (a, b) = (below[dice.below(n) as usize], below[dice.below(n) as usize]);
        let (low, high) = if a.0 <= b.0 { (a, b) } else { (b, a) };
        let truth = high.1 - low.1;
        if truth * 100 >= sum {
            let at = |v: i32| histogram.less_rows(&v.to_le_bytes());
            range = range.max(factor(at(high.0) - at(low.0), truth as f64));
        }
    }
    (equal, range)
}

/// Steps that are sane: within the limit, ascending, and with all rows.
fn check(known: &Distribution) {
    assert!(known.steps.len() <= STEPS_MAX);
    let total: f64 = known.steps.iter().map(|s| s.range_rows + s.equal_rows).sum();
    assert!((total - known.rows as f64).abs() < 0.01 * known.rows as f64, "{total}");
    let order = compare_storage(ORDER.0, ORDER.1);
    for pair in known.steps.windows(2) {
        if let (Some(a), Some(b)) = (&pair[0].key, &pair[1].key) {
            assert!(order.of(a, b).is_lt());
        }
    }
    let text = known.to_text();
    assert_eq!(Distribution::from_text(&text).as_ref(), Some(known));
    let short: String = text.chars().take(text.chars().count() - 1).collect();
    assert_eq!(Distribution::from_text(&short), None, "a piece is missing");
}

fn promise(name: &str, values: Vec<i32>, equal: f64, range: f64) {
    let values = sorted(values);
    let known = collect(&values, values.len() as u64);
    check(&known);
    let found = worst(&values, &known);
    assert!(found.0 <= equal && found.1 <= range, "{name}: {found:?}");
    let distinct: std::collections::BTreeSet<_> = values.iter().collect();
    assert_eq!(known.prefixes[0].distinct, distinct.len() as f64, "{name}");
}

fn zipf(dice: &mut Dice) -> Vec<i32> {
    let mut values = Vec::new();
    for rank in 1..=10_000_u64 {
        let value = (rank * 7_919 % 10_007) as i32;
        values.extend(std::iter::repeat_n(value, (10_000 / rank).max(1) as usize));
    }
    for _ in 0..100 {
        values.push(dice.below(10_007) as i32);
    }
    values
}

#[test]
fn estimates_of_all_rows_are_as_near_as_promised() {
    let mut dice = Dice(1);
    promise("one each", (0..100_000).collect(), 1.01, 1.05);
    promise("uniform", (0..100_000).map(|_| dice.below(5_000) as i32).collect(), 4.0, 1.05);
    promise("skewed", zipf(&mut dice), 16.0, 1.1);
    promise("few", (0..50_000).map(|_| dice.below(150) as i32 * 9).collect(), 1.0, 1.0);
    promise("all equal", vec![4; 30_000], 1.0, 1.0);
    let gaps = (0..60_000).map(|n| n / 1_000 * 1_000_000 + n % 1_000).collect();
    promise("gaps", gaps, 1.01, 1.05);
    let two = (0..100_000).map(|n| if n % 2 == 0 { 7 } else { n }).collect();
    promise("half of them one value", two, 1.01, 1.01);
}

#[test]
fn values_that_fit_are_steps_of_their_own() {
    let mut values = vec![None, None];
    values.extend([10, 20, 20, 30].map(Some));
    let known = collect(&values, 6);
    check(&known);
    let steps: Vec<(f64, f64)> = known.steps.iter().map(|s| (s.range_rows, s.equal_rows)).collect();
    assert_eq!(steps, [(0.0, 2.0), (0.0, 1.0), (0.0, 2.0), (0.0, 1.0)]);
    let histogram = Histogram::of(&known, ORDER.0, ORDER.1);
    assert_eq!((histogram.null_rows(), histogram.value_rows()), (2.0, 4.0));
    assert_eq!(histogram.equal_rows(&15_i32.to_le_bytes()), 0.0);
    assert_eq!(histogram.less_rows(&20_i32.to_le_bytes()), 1.0);
    assert_eq!(histogram.less_rows(&21_i32.to_le_bytes()), 3.0);
    assert_eq!((known.prefixes[0].distinct, known.density()), (4.0, 0.0));
}

/// Pairs of equal values are found as near as histograms are: exactly where every value is a key,
/// within a third for uniform and skewed columns against each other.
#[test]
fn equal_pairs_of_two_columns() {
    let mut dice = Dice(9);
    let few: Vec<i32> = (0..20_000).map(|_| dice.below(150) as i32 * 9).collect();
    let uniform: Vec<i32> = (0..50_000).map(|_| dice.below(8_000) as i32).collect();
    let skewed = zipf(&mut dice);
    let check = |a: &[i32], b: &[i32], within: f64| {
        let (a, b) = (sorted(a.to_vec()), sorted(b.to_vec()));
        let mut counts = BTreeMap::<i32, u64>::new();
        b.iter().flatten().for_each(|v| *counts.entry(*v).or_default() += 1);
        let truth: u64 = a.iter().flatten().filter_map(|v| counts.get(v)).sum();
        let (a, b) = (collect(&a, a.len() as u64), collect(&b, b.len() as u64));
        let of = |d| Histogram::of(d, ORDER.0, ORDER.1);
        let (ab, ba) = (of(&a).equal_pairs(&of(&b)), of(&b).equal_pairs(&of(&a)));
        assert!((ab - ba).abs() <= 1e-6 * ab, "{ab} and {ba}: sides are alike");
        assert!(factor(ab, truth as f64) <= within, "{ab} for {truth}");
    };
    check(&few, &few, 1.001);
    check(&uniform, &uniform, 1.35);
    check(&skewed, &uniform, 1.35);
    check(&skewed, &skewed, 1.35);
    check(&few, &uniform, 1.35);
}

#[test]
fn nulls_beyond_the_limit_keep_a_step() {
    let mut values = vec![None; 500];
    values.extend((0..10_000).map(Some));
    let known = collect(&values, values.len() as u64);
    check(&known);
    assert_eq!(known.steps[0].key, None);
    assert_eq!(known.steps[0].equal_rows, 500.0);
    assert_eq!(known.steps[1].range_rows, 0.0, "invariant 1");
}

#[test]
fn a_sample_speaks_for_the_table() {
    let mut dice = Dice(3);
    // Values that are unique stay so; 20 rows a value are found to be about that.
    for (each, equal, range) in [(1, 1.1, 1.3), (20, 7.0, 1.4)] {
        let all: Vec<i32> = (0..100_000).map(|n| n / each).collect();
        let part = all.iter().filter(|_| dice.below(10) == 0).map(|&v| Some(v));
        let known = collect(&part.collect::<Vec<_>>(), 100_000);
        check(&known);
        let all = sorted(all);
        let found = worst(&all, &known);
        assert!(found.0 <= equal && found.1 <= range, "{each}: {found:?}");
    }
}

#[test]
fn prefixes_count_their_combinations() {
    let mut collector = Collector::new(&[ORDER, ORDER]);
    for (a, b) in [(1_i32, 1_i32), (1, 1), (1, 2), (2, 1), (2, 2)] {
        let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
        collector.push(&[Some(&a[..]), Some(&b[..])]);
    }
    let whole = StatisticsHeader { rows: 5, updated_ns: 0, modified: 0, columns: &[3, 1] };
    let known = collector.finish(&whole).expect("there are rows");
    let found: Vec<_> =
        known.prefixes.iter().map(|p| (p.column_id, p.distinct, p.average_bytes)).collect();
    assert_eq!(found, [(3, 2.0, 4.0), (1, 4.0, 8.0)]);
}

#[test]
fn long_keys_are_cut() {
    let text = SqlType::varchar(8000);
    let mut collector = Collector::new(&[(text, Collation::LATIN1_BIN2)]);
    let (a, b) = (vec![b'a'; 5_000], [vec![b'a'; 4_999], vec![b'b']].concat());
    for value in [&a, &b] {
        collector.push(&[Some(value.as_slice())]);
    }
    let known =
        collector.finish(&StatisticsHeader { rows: 2, updated_ns: 0, modified: 0, columns: &[1] });
    let known = known.expect("there are rows");
    assert_eq!(known.steps.len(), 1);
    assert_eq!(known.prefixes[0].average_bytes, 5_000.0);
}
