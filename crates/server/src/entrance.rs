//! Connections before their login.
//!
//! They cost memory (buffers, a TLS handshake) and may never send a byte, so their number is
//! limited. When there is no room for another, the server takes the address with the most such
//! connections and closes the one of these that has been there longest, if it had its time
//! ([`GRACE_NS`]). Otherwise no connection is accepted until one has left; new ones wait in the
//! system's queue. So a crowd of silent connections delays others by two seconds at most, and a
//! crowd that logs in delays none.
//!
//! Invariant: at most `most` connections are here.

use crate::throttle::Origin;
use os::sync::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::Notify;

/// How long a client may take to log in though others want in.
const GRACE_NS: u64 = 2_000_000_000;

struct PendingLogin {
    from: Origin,
    since_ns: u64,
    leave: Arc<Notify>,
}

#[derive(Default)]
struct Crowd {
    /// In the order in which they came.
    standing: BTreeMap<u64, PendingLogin>,
    next: u64,
}

/// The door.
pub(crate) struct Entrance {
    crowd: Arc<Mutex<Crowd>>,
    most: usize,
}

/// A place at the door, until this is dropped.
pub(crate) struct Place {
    crowd: Arc<Mutex<Crowd>>,
    number: u64,
    leave: Arc<Notify>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.crowd.lock().standing.remove(&self.number);
    }
}

impl Place {
    /// What tells that the place is another's.
    pub(crate) fn leave(&self) -> Arc<Notify> {
        Arc::clone(&self.leave)
    }
}

impl Entrance {
    pub(crate) fn new(most: usize) -> Entrance {
        Entrance { crowd: Arc::default(), most: most.max(1) }
    }

    /// Whether another one has room; who gives way is told so.
    pub(crate) fn has_room(&self, now_ns: u64) -> bool {
        let mut crowd = self.crowd.lock();
        if crowd.standing.len() < self.most {
            return true;
        }
        let mut by_origin: BTreeMap<Origin, usize> = BTreeMap::new();
        crowd.standing.values().for_each(|s| *by_origin.entry(s.from).or_default() += 1);
        let most = by_origin.into_iter().max_by_key(|&(_, count)| count).map(|(from, _)| from);
        let longest = crowd.standing.iter().find(|(_, s)| Some(s.from) == most);
        let Some((&number, standing)) = longest else { return false };
        if now_ns.saturating_sub(standing.since_ns) < GRACE_NS {
            return false;
        }
        standing.leave.notify_one();
        crowd.standing.remove(&number);
        true
    }

    /// A place for somebody who comes.
    pub(crate) fn enter(&self, from: Origin, now_ns: u64) -> Place {
        let leave = Arc::new(Notify::new());
        let mut crowd = self.crowd.lock();
        let number = crowd.next;
        crowd.next += 1;
        let standing = PendingLogin { from, since_ns: now_ns, leave: Arc::clone(&leave) };
        crowd.standing.insert(number, standing);
        drop(crowd);
        Place { crowd: Arc::clone(&self.crowd), number, leave }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::IpAddr;

    fn at(last: u8) -> Origin {
        Origin::of(IpAddr::from([192, 0, 2, last]))
    }

    /// The address with most connections gives way, its oldest first, after its time.
    #[test]
    fn a_crowd_of_one_address_gives_way_to_others() {
        let entrance = Entrance::new(4);
        let alone = entrance.enter(at(1), 0);
        let crowd: Vec<Place> = (1..4).map(|n| entrance.enter(at(2), n)).collect();
        assert!(!entrance.has_room(GRACE_NS), "all of the crowd are new");
        assert!(entrance.has_room(GRACE_NS + 1), "its oldest gives way");
        let standing = || entrance.crowd.lock().standing.keys().copied().collect::<Vec<_>>();
        assert_eq!(standing(), [0, 2, 3]);
        drop(crowd);
        drop(alone);
        assert!(standing().is_empty() && entrance.has_room(0));
    }
}
