//! What proofs measure: lines of a figure beside its limit, and how they are made.

use super::program::Ground;
use checks::Outcome;

/// One measured line of a proof.
pub(crate) struct Figure {
    pub(crate) what: String,
    pub(crate) figure: String,
    pub(crate) limit: String,
    pub(crate) pass: bool,
}

/// Runs a proof's scenario and tells what came out.
pub(crate) type Measure = fn(&Ground<'_>) -> Outcome<Vec<Figure>>;

/// What a part of a proof gives.
pub(crate) type Part = Outcome<Vec<Figure>>;

/// A part that uses what the parts of a proof share.
pub(crate) type SharedPart<S> = fn(&mut S) -> Part;

/// A figure that could not be had.
pub(crate) fn failed(what: &str, why: String) -> Figure {
    let limit = "a measurement".to_owned();
    Figure { what: what.to_owned(), figure: why, limit, pass: false }
}

/// Figures of a proof that may run a part of what is asked for. Of a part none passes, but each
/// tells whether it keeps its limit.
pub(crate) fn of_scale(ground: &Ground<'_>, mut figures: Vec<Figure>) -> Vec<Figure> {
    if !ground.is_whole() {
        for figure in &mut figures {
            figure.limit += if figure.pass { ", which is kept" } else { ", which is missed" };
            figure.limit += ground.of_the_whole();
            figure.pass = false;
        }
    }
    figures
}

/// The parts of a proof that are to be run, one after the other. One that breaks off is a figure
/// that fails, and the next is run all the same.
pub(crate) fn parts<S>(
    ground: &Ground<'_>,
    scene: &mut S,
    parts: &[(&str, SharedPart<S>)],
) -> Vec<Figure> {
    let chosen = parts.iter().filter(|(name, _)| ground.has_part(name));
    of_scale(ground, chosen.flat_map(|(name, part)| or_why(name, part(scene))).collect())
}

/// The same of parts that each stand alone.
pub(crate) fn measures(ground: &Ground<'_>, parts: &[(&str, Measure)]) -> Vec<Figure> {
    let chosen = parts.iter().filter(|(name, _)| ground.has_part(name));
    of_scale(ground, chosen.flat_map(|(name, part)| or_why(name, part(ground))).collect())
}

fn or_why(name: &str, part: Part) -> Vec<Figure> {
    part.unwrap_or_else(|why| vec![failed(name, why)])
}

/// The middle one of an odd number of figures.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::median;

    /// The middle by size, not by place.
    #[test]
    fn medians() {
        assert_eq!(median(vec![9.0, 1.0, 5.0]), 5.0);
        assert_eq!(median(vec![3.0]), 3.0);
        assert!(median(Vec::new()).is_nan());
    }
}
