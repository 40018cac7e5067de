//! The table against a slow model that follows the README's rules word by word: after every
//! step of random histories both have the same holders and the same queues.

use base::{DatabaseId, HobtId, SessionId};
use lock::{
    Duration, LockError, LockRow, LockStatus, Mode, Options, Outcome, Owner, OwnerId, OwnerKind,
};
use lock::{Resource, Table, Ticket, Timeout};
use os::wait::Waiter;
use std::sync::Arc;

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Hold {
    owner: usize,
    mode: Mode,
    refs: u32,
    long: bool,
}

#[derive(Clone, Copy, Debug)]
struct Wait {
    owner: usize,
    mode: Mode,
    duration: Duration,
    converts: bool,
}

#[derive(Clone, Default, Debug)]
struct Place {
    holds: Vec<Hold>,
    queue: Vec<Wait>,
}

impl Place {
    fn held(&self, owner: usize) -> Mode {
        self.holds.iter().find(|h| h.owner == owner).map_or(Mode::NL, |h| h.mode)
    }

    fn target(&self, w: &Wait) -> Mode {
        match w.duration {
            Duration::Instant => w.mode,
            Duration::Short | Duration::Long => self.held(w.owner).combine(w.mode),
        }
    }

    /// Rules 3 to 5: no other holder, and nobody ahead, is in the way.
    fn may(&self, w: &Wait, ahead: &[Wait]) -> bool {
        let target = self.target(w);
        let held = self.held(w.owner);
        self.holds.iter().all(|h| h.owner == w.owner || !h.mode.conflicts(target))
            && ahead.iter().all(|a| {
                let theirs = self.target(a);
                !theirs.conflicts(target) || theirs.conflicts(held)
            })
    }

    fn grant(&mut self, w: &Wait) {
        if w.duration == Duration::Instant {
            return;
        }
        let mode = self.target(w);
        let short = u32::from(w.duration == Duration::Short);
        let long = w.duration == Duration::Long;
        match self.holds.iter_mut().find(|h| h.owner == w.owner) {
            Some(h) => {
                h.mode = mode;
                h.refs += short;
                h.long |= long;
            }
            None => self.holds.push(Hold { owner: w.owner, mode, refs: short, long }),
        }
    }

    /// Serves the queue from its head until nobody more can be served.
    fn serve(&mut self) -> Vec<usize> {
        let mut served = Vec::new();
        while let Some(at) =
            (0..self.queue.len()).find(|&i| self.may(&self.queue[i], &self.queue[..i]))
        {
            let w = self.queue.remove(at);
            self.grant(&w);
            served.push(w.owner);
        }
        served
    }

    fn ask(&mut self, mut w: Wait) -> bool {
        w.converts = self.held(w.owner) != Mode::NL;
        let conversions = self.queue.iter().take_while(|q| q.converts).count();
        let at = if w.converts { conversions } else { self.queue.len() };
        let covered = w.converts && self.held(w.owner).covers(w.mode);
        if covered || self.may(&w, &self.queue[..at]) {
            self.grant(&w);
            return true;
        }
        self.queue.insert(at, w);
        false
    }
}

const OWNERS: usize = 6;
const PLACES: usize = 3;

const TABLE_MODES: &[Mode] = &[
    Mode::SchS,
    Mode::SchM,
    Mode::S,
    Mode::U,
    Mode::X,
    Mode::IS,
    Mode::IU,
    Mode::IX,
    Mode::SIX,
    Mode::BU,
];
const KEY_MODES: &[Mode] = &[
    Mode::S,
    Mode::U,
    Mode::X,
    Mode::RangeSS,
    Mode::RangeSU,
    Mode::RangeIN,
    Mode::RangeXX,
    Mode::RangeIS,
];

struct World {
    table: Arc<Table>,
    owners: Vec<Arc<Owner>>,
    tickets: Vec<Option<(usize, Duration, Ticket, bool)>>,
    places: Vec<Place>,
}

fn resource(place: usize) -> Resource {
    match place {
        0 => Resource::object(DatabaseId(5), base::ObjectId(1)),
        n => Resource::key(DatabaseId(5), HobtId(3), n as u64),
    }
}

impl World {
    fn new() -> Self {
        let owner = |n| {
            let id = OwnerId::new(OwnerKind::Transaction, n as u64 + 1);
            Owner::new(id, SessionId(51 + n as i16), Arc::new(Waiter::new()))
        };
        World {
            table: Table::new(&Options { partitions: 2, ..Options::default() }),
            owners: (0..OWNERS).map(owner).collect(),
            tickets: (0..OWNERS).map(|_| None).collect(),
            places: vec![Place::default(); PLACES],
        }
    }

    fn served(&mut self, owners: &[usize]) {
        for &o in owners {
            self.tickets[o].as_mut().expect("who is served waited").3 = true;
        }
    }

    fn serve(&mut self, place: usize) {
        let served = self.places[place].serve();
        self.served(&served);
    }

    fn ask(&mut self, o: usize, place: usize, mode: Mode, duration: Duration) {
        let w = Wait { owner: o, mode, duration, converts: false };
        let expected = self.places[place].ask(w);
        let outcome = self.table.try_lock(&self.owners[o], resource(place), mode, duration, None);
        let outcome = outcome.expect("there is memory");
        match outcome {
            Outcome::Wait(t) => {
                assert!(!expected, "{mode:?} by {o} waits");
                self.tickets[o] = Some((place, duration, t, false));
            }
            Outcome::Granted { .. } | Outcome::AlreadyHeld => {
                assert!(expected, "{mode:?} by {o} is granted");
            }
        }
    }

    /// Ends a wait: collects a grant, or gives up; by waiting for no time, or by a drop.
    fn end_wait(&mut self, o: usize, drop_it: bool) {
        let Some((place, _, ticket, granted)) = self.tickets[o].take() else { return };
        if drop_it && !granted {
            drop(ticket);
        } else {
            let got = self.table.wait(ticket, Timeout::NO_WAIT, None);
            match got {
                Ok(_) => assert!(granted),
                Err(e) => assert!(!granted && matches!(e, LockError::TimedOut { .. }), "{e:?}"),
            }
        }
        if !granted {
            self.places[place].queue.retain(|w| w.owner != o);
            self.serve(place);
        }
    }

    fn release(&mut self, o: usize, place: usize) {
        let gone = self.table.release(&self.owners[o], resource(place));
        let p = &mut self.places[place];
        let mut expected = true;
        if let Some(at) = p.holds.iter().position(|h| h.owner == o) {
            let h = &mut p.holds[at];
            h.refs = h.refs.saturating_sub(1);
            expected = h.refs == 0 && !h.long;
            if expected {
                p.holds.remove(at);
            }
        }
        assert_eq!(gone, expected);
        self.serve(place);
    }

    /// Gives a short reference back; what is left is held in some mode that it has in it.
    fn release_to(&mut self, o: usize, place: usize, mode: Mode) {
        let held = self.places[place].held(o);
        if held == Mode::NL || !held.covers(mode) {
            return;
        }
        let gone = self.table.release_to(&self.owners[o], resource(place), mode);
        let p = &mut self.places[place];
        let at = p.holds.iter().position(|h| h.owner == o).expect("it is held");
        let h = &mut p.holds[at];
        h.refs = h.refs.saturating_sub(1);
        h.mode = mode;
        assert_eq!(gone, h.refs == 0 && !h.long);
        if gone {
            p.holds.remove(at);
        }
        self.serve(place);
    }

    fn release_many(&mut self, o: usize, only_short: bool) {
        if only_short {
            self.table.release_short(&self.owners[o]);
        } else {
            self.table.release_all(&self.owners[o]);
        }
        for place in 0..PLACES {
            self.places[place].holds.retain(|h| h.owner != o || (only_short && h.long));
            self.serve(place);
        }
    }

    fn check(&self) {
        self.table.verify();
        for (n, p) in self.places.iter().enumerate() {
            let id = |o: usize| self.owners[o].id();
            let rows = self.table.held_and_waiting(1_000);
            let rows: Vec<LockRow> =
                rows.into_iter().filter(|r| r.resource == resource(n)).collect();
            let (held, waiting): (Vec<LockRow>, Vec<LockRow>) =
                rows.into_iter().partition(|r| r.status == LockStatus::Grant);
            let mut got: Vec<_> = held.iter().map(|r| (r.owner, r.mode, r.references)).collect();
            let refs = |h: &Hold| h.refs + u32::from(h.long);
            let mut want: Vec<_> = p.holds.iter().map(|h| (id(h.owner), h.mode, refs(h))).collect();
            got.sort();
            want.sort();
            assert_eq!(got, want, "holders of {n}");
            let mut got: Vec<_> = waiting.iter().map(|r| (r.owner, r.mode, r.status)).collect();
            let status = |w: &Wait| match w.converts {
                true => LockStatus::Convert,
                false => LockStatus::Wait,
            };
            let mut want: Vec<_> =
                p.queue.iter().map(|w| (id(w.owner), w.mode, status(w))).collect();
            got.sort();
            want.sort();
            assert_eq!(got, want, "waiters of {n}");
            for o in 0..OWNERS {
                let owner = &self.owners[o];
                assert_eq!(self.table.held_mode(owner, resource(n)), p.held(o));
                let other =
                    p.holds.iter().any(|h| h.owner != o) || p.queue.iter().any(|w| w.owner != o);
                assert_eq!(self.table.has_other(owner, resource(n)), other);
            }
        }
    }
}

fn history(seed: u64) {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut world = World::new();
    for _ in 0..300 {
        let o = random.below(OWNERS);
        let place = random.below(PLACES);
        let duration = [Duration::Instant, Duration::Short, Duration::Long][random.below(3)];
        let modes = if place == 0 { TABLE_MODES } else { KEY_MODES };
        let mode = modes[random.below(modes.len())];
        match (random.below(11), world.tickets[o].is_some()) {
            (0..=6, false) => world.ask(o, place, mode, duration),
            (7, false) => world.release(o, place),
            (8, false) => world.release_many(o, true),
            (9, false) => world.release_many(o, false),
            (10, false) => world.release_to(o, place, mode),
            // One who waits does nothing else, until it is served or gives up.
            (what, true) => {
                let served = world.tickets[o].as_ref().is_some_and(|t| t.3);
                if served || what < 2 {
                    world.end_wait(o, what == 0);
                }
            }
            (_, false) => unreachable!("eleven kinds of steps"),
        }
        world.check();
    }
    for o in 0..OWNERS {
        world.end_wait(o, false);
    }
    for o in 0..OWNERS {
        world.release_many(o, false);
        world.check();
    }
    assert_eq!(world.table.entry_count(), 0);
}

#[test]
fn random_histories_agree_with_the_model() {
    for seed in 1..=400 {
        history(seed);
    }
}
