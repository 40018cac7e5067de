//! When statistics are too old: as SQL Server documents it for compatibility level 130 and above.
//!
//! | rows when they were made | changes that make them stale |
//! |---|---|
//! | temporary table, below 6 | 6 |
//! | up to 500 | 500 |
//! | more | the lesser of 500 + 20 % and sqrt(1000 * rows) |
//!
//! Statistics of a table that was empty are stale with its first row.

/// Changes that make statistics of so many rows stale.
pub fn stale_after(rows: u64, temporary: bool) -> u64 {
    match rows {
        0 => 1,
        1..6 if temporary => 6,
        1..=500 => 500,
        _ => {
            let n = rows as f64;
            (500.0 + 0.2 * n).min((1000.0 * n).sqrt()) as u64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::stale_after;

    #[test]
    fn thresholds_are_those_that_are_documented() {
        assert_eq!(stale_after(0, false), 1);
        assert_eq!([5, 6].map(|n| stale_after(n, true)), [6, 500]);
        assert_eq!([1, 500].map(|n| stale_after(n, false)), [500, 500]);
        assert_eq!(stale_after(1000, false), 700, "500 + 20 % is less than 1000");
        assert_eq!(stale_after(2_000_000, false), 44_721, "SQL Server's documented example");
    }
}
