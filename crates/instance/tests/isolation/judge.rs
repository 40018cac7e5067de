//! What is known when all have ended: who came before whom.
//!
//! 1. Who changes a key finds what the last before him left.
//! 2. What was read with locks that are kept is what was committed last until then.
//! 3. Under SNAPSHOT nobody changes what others have changed since his moment; a key that was not
//!    there then and is not there now may be put (rule 20 of rowstore).
//! 4. Dependencies, and the anti-dependencies of those who keep their locks, make no circle: each
//!    of them follows the order of commits. An anti-dependency of SNAPSHOT is in no circle that
//!    has no other (Adya, Liskov, O'Neil, "Generalized Isolation Level Definitions", 2000).

use crate::book::{Entry, Key, Level, Pages, Read, ReadGuarantee, Row, Slot};
use std::collections::{BTreeMap, BTreeSet};

/// What a key was after each commit that changed it.
#[derive(Clone, Copy)]
struct State {
    id: i64,
    now: Option<Row>,
    /// Its entry.
    at: usize,
}

/// From whom to whom.
type Edges = BTreeSet<(i64, i64)>;

#[derive(Default)]
struct Graph {
    depends: Edges,
    anti: Edges,
    anti_of_moments: Edges,
}

pub(crate) fn judge(page: &mut Pages) {
    let mut graph = Graph::default();
    let mut states = BTreeMap::new();
    for (key, slot) in &page.keys {
        chain(page, *key, slot);
        let of_key = committed(page, slot);
        writes(page, *key, &of_key, &mut graph.depends);
        states.insert(*key, of_key);
    }
    for read in &page.reads {
        let of_key = states.get(&read.key).map(Vec::as_slice).unwrap_or_default();
        reads(page, read, of_key, &mut graph);
    }
    for edges in [&mut graph.depends, &mut graph.anti, &mut graph.anti_of_moments] {
        edges.retain(|(from, to)| from != to);
    }
    circles(page, &graph);
    page.count("dependencies", graph.depends.len());
    page.count("anti-dependencies", graph.anti.len() + graph.anti_of_moments.len());
}

/// Rule 1.
fn chain(page: &Pages, key: Key, slot: &Slot) {
    for (at, entry) in slot.entries.iter().enumerate() {
        let Some(before) = entry.before else { continue };
        let counts = |e: &&Entry| match e.id == entry.id {
            true => e.undone.is_none_or(|undone| undone > entry.tick),
            false => e.undone.is_none() && page.committed(e.id),
        };
        let last = slot.entries.iter().take(at).rfind(counts).and_then(|e| e.now);
        if last != before {
            let text = format!("{} found {before:?} of {key:?}, which was {last:?}", entry.id);
            page.fail(Some(key), &text);
        }
    }
}

/// The states that others could see.
fn committed(page: &Pages, slot: &Slot) -> Vec<State> {
    let mut states: Vec<State> = Vec::new();
    for (at, entry) in slot.entries.iter().enumerate() {
        if entry.undone.is_some() || !page.committed(entry.id) {
            continue;
        }
        states.retain(|s| s.id != entry.id);
        states.push(State { id: entry.id, now: entry.now, at });
    }
    states
}

/// Where the state stands that a moment shows.
fn seen(page: &Pages, id: i64, states: &[State]) -> Option<usize> {
    let visible = page.transactions.get(&id).and_then(|t| t.visible.as_ref())?;
    states.iter().rposition(|s| visible.contains(&s.id) && s.id != id)
}

/// Rule 3, and who has written after whom.
fn writes(page: &Pages, key: Key, states: &[State], depends: &mut Edges) {
    let nothing = State { id: 0, now: None, at: 0 };
    for (at, state) in states.iter().enumerate().skip(1) {
        let last = at.checked_sub(1).and_then(|at| states.get(at)).unwrap_or(&nothing);
        let snapshot = page.transactions.get(&state.id).is_some_and(|t| t.level == Level::Snapshot);
        let moment = seen(page, state.id, states).and_then(|n| states.get(n)).unwrap_or(&nothing);
        if snapshot && moment.id != last.id {
            if moment.now.is_some() || last.now.is_some() {
                let text = format!("{} has changed {key:?} behind {}", state.id, last.id);
                page.fail(Some(key), &text);
            }
            continue;
        }
        depends.insert((last.id, state.id));
    }
}

/// Rule 2, and whom a read follows and precedes.
fn reads(page: &Pages, read: &Read, states: &[State], graph: &mut Graph) {
    let at = match read.kept {
        ReadGuarantee::Loose if read.found.is_none() => return,
        ReadGuarantee::Loose => states.iter().rposition(|s| s.now == read.found),
        ReadGuarantee::Moment => seen(page, read.id, states),
        ReadGuarantee::Locked(len) => {
            let at = states.iter().rposition(|s| s.at < len);
            let now = at.and_then(|at| states.get(at)).and_then(|s| s.now);
            if now != read.found {
                let Read { id, key, found, .. } = read;
                let text = format!("{id} found {found:?} of {key:?}, which was {now:?}");
                page.fail(Some(*key), &text);
            }
            at
        }
    };
    if !page.committed(read.id) {
        return;
    }
    let of = |at: usize| states.get(at).map(|s| s.id);
    graph.depends.extend(at.and_then(of).map(|id| (id, read.id)));
    let next = of(at.map_or(0, |at| at + 1)).map(|id| (read.id, id));
    match read.kept {
        ReadGuarantee::Loose => {}
        ReadGuarantee::Locked(_) => graph.anti.extend(next),
        ReadGuarantee::Moment => graph.anti_of_moments.extend(next),
    }
}

/// Rule 4.
fn circles(page: &Pages, graph: &Graph) {
    let mut left: Edges = graph.depends.union(&graph.anti).copied().collect();
    // Who is behind nobody is in no circle.
    loop {
        let behind: BTreeSet<i64> = left.iter().map(|(_, to)| *to).collect();
        let before = left.len();
        left.retain(|(from, _)| behind.contains(from));
        if left.len() == before {
            break;
        }
    }
    if !left.is_empty() {
        page.fail(None, &format!("these are before each other: {left:?}"));
    }
    for (reader, writer) in &graph.anti_of_moments {
        if leads(&graph.depends, *writer, *reader) {
            page.fail(None, &format!("{reader} has not seen {writer}, and is behind it"));
        }
    }
}

fn leads(edges: &Edges, from: i64, to: i64) -> bool {
    let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(at) = next.pop() {
        if at == to {
            return true;
        }
        if seen.insert(at) {
            next.extend(edges.range((at, i64::MIN)..=(at, i64::MAX)).map(|(_, to)| *to));
        }
    }
    false
}
