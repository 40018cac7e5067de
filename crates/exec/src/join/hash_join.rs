//! Hash join: a hash table of the build side, probed with the rows of the other side.
//!
//! When the build side exceeds the grant, both sides are divided into partitions by the hash of
//! their keys and joined partition by partition. A partition that is still too large is divided
//! again.

use super::join_filter::{Hashes, JoinFilter};
use super::join_table::JoinTable;
use crate::expr::Cond;
use crate::memory::{LEVEL_MAX, Partitions, hash_row, read_slots};
use crate::operator::{Node, Operator};
use crate::run::Run;
use access::SpillFile;
use base::SqlResult;
use plan::{JoinKind, Slot};
use std::sync::Arc;
use types::{Collation, Value};

/// Joins two inputs by equality.
pub(crate) struct HashJoin {
    id: usize,
    kind: JoinKind,
    build: Node,
    probe: Node,
    keys: Vec<(Slot, Slot, Collation)>,
    residual: Option<Cond>,
    /// What a saved row of the probe side keeps.
    probe_saved: Vec<Slot>,
    build_slots: Vec<Slot>,
    probe_slots: Vec<Slot>,
    table: JoinTable,
    jobs: Vec<Job>,
    /// Where probe rows come from when not from the probe input.
    probe_file: Option<Box<dyn SpillFile>>,
    partitioned: bool,
    filter: Filter,
    /// The row that is being saved.
    row: Vec<u8>,
    phase: Phase,
}

/// The filter that drops probe rows without a partner before they are looked up.
#[derive(Default)]
struct Filter {
    hashes: Option<Arc<Hashes>>,
    /// The probe side drops them.
    obeyed: bool,
    bytes: usize,
}

/// Two files of rows that can only match each other.
struct Job {
    level: u32,
    build: Option<Box<dyn SpillFile>>,
    probe: Option<Box<dyn SpillFile>>,
}

enum Phase {
    /// The next probe row is to be read.
    Probe,
    /// A probe row is in the frame; `next` is the candidate to look at.
    Matching {
        next: Option<u32>,
        hash: u64,
        matched: bool,
    },
    /// Build rows without partner, from here.
    Unmatched {
        at: usize,
    },
    Done,
}

fn with_all(slots: &[Slot], more: impl Iterator<Item = Slot>) -> Vec<Slot> {
    let mut all = slots.to_vec();
    for slot in more {
        if !all.contains(&slot) {
            all.push(slot);
        }
    }
    all
}

impl HashJoin {
    pub(crate) fn new(
        id: usize,
        join: &plan::HashJoin,
        build: Node,
        probe: Node,
    ) -> SqlResult<HashJoin> {
        // Keys first: they are compared where the row lies.
        let mut build_saved: Vec<Slot> = join.keys.iter().map(|k| k.0).collect();
        let own_keys = join.keys.iter().map(|k| (k.1, k.2)).collect();
        build_saved
            .extend(join.build_slots.iter().filter(|s| !join.keys.iter().any(|k| k.0 == **s)));
        let reads = join.residual.as_ref().map(|p| p.reads().slots).unwrap_or_default();
        let beyond = reads.into_iter().filter(|s| !build_saved.contains(s));
        let probe_saved = with_all(&join.probe_slots, join.keys.iter().map(|k| k.1).chain(beyond));
        let table = JoinTable::new(build_saved.clone(), own_keys);
        Ok(HashJoin {
            id,
            kind: join.kind,
            build,
            probe,
            keys: join.keys.clone(),
            residual: join.residual.as_ref().map(Cond::new).transpose()?,
            probe_saved,
            build_slots: build_saved,
            probe_slots: join.probe_slots.clone(),
            table,
            jobs: Vec::new(),
            probe_file: None,
            partitioned: false,
            filter: Filter::default(),
            row: Vec::new(),
            phase: Phase::Done,
        })
    }

    fn keeps_build(&self) -> bool {
        matches!(self.kind, JoinKind::Right | JoinKind::Full)
    }

    fn keeps_probe(&self) -> bool {
        matches!(self.kind, JoinKind::Left | JoinKind::Full | JoinKind::Anti)
    }

    fn build_hash(&self, run: &Run<'_>) -> Option<u64> {
        hash_row(self.keys.iter().map(|k| (run.slot(k.0), k.2)), false)
    }

    fn probe_hash(&self, run: &Run<'_>) -> Option<u64> {
        hash_row(self.keys.iter().map(|k| (run.slot(k.1), k.2)), false)
    }

    /// Reads the build side, from its input or a file, into the table; what does not fit goes to
    /// partitions, and all of it then.
    fn fill(
        &mut self,
        run: &mut Run<'_>,
        mut file: Option<Box<dyn SpillFile>>,
        level: u32,
    ) -> SqlResult<Option<Partitions>> {
        self.table.clear(run);
        let mut overflow: Option<Partitions> = None;
        loop {
            let more = match &mut file {
                None => self.build.next(run)?,
                Some(f) => read_slots(run, &self.build_slots, f.as_mut())?,
            };
            if !more {
                break;
            }
            run.tick()?;
            let hash = self.build_hash(run);
            if hash.is_none() && !self.keeps_build() {
                continue;
            }
            if overflow.is_none() {
                self.table.encode(run, &mut self.row);
                let bytes = self.row.len() + JoinTable::ROW_BYTES;
                let fits = run.take_memory(bytes, self.table.memory_bytes());
                if !fits && level >= LEVEL_MAX {
                    run.overdraw_memory(bytes);
                }
                if fits || level >= LEVEL_MAX {
                    self.table.push(&self.row, hash, bytes);
                    continue;
                }
                overflow = Some(self.spread_table(run, level)?);
            }
            if let Some(partitions) = &mut overflow {
                partitions.push(run, hash, &self.build_slots)?;
            }
        }
        self.table.link(run)?;
        Ok(overflow)
    }

    /// Moves the rows of the table to partitions; the row in the frame stays.
    fn spread_table(&mut self, run: &mut Run<'_>, level: u32) -> SqlResult<Partitions> {
        let mut partitions = Partitions::new(level);
        let at_hand: Vec<Value> = self.build_slots.iter().map(|&s| run.slot(s).clone()).collect();
        for row in 0..self.table.len() {
            run.tick()?;
            self.table.load(run, row)?;
            partitions.push(run, self.table.hash(row), &self.build_slots)?;
        }
        for (&slot, value) in self.build_slots.iter().zip(at_hand) {
            run.set(slot, value);
        }
        self.table.clear(run);
        Ok(partitions)
    }

    /// Spreads the probe side likewise and makes a job of each pair of files.
    fn spread_probe(
        &mut self,
        run: &mut Run<'_>,
        builds: Partitions,
        mut file: Option<Box<dyn SpillFile>>,
        level: u32,
    ) -> SqlResult<()> {
        let mut probes = Partitions::new(level);
        loop {
            let more = match &mut file {
                None => self.probe.next(run)?,
                Some(f) => read_slots(run, &self.probe_saved, f.as_mut())?,
            };
            if !more {
                break;
            }
            run.tick()?;
            let hash = self.probe_hash(run);
            if hash.is_some() || self.keeps_probe() {
                probes.push(run, hash, &self.probe_saved)?;
            }
        }
        let builds = builds.finish(run, self.id)?;
        let probes = probes.finish(run, self.id)?;
        for (build, probe) in builds.into_iter().zip(probes) {
            if build.is_some() || probe.is_some() {
                self.jobs.push(Job { level: level + 1, build, probe });
            }
        }
        Ok(())
    }

    /// Begins the next pair of files; false when there is none.
    fn next_job(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        self.probe_file = None;
        while let Some(job) = self.jobs.pop() {
            let overflow = match job.build {
                Some(file) => self.fill(run, Some(file), job.level)?,
                None => {
                    self.table.clear(run);
                    self.table.link(run)?;
                    None
                }
            };
            match (overflow, job.probe) {
                (Some(builds), Some(probe)) => {
                    self.spread_probe(run, builds, Some(probe), job.level)?;
                }
                (Some(builds), None) => {
                    let builds = builds.finish(run, self.id)?;
                    let level = job.level + 1;
                    let alone = |build| Job { level, build: Some(build), probe: None };
                    self.jobs.extend(builds.into_iter().flatten().map(alone));
                }
                (None, probe) => {
                    self.probe_file = probe;
                    self.phase = Phase::Probe;
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn next_probe(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        match &mut self.probe_file {
            Some(f) => read_slots(run, &self.probe_saved, f.as_mut()),
            None if self.partitioned => Ok(false),
            None => self.probe.next(run),
        }
    }

    /// The next candidate whose keys equal the probe row's and for which the residual is true.
    fn next_match(
        &mut self,
        run: &mut Run<'_>,
        mut next: Option<u32>,
        hash: u64,
    ) -> SqlResult<Option<u32>> {
        while let Some(row) = next {
            run.tick()?;
            if self.table.matches(run, row, hash) {
                self.table.load(run, row as usize)?;
                match &self.residual {
                    Some(p) if !p.holds(run)? => {}
                    _ => return Ok(Some(row)),
                }
            }
            next = self.table.after(row);
        }
        Ok(None)
    }

    /// Goes on with the probe row at hand; true when there is a row to give.
    fn step_matching(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        let Phase::Matching { next, hash, matched } = self.phase else { return Ok(false) };
        let found = self.next_match(run, next, hash)?;
        let Some(row) = found else {
            self.phase = Phase::Probe;
            if matched || !self.keeps_probe() {
                return Ok(false);
            }
            for &slot in &self.build_slots {
                run.set(slot, Value::Null);
            }
            return Ok(true);
        };
        self.table.mark(row);
        let after = self.table.after(row);
        self.phase = match self.kind {
            JoinKind::Semi | JoinKind::Anti => Phase::Probe,
            _ => Phase::Matching { next: after, hash, matched: true },
        };
        Ok(self.kind != JoinKind::Anti)
    }

    fn step_probe(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        loop {
            run.tick()?;
            if !self.next_probe(run)? {
                self.phase = Phase::Unmatched { at: 0 };
                return Ok(());
            }
            let (next, hash) = match self.probe_hash(run) {
                Some(hash) if self.filter.may_have(hash) => (self.table.first(hash), hash),
                _ => (None, 0),
            };
            if next.is_some() || self.keeps_probe() {
                self.phase = Phase::Matching { next, hash, matched: false };
                return Ok(());
            }
        }
    }

    /// The build side is in memory: makes the set of its hashes, and passes it to the operators
    /// that read the probe side's keys, if rows without a partner are not needed.
    fn make_filter(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.drop_filter(run);
        let bytes = Hashes::bytes(self.table.len());
        if !self.partitioned && run.take_memory(bytes, self.table.memory_bytes()) {
            let hashes = Arc::new(self.table.hashes(run)?);
            self.filter = Filter { hashes: Some(Arc::clone(&hashes)), obeyed: false, bytes };
            if !self.keeps_probe() {
                let keys = self.keys.iter().map(|k| (k.1, k.2)).collect();
                let filter = JoinFilter { keys, hashes };
                self.filter.obeyed = self.probe.set_filter(self.id, Some(&filter));
            }
        }
        Ok(())
    }

    fn drop_filter(&mut self, run: &mut Run<'_>) {
        run.give_memory(self.filter.bytes);
        if self.filter.obeyed {
            self.probe.set_filter(self.id, None);
        }
        self.filter = Filter::default();
    }

    /// Gives build rows without partner; afterwards the next job begins.
    fn step_unmatched(&mut self, run: &mut Run<'_>, at: usize) -> SqlResult<bool> {
        let found = if self.keeps_build() { self.table.unmatched(at) } else { None };
        if let Some(row) = found {
            self.table.load(run, row)?;
            for &slot in &self.probe_slots {
                run.set(slot, Value::Null);
            }
            self.phase = Phase::Unmatched { at: row + 1 };
            return Ok(true);
        }
        if !self.next_job(run)? {
            self.phase = Phase::Done;
        }
        Ok(false)
    }
}

impl Filter {
    /// Whether a row of that hash may have a partner.
    #[inline]
    fn may_have(&self, hash: u64) -> bool {
        self.obeyed || self.hashes.as_ref().is_none_or(|hashes| hashes.may_have(hash))
    }
}

impl Operator for HashJoin {
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.jobs.clear();
        self.probe_file = None;
        self.phase = Phase::Probe;
        self.build.open(run)?;
        let overflow = self.fill(run, None, 0)?;
        self.partitioned = overflow.is_some();
        if self.table.is_empty() && overflow.is_none() && !self.keeps_probe() {
            // Nothing can match: the probe side need not be read.
            self.phase = Phase::Done;
            if run.team.is_some() {
                // Other consumers may read it: its producers must know that this one does not.
                self.probe.open(run)?;
                self.probe.close();
            }
            return Ok(());
        }
        self.make_filter(run)?;
        self.probe.open(run)?;
        if let Some(builds) = overflow {
            self.spread_probe(run, builds, None, 0)?;
            if !self.next_job(run)? {
                self.phase = Phase::Done;
            }
        }
        Ok(())
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        loop {
            let gives = match self.phase {
                Phase::Probe => {
                    self.step_probe(run)?;
                    false
                }
                Phase::Matching { .. } => self.step_matching(run)?,
                Phase::Unmatched { at } => self.step_unmatched(run, at)?,
                Phase::Done => return Ok(false),
            };
            if gives {
                return Ok(true);
            }
        }
    }

    fn rewind(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        if self.partitioned || self.table.is_empty() {
            return self.open(run);
        }
        self.table.forget_matches();
        self.phase = Phase::Probe;
        self.probe.rewind(run)
    }

    fn set_filter(&mut self, join: usize, filter: Option<&JoinFilter>) -> bool {
        // What keeps build rows must see every partner of theirs.
        match self.keeps_build() {
            true => false,
            false => self.probe.set_filter(join, filter),
        }
    }

    fn close(&mut self) {
        self.filter = Filter::default();
        self.table.drop_rows();
        self.jobs.clear();
        self.probe_file = None;
        self.phase = Phase::Done;
        self.build.close();
        self.probe.close();
    }
}
