//! Ways to have one statement computed: indexes or none, and what its plan is forced to.

/// The schema with indexes, and its twin without.
pub(crate) const KEYED: &str = "k";
pub(crate) const PLAIN: &str = "p";

/// A way.
pub(crate) struct Variant {
    /// Whose tables.
    pub(crate) schema: &'static str,
    /// OPTION (…), or nothing.
    pub(crate) hints: &'static str,
    /// Its time grows with the square of the rows: not for large data sets.
    pub(crate) quadratic: bool,
}

const fn way(schema: &'static str, hints: &'static str) -> Variant {
    Variant { schema, hints, quadratic: false }
}

/// Each is compared with the first.
pub(crate) const VARIANTS: &[Variant] = &[
    way(PLAIN, ""),
    way(KEYED, ""),
    Variant { schema: KEYED, hints: "loop join", quadratic: true },
    Variant { schema: PLAIN, hints: "loop join", quadratic: true },
    way(KEYED, "hash join"),
    way(KEYED, "merge join"),
    way(PLAIN, "merge join"),
    way(KEYED, "force order"),
    way(PLAIN, "hash group"),
    way(KEYED, "order group"),
    way(KEYED, "merge union"),
    way(PLAIN, "merge union, max_grant_percent = 0"),
    way(KEYED, "hash union"),
    way(PLAIN, "concat union"),
    way(PLAIN, "order group, max_grant_percent = 0"),
    way(PLAIN, "hash join, hash group, max_grant_percent = 0"),
    way(PLAIN, "maxdop 2, use hint('ENABLE_PARALLEL_PLAN_PREFERENCE')"),
    way(KEYED, "maxdop 3, use hint('ENABLE_PARALLEL_PLAN_PREFERENCE')"),
    way(PLAIN, "maxdop 4, hash join, use hint('ENABLE_PARALLEL_PLAN_PREFERENCE')"),
    way(KEYED, "maxdop 2, max_grant_percent = 0, use hint('ENABLE_PARALLEL_PLAN_PREFERENCE')"),
];

/// Ways to make a change: each is compared with the first. By 8790 each index is changed by itself.
pub(crate) const CHANGES: [Variant; 4] = [
    way(PLAIN, ""),
    way(KEYED, ""),
    way(KEYED, "querytraceon 8790"),
    way(KEYED, "querytraceon 8790, max_grant_percent = 0"),
];

/// A statement with a way's hints.
pub(crate) fn hinted(statement: &str, variant: &Variant) -> String {
    match variant.hints {
        "" => statement.to_owned(),
        hints => format!("{statement} option ({hints})"),
    }
}
