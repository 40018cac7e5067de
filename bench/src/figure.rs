//! A measured figure beside its limit, and what measuring shares.

/// Why a measurement could not be made, in words.
pub(crate) type Outcome<T> = Result<T, String>;

/// A judged line; `cargo xtask prove` reads it from the output.
pub(crate) struct Figure {
    pub(crate) what: String,
    pub(crate) figure: String,
    pub(crate) limit: String,
    pub(crate) pass: bool,
}

impl Figure {
    pub(crate) fn print(&self) {
        let verdict = if self.pass { "pass" } else { "FAIL" };
        println!("figure\t{verdict}\t{}\t{}\t{}", self.what, self.figure, self.limit);
    }
}

/// The middle one by size; of an even number the lower of the two.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    assert!(!figures.is_empty(), "a median is of something");
    figures.sort_by(f64::total_cmp);
    figures[(figures.len() - 1) / 2]
}

#[cfg(test)]
mod tests {
    #[test]
    fn medians() {
        assert_eq!(super::median(vec![9.0, 1.0, 5.0]), 5.0);
        assert_eq!(super::median(vec![3.0, 4.0]), 3.0);
    }
}
