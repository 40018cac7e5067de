//! One file's content: what reads see, what is durable, and the changes between the two.
//!
//! Invariant: `seen` is `durable` with all `changes` applied in order.

use super::image::Image;
use super::survive::Survival;
use crate::random::Random;
use std::collections::VecDeque;
use std::sync::Arc;

/// What an unsynced call did.
#[derive(Clone)]
pub(crate) enum Change {
    Write { offset: u64, bytes: Arc<[u8]> },
    SetLen { len: u64 },
}

#[derive(Clone, Default)]
pub(crate) struct Content {
    seen: Image,
    durable: Image,
    /// With the disk-wide number of the operation.
    changes: VecDeque<(u64, Change)>,
    /// Open handles.
    pub(crate) handles: usize,
}

fn apply(image: &mut Image, change: &Change) {
    match change {
        Change::Write { offset, bytes } => image.write(bytes, *offset),
        Change::SetLen { len } => image.set_len(*len),
    }
}

impl Content {
    /// An empty file with one handle.
    pub(crate) fn opened() -> Content {
        Content { handles: 1, ..Content::default() }
    }

    pub(crate) fn len(&self) -> u64 {
        self.seen.len()
    }

    pub(crate) fn read(&self, out: &mut [u8], offset: u64) -> bool {
        self.seen.read(out, offset)
    }

    pub(crate) fn change(&mut self, number: u64, change: Change) {
        apply(&mut self.seen, &change);
        self.changes.push_back((number, change));
    }

    /// The number behind the last change so far.
    pub(crate) fn changes_end(&self) -> u64 {
        self.changes.back().map_or(0, |&(n, _)| n + 1)
    }

    pub(crate) fn change_numbers(&self) -> impl Iterator<Item = u64> {
        self.changes.iter().map(|&(n, _)| n)
    }

    /// Makes the changes below a number durable.
    pub(crate) fn sync(&mut self, below: u64) {
        if below < self.changes_end() {
            while let Some((_, change)) = self.changes.pop_front_if(|&mut (n, _)| n < below) {
                apply(&mut self.durable, &change);
            }
            return;
        }
        // All of it: what is seen is durable, so the chunks can be shared.
        let resized = self.changes.iter().any(|(_, c)| matches!(c, Change::SetLen { .. }));
        if resized || self.changes.len() > 256 {
            self.changes.clear();
            self.durable = self.seen.clone();
            return;
        }
        for (_, change) in self.changes.drain(..) {
            if let Change::Write { offset, bytes } = change {
                self.durable.share(&self.seen, offset, bytes.len() as u64);
            }
        }
        self.durable.set_len(self.seen.len());
    }

    /// Makes the last change durable, and no other: unless another lies beneath it.
    pub(crate) fn sync_last(&mut self) {
        let Some((_, last)) = self.changes.back().cloned() else { return };
        let Change::Write { offset, bytes } = &last else { return self.sync(u64::MAX) };
        let (from, to) = (*offset, *offset + bytes.len() as u64);
        let beneath = |change: &Change| match change {
            Change::Write { offset, bytes } => *offset < to && from < *offset + bytes.len() as u64,
            // A longer file is beneath what lies behind its durable end alone.
            Change::SetLen { len } => to > self.durable.len() || *len < self.durable.len(),
        };
        let others = self.changes.len() - 1;
        if self.changes.iter().take(others).any(|(_, change)| beneath(change)) {
            return self.sync(u64::MAX);
        }
        self.changes.pop_back();
        apply(&mut self.durable, &last);
    }

    /// A sync that failed: each change below the number is durable or lost, nobody knows which.
    pub(crate) fn fail_sync(&mut self, below: u64, random: &mut Random) {
        while let Some((_, change)) = self.changes.pop_front_if(|&mut (n, _)| n < below) {
            if random.one_in(2) {
                apply(&mut self.durable, &change);
            }
        }
        self.seen = self.durable.clone();
        for (_, change) in &self.changes {
            apply(&mut self.seen, change);
        }
    }

    /// What a crash leaves.
    pub(crate) fn after_crash(&self, survival: &mut Survival) -> Content {
        let image = survival.image(&self.durable, &self.changes);
        Content { seen: image.clone(), durable: image, changes: VecDeque::new(), handles: 0 }
    }

    /// What the next process finds after this one was killed. Its operations are numbered from 1
    /// again, so what is not synced yet gets a number below all of them: changes stay in order.
    pub(crate) fn after_stop(&self) -> Content {
        let mut next = Content { handles: 0, ..self.clone() };
        next.changes.iter_mut().for_each(|(n, _)| *n = 0);
        next
    }

    /// Changes bytes on the medium, behind everybody's back.
    pub(crate) fn damage(&mut self, bytes: &[u8], offset: u64) {
        assert!(offset + bytes.len() as u64 <= self.len(), "damage is inside the file");
        self.seen.write(bytes, offset);
        if offset + bytes.len() as u64 <= self.durable.len() {
            self.durable.write(bytes, offset);
        }
    }
}
