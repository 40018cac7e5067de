//! FILLFACTOR = AUTO: chooses how full to build an index, from its growth since the build before.
//!
//! A page with room for all rows that will arrive never splits. A full page splits at its first
//! insert, and both halves are then half empty. So the choice predicts the number of pages after
//! as many inserts as there were between the last two builds, for each fill factor f:
//!
//! ```text
//! inserts at the right edge of an index  full pages are best: no row comes between others
//! inserts at the ends of some groups     likewise: no later row meets the pages that split
//! inserts between other rows, spread     pages = Σ over parts (rows / f) × E(f × (1 + growth))
//! over some parts of the index           E(t): number of pages that rows for t pages split into
//! ```
//!
//! E(t) is 1 while t is well below 1, and 2 × E(t / 2) when it is well above. Between them it is
//! the mean of both, weighted with the probability that the page overflows. Inserts arrive at
//! random; whether a page overflows is less certain if it has few rows. The choice is the f with
//! the smallest sum, in which each split counts as a tenth of a page more, for its work. The
//! prediction is the mean of three: for somewhat fewer, as many, and somewhat more inserts than
//! last time. If rows were also deleted, only the net increase of the index counts as growth, but
//! all inserts count for the probability.
//!
//! Invariants
//!  1. An index about which nothing is known is built full.
//!  2. Each build halves the inserts that are remembered from the builds before. So an index into
//!     which no more rows are inserted is full in the end.

use access::{Growth, GrowthPart};
use catalog::view::AutoFill;

/// The fill factors to choose from.
const FACTORS: std::ops::RangeInclusive<u8> = 30..=100;
/// The predicted inserts, relative to those that were counted.
const GROWTHS: [f64; 3] = [0.8, 1.0, 1.25];
/// The cost of a split, in pages.
const SPLIT_PAGES: f64 = 0.1;
/// A lower factor is chosen only if its cost is below this share of the cost of the higher one.
const WORTH: f64 = 0.995;
/// The number of splits from which on their distribution over the index is known.
const SPLITS_MIN: u64 = 8;
/// A part of the index with less than this share of its proportional number of splits counts as
/// one without inserts.
const COLD: f64 = 0.25;
/// How often the prediction halves a page at most.
const HALVES_MAX: u32 = 12;

/// A part of the index: the leaves with inserts, or those without.
#[derive(Clone, Copy)]
struct Part {
    /// Its share of the rows.
    share: f64,
    /// The inserts into it, relative to its rows.
    comes: f64,
    /// The net increase from these inserts, relative to its rows.
    stays: f64,
}

/// The rows that were inserted, and where.
struct Arrivals {
    /// All inserted rows.
    rows: f64,
    /// The net increase of the index, as a share of `rows`. It is less than 1 if rows were deleted.
    stays: f64,
    /// Those of `rows` that were inserted between other rows, spread over some parts.
    between: f64,
    /// The share of the index that these parts make up.
    spread: f64,
    /// The share of `between` that went into these parts.
    caught: f64,
}

/// The fill factor for the next build, and the figures behind the choice. `last` has the figures of
/// the build before.
pub(crate) fn choose(growth: &Growth, last: &AutoFill) -> (u8, AutoFill) {
    if growth.rows == 0 {
        return (100, AutoFill::default());
    }
    let arrivals = arrivals(growth, last);
    let seen = growth.appends + growth.splits > 0;
    let known = if seen { (growth.appends, growth.splits) } else { (last.appends, last.splits) };
    let basis = AutoFill {
        rows: growth.rows,
        inserts: arrivals.rows as u64,
        growth: (arrivals.rows * arrivals.stays) as u64,
        appends: known.0,
        splits: known.1,
        spread: (arrivals.spread * 100.0).round().clamp(0.0, 100.0) as u8,
    };
    (best(&arrivals, growth), basis)
}

fn arrivals(growth: &Growth, last: &AutoFill) -> Arrivals {
    let built = growth.built.unwrap_or(if last.rows > 0 { last.rows } else { growth.rows });
    let more = growth.rows.saturating_sub(built);
    let counted = growth.inserts.max(more);
    // Invariant 2.
    let rows = counted.max(last.inserts / 2) as f64;
    let stays = match (growth.built, counted) {
        (None, _) if last.rows == 0 => 1.0,
        (_, 0) => last.growth as f64 / last.inserts.max(1) as f64,
        _ => more as f64 / counted as f64,
    };
    let page = growth.rows_a_page as f64;
    let (appended, of) = match growth.appends + growth.splits {
        0 => (last.appends as f64 * page, last.inserts.max(counted) as f64),
        _ => (growth.appends as f64 * page, counted as f64),
    };
    // The counter of appends misses the first page and the last.
    let of_edge =
        if growth.splits == 0 && appended > 0.0 { appended + 2.0 * page } else { appended };
    let between = rows * (1.0 - (of_edge / of.max(1.0)).min(1.0));
    let at_ends = growth.splits >= SPLITS_MIN
        && (growth.at_end * 5 >= growth.splits * 4 || growth.beside_last * 2 >= growth.splits);
    if at_ends {
        return Arrivals { rows, stays, between: 0.0, spread: 0.0, caught: 1.0 };
    }
    let (spread, caught) = match spread(&growth.parts) {
        Some(found) => found,
        None if last.splits >= SPLITS_MIN => (f64::from(last.spread) / 100.0, 1.0),
        None => (1.0, 1.0),
    };
    Arrivals { rows, stays, between, spread, caught }
}

/// The share of the rows on whose pages splits fall, and the share of the splits that fall there.
/// `None` if too few splits are known.
fn spread(parts: &[GrowthPart]) -> Option<(f64, f64)> {
    let (rows, splits) =
        parts.iter().fold((0, 0), |(rows, splits), p| (rows + p.rows, splits + p.splits));
    if splits < SPLITS_MIN || rows == 0 {
        return None;
    }
    // A part gets so many splits on average that a part without any is no accident.
    let count = (splits / SPLITS_MIN).clamp(1, parts.len() as u64) as usize;
    let (mut warm, mut caught) = (0, 0);
    for n in 0..count {
        let cut = |n: usize| n * parts.len() / count;
        let of = &parts[cut(n)..cut(n + 1)];
        let (r, s) = of.iter().fold((0, 0), |(r, s), p| (r + p.rows, s + p.splits));
        if s as f64 / splits as f64 >= COLD * (r as f64 / rows as f64) {
            warm += r;
            caught += s;
        }
    }
    Some((warm as f64 / rows as f64, caught as f64 / splits as f64))
}

fn best(arrivals: &Arrivals, growth: &Growth) -> u8 {
    let (rows, page) = (growth.rows as f64, growth.rows_a_page as f64);
    let part = |caught: f64, share: f64| {
        let comes = if share > 0.0 { arrivals.between * caught / (rows * share) } else { 0.0 };
        Part { share, comes, stays: comes * arrivals.stays }
    };
    let (warm, caught) = (arrivals.spread, arrivals.caught);
    let parts = [part(caught, warm), part(1.0 - caught, 1.0 - warm)];
    let mut chosen = (100, f64::INFINITY);
    for factor in FACTORS.rev() {
        let cost = cost(f64::from(factor) / 100.0, parts, page);
        if cost < chosen.1 * WORTH {
            chosen = (factor, cost);
        }
    }
    chosen.0
}

/// The predicted pages of the index, relative to its number of full pages, plus the cost of splits.
fn cost(fill: f64, parts: [Part; 2], page: f64) -> f64 {
    let of = |part: Part| {
        let mean = |factor: f64| {
            let (comes, stays) = (part.comes * factor, part.stays * factor);
            // Inserts are random, and so is the share of the key range that a page covers.
            let variance = fill * comes * (1.0 + comes) / page;
            let becomes = pages(fill * (1.0 + stays), variance, HALVES_MAX);
            becomes + SPLIT_PAGES * (becomes - 1.0)
        };
        let means: f64 = GROWTHS.iter().map(|f| mean(*f)).sum();
        part.share / fill * means / GROWTHS.len() as f64
    };
    parts.into_iter().map(of).sum()
}

/// The number of pages that a page becomes, if its rows will fill `content` pages, with a variance.
fn pages(content: f64, variance: f64, halves: u32) -> f64 {
    if variance <= 0.0 {
        return 1.0;
    }
    let overflows = normal((content - 1.0) / variance.sqrt());
    if halves == 0 || overflows < 1e-4 {
        return 1.0;
    }
    1.0 - overflows + 2.0 * overflows * pages(content / 2.0, variance / 2.0, halves - 1)
}

/// The probability that a normally distributed number is below `x` (mean 0, deviation 1).
fn normal(x: f64) -> f64 {
    1.0 / (1.0 + (-1.5976 * x - 0.070_565 * x * x * x).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: AutoFill =
        AutoFill { rows: 0, inserts: 0, growth: 0, appends: 0, splits: 0, spread: 0 };

    /// 16 parts of the same size with so many of the splits that were kept.
    fn parts(splits: impl Fn(usize) -> u64) -> Vec<GrowthPart> {
        (0..16).map(|n| GrowthPart { rows: 6250, splits: splits(n) }).collect()
    }

    fn grown(inserts: u64, splits: u64, parts: Vec<GrowthPart>) -> Growth {
        let (rows, rows_a_page) = (100_000, 300);
        Growth { rows, built: None, inserts, splits, rows_a_page, parts, ..Growth::default() }
    }

    fn factor(growth: &Growth) -> u8 {
        choose(growth, &FULL).0
    }

    #[test]
    fn what_nothing_is_known_of_is_full() {
        assert_eq!(choose(&Growth::default(), &FULL), (100, FULL));
        assert_eq!(factor(&grown(0, 0, parts(|_| 0))), 100);
    }

    #[test]
    fn rows_all_over_get_their_room_and_a_little_more() {
        let of = |inserts| factor(&grown(inserts, 300, parts(|_| 16)));
        for (inserts, least, most) in [(10_000, 80, 90), (25_000, 66, 76), (100_000, 38, 47)] {
            let chosen = of(inserts);
            assert!((least..=most).contains(&chosen), "{inserts} rows: {chosen}");
        }
        // The same without splits, as there was room.
        assert_eq!(factor(&grown(25_000, 0, parts(|_| 0))), of(25_000));
    }

    #[test]
    fn rows_at_the_edge_or_at_one_moving_place_get_none() {
        let edge = Growth { appends: 332, ..grown(100_000, 0, parts(|_| 0)) };
        assert_eq!(factor(&edge), 100);
        let group_ends = Growth { at_end: 280, ..grown(100_000, 300, parts(|_| 16)) };
        assert_eq!(factor(&group_ends), 100);
        let backwards = Growth { beside_last: 299, ..grown(100_000, 300, parts(|_| 16)) };
        assert_eq!(factor(&backwards), 100);
    }

    #[test]
    fn rows_in_one_place_leave_the_rest_full() {
        let hot = grown(20_000, 130, parts(|n| if n == 5 { 130 } else { 0 }));
        let (chosen, basis) = choose(&hot, &FULL);
        assert!(chosen >= 97, "{chosen}");
        assert_eq!(basis.spread, 6);
    }

    #[test]
    fn rows_that_go_again_need_little_room() {
        let churn = Growth { built: Some(100_000), ..grown(100_000, 300, parts(|_| 16)) };
        let (chosen, basis) = choose(&churn, &FULL);
        assert!((80..=95).contains(&chosen), "{chosen}");
        assert_eq!((basis.inserts, basis.growth), (100_000, 0));
        let half = Growth { built: Some(50_000), ..grown(100_000, 300, parts(|_| 16)) };
        let chosen = choose(&half, &FULL).0;
        assert!((50..=65).contains(&chosen), "{chosen}");
    }

    #[test]
    fn what_was_learnt_lasts_over_a_restart_and_fades_in_peace() {
        let (before, last) = choose(&grown(100_000, 300, parts(|_| 16)), &FULL);
        // After a start nothing is counted, but the rows that have come since the build are there.
        let more = Growth { rows: 200_000, ..grown(0, 0, parts(|_| 0)) };
        let (after, _) = choose(&more, &last);
        assert!(after < 65, "{after}");
        let mut now = (before, last);
        let mut builds = 0;
        while now.0 < 99 {
            now = choose(&grown(0, 0, parts(|_| 0)), &now.1);
            builds += 1;
            assert!(builds < 20, "invariant 2");
        }
        assert!(builds > 3);
    }
}
