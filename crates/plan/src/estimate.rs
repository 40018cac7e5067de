//! What a plan's maker expected of an operator.

/// Expectations of one operator. Costs are in the unit that showplan shows: reading one row of a
/// table in memory takes 1.1e-6 of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Rows it gives each time it is opened.
    pub rows: f64,
    /// Bytes of a row's values.
    pub row_bytes: f64,
    /// How often it is opened.
    pub executions: f64,
    /// Cost of the pages that it reads or spills, each time.
    pub io: f64,
    /// Cost of computing, each time.
    pub cpu: f64,
    /// Cost of it and everything below, all times together.
    pub subtree: f64,
}
