//! What proofs stand on: the program under proof and its server, clients of it, sessions and their
//! ledgers, runs of `bench/` and of tests, and the figures that come of them.

pub(crate) mod bench;
pub(crate) mod client;
pub(crate) mod figure;
pub(crate) mod ledger;
pub(crate) mod lines;
pub(crate) mod program;
pub(crate) mod scene;
pub(crate) mod sqlcmd;
pub(crate) mod test_runs;
pub(crate) mod tls;
