//! Crash runs: a workload, cut off at drawn disk operations; recovery, cut off too; a check.
//!
//! For each seed the workload runs once to its end, to count its operations, and is verified.
//! Then each case cuts it off at a drawn operation and verifies what the disk keeps. The
//! verification itself, which begins with recovery, is cut off at drawn operations up to
//! `depth` times in a row; the last one runs to its end. Some cases kill the process only:
//! then unsynced writes are still there, and still unsynced.
//!
//! The oracle is what the workload was promised: it must be updated after the engine's answer,
//! without a scheduler call between the two, and the verification must not change it.
#![allow(clippy::disallowed_types, reason = "the harness runs outside the simulation")]

use crate::disk::{Disk, DiskOptions};
use crate::random::{Random, mix};
use crate::simulation::{Options, RunEnd, Simulation};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// Set to a failing line (`seed=… case=…`), it makes [`crash_runs`] run that one case.
pub const REPLAY: &str = "GHOSTLIGHT_SIM";

/// What to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Seeds of workloads.
    pub seeds: Range<u64>,
    /// Crash points per seed.
    pub cases: u64,
    /// Crashes in a row at most: the workload's, then those of recoveries.
    pub depth: u32,
    /// Seeds that run at the same time.
    pub threads: usize,
    /// Of each run.
    pub options: Options,
    /// Of the workload's disk; its seed is drawn.
    pub disk: DiskOptions,
}

impl Default for Plan {
    fn default() -> Self {
        Plan {
            seeds: 0..10,
            cases: 20,
            depth: 3,
            threads: os::task::processors().min(2),
            options: Options::default(),
            disk: DiskOptions::default(),
        }
    }
}

/// What was run.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Workloads that ran to their end.
    pub workloads: u64,
    /// Crashes by how many came before them in a row: `[0]` is the workload's.
    pub crashes: [u64; 4],
    /// Processes killed instead, with the disk's cache surviving.
    pub kills: u64,
    /// Processes that stopped themselves, over a failed sync.
    pub stops: u64,
    /// Verifications that ran to their end.
    pub verified: u64,
    /// Disk operations of all runs.
    pub operations: u64,
    /// Growths that were refused.
    pub refusals: u64,
}

impl Counts {
    fn add(&mut self, o: &Counts) {
        self.workloads += o.workloads;
        for (mine, theirs) in self.crashes.iter_mut().zip(o.crashes) {
            *mine += theirs;
        }
        self.kills += o.kills;
        self.stops += o.stops;
        self.verified += o.verified;
        self.operations += o.operations;
        self.refusals += o.refusals;
    }

    /// Crash points of any depth, kills included.
    pub fn crash_points(&self) -> u64 {
        self.crashes.iter().sum::<u64>() + self.kills
    }
}

/// One case in progress: what a failure prints.
struct Case<'a, W, V> {
    plan: &'a Plan,
    workload: &'a W,
    verify: &'a V,
    seed: u64,
    case: u64,
    random: Random,
    crash_ops: Vec<u64>,
    counts: Counts,
}

/// How a process ended that did not fail.
enum ProcessEnd {
    Whole,
    Cut,
    Stopped(String),
}

/// Runs every case of a plan.
///
/// # Panics
/// When a case fails: the message begins with the line that reproduces it.
pub fn crash_runs<O, W, V>(plan: &Plan, workload: W, verify: V) -> Counts
where
    O: Default + Send + Sync + 'static,
    W: Fn(Arc<Disk>, u64, Arc<O>) + Sync,
    V: Fn(Arc<Disk>, Arc<O>) + Sync,
{
    match try_crash_runs(plan, workload, verify) {
        Ok(counts) => counts,
        Err(text) => panic!("{text}"),
    }
}

/// The same, where the first failure is returned: its line, its message, the last events. For
/// builds with a planted fault, which must be caught.
///
/// # Errors
/// The first failure.
pub fn try_crash_runs<O, W, V>(plan: &Plan, workload: W, verify: V) -> Result<Counts, String>
where
    O: Default + Send + Sync + 'static,
    W: Fn(Arc<Disk>, u64, Arc<O>) + Sync,
    V: Fn(Arc<Disk>, Arc<O>) + Sync,
{
    let deepest = Counts::default().crashes.len();
    assert!((1..=deepest).contains(&(plan.depth as usize)), "that depth is not counted");
    if let Some((seed, case)) = std::env::var(REPLAY).ok().and_then(|line| parse(&line)) {
        let mut counts = Counts::default();
        let whole = run_case(plan, &workload, &verify, (seed, 0), WHOLE, &mut counts)?;
        if case > 0 {
            run_case(plan, &workload, &verify, (seed, case), whole, &mut counts)?;
        }
        return Ok(counts);
    }
    let next = AtomicU64::new(plan.seeds.start);
    let failed = AtomicBool::new(false);
    let outcome = Mutex::new(Ok(Counts::default()));
    let one_thread = || {
        while !failed.load(Relaxed) {
            let seed = next.fetch_add(1, Relaxed);
            if seed >= plan.seeds.end {
                break;
            }
            let result = run_seed(plan, &workload, &verify, seed, &failed);
            let mut outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
            match (&mut *outcome, result) {
                (Ok(sum), Ok(counts)) => sum.add(&counts),
                (Ok(_), Err(text)) => *outcome = Err(text),
                (Err(_), _) => {}
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..plan.threads {
            scope.spawn(one_thread);
        }
        one_thread();
    });
    outcome.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn parse(line: &str) -> Option<(u64, u64)> {
    let field = |name: &str| line.split_whitespace().find_map(|w| w.strip_prefix(name));
    Some((field("seed=")?.parse().ok()?, field("case=")?.parse().ok()?))
}

fn run_seed<O, W, V>(
    plan: &Plan,
    workload: &W,
    verify: &V,
    seed: u64,
    failed: &AtomicBool,
) -> Result<Counts, String>
where
    O: Default + Send + Sync + 'static,
    W: Fn(Arc<Disk>, u64, Arc<O>) + Sync,
    V: Fn(Arc<Disk>, Arc<O>) + Sync,
{
    let mut counts = Counts::default();
    let mut whole = WHOLE;
    for case in 0..=plan.cases {
        if failed.load(Relaxed) {
            break;
        }
        let span = run_case(plan, workload, verify, (seed, case), whole, &mut counts);
        let span = span.inspect_err(|_| failed.store(true, Relaxed))?;
        if case == 0 {
            whole = span;
        }
    }
    Ok(counts)
}

/// Disk operations of a workload and of its recovery: where crashes are drawn.
#[derive(Clone, Copy)]
struct Span {
    workload: u64,
    recovery: u64,
}

/// Of a workload that has not run yet.
const WHOLE: Span = Span { workload: 0, recovery: 0 };

/// Runs one case and says how many operations it had. Case 0 is the whole workload.
fn run_case<O, W, V>(
    plan: &Plan,
    workload: &W,
    verify: &V,
    (seed, case): (u64, u64),
    whole: Span,
    counts: &mut Counts,
) -> Result<Span, String>
where
    O: Default + Send + Sync + 'static,
    W: Fn(Arc<Disk>, u64, Arc<O>) + Sync,
    V: Fn(Arc<Disk>, Arc<O>) + Sync,
{
    let random = Random::new(mix(mix(seed, 6), case));
    let (crash_ops, counts_of_case) = (Vec::new(), Counts::default());
    let mut run =
        Case { plan, workload, verify, seed, case, random, crash_ops, counts: counts_of_case };
    let result = run.workload::<O>(whole);
    counts.add(&run.counts);
    result
}

impl<W, V> Case<'_, W, V> {
    /// Runs the workload, cut off unless this is case 0, and verifies what is left.
    fn workload<O>(&mut self, whole: Span) -> Result<Span, String>
    where
        O: Default + Send + Sync + 'static,
        W: Fn(Arc<Disk>, u64, Arc<O>) + Sync,
        V: Fn(Arc<Disk>, Arc<O>) + Sync,
    {
        let options = DiskOptions { seed: mix(self.seed, 7), ..self.plan.disk.clone() };
        let disk = Arc::new(Disk::new(options));
        if self.case > 0 {
            let at = 1 + self.random.below(whole.workload);
            disk.crash_at(at);
            self.crash_ops.push(at);
        }
        let oracle = Arc::new(O::default());
        let (seed, workload) = (self.seed, self.workload);
        let left = self.process(&disk, seed, |disk| workload(disk, seed, Arc::clone(&oracle)))?;
        let operations = disk.operations();
        if let ProcessEnd::Whole = left {
            if self.case > 0 {
                return Err(format!("{}: the workload differs from its first run", self.line()));
            }
            self.counts.workloads += 1;
        }
        let disk = self.next_disk(&disk, &left);
        let recovery = self.recoveries(disk, whole.recovery, &oracle)?;
        Ok(Span { workload: operations, recovery })
    }

    /// Verifies, cut off a few times, then whole; says how many operations that had.
    fn recoveries<O>(
        &mut self,
        mut disk: Arc<Disk>,
        mut span: u64,
        oracle: &Arc<O>,
    ) -> Result<u64, String>
    where
        O: Default + Send + Sync + 'static,
        V: Fn(Arc<Disk>, Arc<O>) + Sync,
    {
        let verify = self.verify;
        for depth in 1..=self.plan.depth {
            // Case 0 is verified at once: a failure there has nothing to do with crashes.
            let cut = self.case > 0 && depth < self.plan.depth && !self.random.one_in(3);
            if cut {
                let at = 1 + self.random.below(span.max(8));
                disk.crash_at(at);
                self.crash_ops.push(at);
            }
            let seed = mix(self.seed, 100 + u64::from(depth));
            let left = self.process(&disk, seed, |disk| verify(disk, Arc::clone(oracle)))?;
            span = disk.operations();
            match left {
                ProcessEnd::Whole if cut => {
                    self.counts.verified += 1;
                    self.crash_ops.pop();
                }
                ProcessEnd::Whole => {
                    self.counts.verified += 1;
                    return Ok(span);
                }
                ProcessEnd::Cut => {}
                ProcessEnd::Stopped(ref why) => {
                    return Err(format!("{}: recovery stopped itself: {why}", self.line()));
                }
            }
            disk = self.next_disk(&disk, &left);
        }
        unreachable!("the last verification is not cut off")
    }

    /// One process, from its start to its end or crash.
    fn process(
        &mut self,
        disk: &Arc<Disk>,
        seed: u64,
        body: impl Fn(Arc<Disk>) + Sync,
    ) -> Result<ProcessEnd, String> {
        let run = Simulation::try_run(seed, self.plan.options.clone(), |_| body(Arc::clone(disk)));
        self.counts.operations += disk.operations();
        self.counts.refusals += disk.refusals();
        match run.ended {
            RunEnd::Done(()) => Ok(ProcessEnd::Whole),
            RunEnd::Crashed => Ok(ProcessEnd::Cut),
            RunEnd::Stopped(why) => {
                self.counts.stops += 1;
                Ok(ProcessEnd::Stopped(why))
            }
            RunEnd::Failed(text) => Err(format!("{}: {text}", self.line())),
        }
    }

    /// The disk that the next process finds.
    fn next_disk(&mut self, disk: &Disk, left: &ProcessEnd) -> Arc<Disk> {
        let seed = self.random.next_u64();
        let killed = match left {
            ProcessEnd::Whole | ProcessEnd::Stopped(_) => self.random.one_in(2),
            ProcessEnd::Cut => self.random.one_in(8),
        };
        if let ProcessEnd::Cut = left {
            match killed {
                true => self.counts.kills += 1,
                false => self.counts.crashes[self.crash_ops.len() - 1] += 1,
            }
        }
        Arc::new(if killed { disk.after_stop(seed) } else { disk.after_crash(seed) })
    }

    /// The line that reproduces the case.
    fn line(&self) -> String {
        let Case { seed, case, crash_ops, .. } = self;
        let (first, nested) = match crash_ops.split_first() {
            Some((first, nested)) => (first.to_string(), nested),
            None => ("none".to_owned(), &[][..]),
        };
        let depth = crash_ops.len();
        format!("seed={seed} case={case} crash_op={first} depth={depth} nested_ops={nested:?}")
    }
}
