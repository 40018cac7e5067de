//! Exchanges: several workers make rows in parallel. README.md says who owns what, how ends and
//! errors travel, and why no thread waits for ever.
//!
//! In a statement that runs with one thread, an exchange passes on the rows of its input. In one
//! with a crew it is the reading end: the input runs in workers, each with a copy of it
//! (`worker.rs`). How many threads an instance has for this, `workers.rs` says.

mod crew;
mod link;
mod makers;
mod stop;
mod team;
mod worker;
mod workers;

pub(crate) use crew::{Crew, CrewLoan, Report};
pub use makers::{MadeRows, Maker, MakerTask, MakersWork};
pub(crate) use team::{Team, Worker};
pub use workers::{CrewRow, ThreadReservation, Workers};

use crate::memory::Decoder;
use crate::operator::{Node, Operator};
use crate::run::Run;
use base::{DatabaseId, HobtId, SqlResult};
use link::{Link, Packet};
use plan::{ExchangeKind, Physical, Slot, SortKey};
use std::cmp::Ordering;
use std::sync::Arc;
use types::{Value, compare};

/// What the workers of an exchange run, and how its operators are numbered.
pub(crate) struct Branch {
    pub(crate) input: Physical,
    pub(crate) kind: ExchangeKind,
    pub(crate) columns: Vec<Slot>,
    /// The first of its operators, cursors and exchanges.
    pub(crate) nodes: usize,
    pub(crate) cursors: usize,
    pub(crate) exchanges: usize,
    /// The hobts of the plan by number, as far as its operators know them.
    pub(crate) hobts: Vec<(DatabaseId, HobtId)>,
    /// The branch whose workers read it; `None`: the thread that runs the statement reads it.
    pub(crate) read_by: Option<usize>,
    /// Operators are timed.
    pub(crate) timed: bool,
}

/// The reading end.
pub(crate) struct Exchange {
    /// Its branch.
    number: usize,
    input: Node,
    columns: Vec<Slot>,
    /// What a merge orders by, and its place among the columns.
    order: Vec<(usize, SortKey)>,
    reading: RowSource,
}

enum RowSource {
    /// There is no crew: the input's rows.
    Own,
    /// Rows of one lane, as they come.
    Lane(Lane),
    /// The least of the first rows of all lanes.
    Merge(Vec<Lane>),
}

/// The reading end of a lane.
struct Lane {
    link: Arc<Link>,
    number: usize,
    packet: Packet,
    at: usize,
    /// In a merge: the first row that was not given yet.
    row: Vec<Value>,
}

impl Exchange {
    pub(crate) fn new(number: usize, input: Node, exchange: &plan::Exchange) -> Exchange {
        let columns = exchange.columns.clone();
        let place = |k: &SortKey| Some((columns.iter().position(|c| *c == k.slot)?, *k));
        let order = match &exchange.kind {
            ExchangeKind::GatherOrdered(keys) => keys.iter().filter_map(place).collect(),
            ExchangeKind::Gather | ExchangeKind::Repartition(_) => Vec::new(),
        };
        let merged = matches!(exchange.kind, ExchangeKind::GatherOrdered(_));
        debug_assert_eq!(merged, !order.is_empty(), "rows carry what they are merged by");
        Exchange { number, input, columns, order, reading: RowSource::Own }
    }

    fn begin_lanes(&mut self, run: &mut Run<'_>, team: &dyn Team) -> SqlResult<()> {
        let link = team.link(self.number);
        link.begin();
        if self.order.is_empty() {
            let number = run.worker.map_or(0, |w| w.number);
            self.reading = RowSource::Lane(Lane::new(link, number));
            return Ok(());
        }
        let mut lanes: Vec<Lane> =
            (0..link.lanes()).map(|n| Lane::new(Arc::clone(&link), n)).collect();
        for lane in &mut lanes {
            lane.advance(run, team, self.columns.len())?;
        }
        self.reading = RowSource::Merge(lanes);
        Ok(())
    }

    fn order_of(&self, a: &[Value], b: &[Value]) -> Ordering {
        for (at, key) in &self.order {
            let order = compare(&a[*at], &b[*at], key.collation);
            if order.is_ne() {
                return if key.descending { order.reverse() } else { order };
            }
        }
        Ordering::Equal
    }

    /// The lane whose first row comes next.
    fn least(&self, lanes: &[Lane]) -> Option<usize> {
        let there = (0..lanes.len()).filter(|&n| !lanes[n].row.is_empty());
        there.min_by(|&a, &b| self.order_of(&lanes[a].row, &lanes[b].row))
    }

    fn next_merged(&mut self, run: &mut Run<'_>, team: &dyn Team) -> SqlResult<bool> {
        let RowSource::Merge(lanes) = &self.reading else { return Ok(false) };
        let Some(next) = self.least(lanes) else {
            run.outcome.nulls_eliminated |= team.saw_nulls();
            return Ok(false);
        };
        let RowSource::Merge(lanes) = &mut self.reading else { return Ok(false) };
        for (&slot, value) in self.columns.iter().zip(&mut lanes[next].row) {
            run.set(slot, std::mem::replace(value, Value::Null));
        }
        lanes[next].advance(run, team, self.columns.len())?;
        Ok(true)
    }
}

impl Lane {
    fn new(link: Arc<Link>, number: usize) -> Lane {
        Lane { link, number, packet: Packet::default(), at: 0, row: Vec::new() }
    }

    /// Makes sure that there is a row to be read; false after the last.
    fn fill(&mut self, run: &Run<'_>, team: &dyn Team) -> SqlResult<bool> {
        while self.packet.rows == 0 {
            let used = std::mem::take(&mut self.packet);
            let waiter = run.work.owner().waiter();
            match self.link.receive(self.number, used, waiter, team.stop())? {
                Some(packet) => (self.packet, self.at) = (packet, 0),
                None => return Ok(false),
            }
        }
        self.packet.rows -= 1;
        Ok(true)
    }

    /// Reads the next row into `row`; none where there is no more. A row has a column at least:
    /// that it is ordered by.
    fn advance(&mut self, run: &Run<'_>, team: &dyn Team, columns: usize) -> SqlResult<()> {
        if !self.fill(run, team)? {
            self.row.clear();
            return Ok(());
        }
        let mut decoder = Decoder(&self.packet.bytes[self.at..]);
        self.row.resize(columns, Value::Null);
        for value in &mut self.row {
            *value = decoder.value()?;
        }
        self.at = self.packet.bytes.len() - decoder.0.len();
        Ok(())
    }
}

impl Operator for Exchange {
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        match run.team {
            None => self.input.open(run),
            Some(team) => self.begin_lanes(run, team),
        }
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        let Some(team) = run.team else { return self.input.next(run) };
        let lane = match &mut self.reading {
            RowSource::Own => return self.input.next(run),
            RowSource::Merge(_) => return self.next_merged(run, team),
            RowSource::Lane(lane) => lane,
        };
        if !lane.fill(run, team)? {
            run.outcome.nulls_eliminated |= team.saw_nulls();
            return Ok(false);
        }
        let mut decoder = Decoder(&lane.packet.bytes[lane.at..]);
        for &slot in &self.columns {
            run.set(slot, decoder.value()?);
        }
        lane.at = lane.packet.bytes.len() - decoder.0.len();
        Ok(true)
    }

    fn rewind(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        match run.team {
            None => self.input.rewind(run),
            Some(_) => {
                Err(base::SqlError::new(base::messages::INTERNAL, &[&"an exchange is read once"]))
            }
        }
    }

    fn close(&mut self) {
        match std::mem::replace(&mut self.reading, RowSource::Own) {
            RowSource::Own => {}
            RowSource::Lane(lane) => lane.link.close(lane.number),
            RowSource::Merge(lanes) => lanes.iter().for_each(|lane| lane.link.close(lane.number)),
        }
        self.input.close();
    }
}
