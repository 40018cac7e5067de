//! Verifying a tree: what CHECKDB asks of it.
//!
//! It derives nothing from what it checks: every page is reached through its parent, its bounds
//! are the separators around it, its neighbours are the pages reached before and after. Damage
//! is reported and the rest looked at; nothing here panics or runs for ever on damaged bytes.
//!
//! Invariants checked
//!  1. A page is of the tree's unit, of its level and kind, and its slots are sound.
//!  2. Keys rise within a page and lie within the separators around the page.
//!  3. Pages of a level are linked in the order of their keys, both ways.
//!  4. Every page is reached once.
//!  5. Interior pages have an entry and no ghost; all leaves are at level 0.

use crate::key::KeyBuf;
use crate::order::KeyFields;
use crate::tree::{LEVELS_MAX, Tree};
use base::PageId;
use page::{PageView, RecordKind};
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// What is wrong, with the message of SQL Server's CHECKDB that says so.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Fault {
    /// The page cannot be read: 8928 or 8939.
    Unreadable,
    /// The page is of another unit, level, kind: 8936, 8939 or 8931.
    Header,
    /// Slots, free space or the ghost count contradict the records: 8941, 8942.
    Slots,
    /// A key cannot be read: 8928.
    Key,
    /// Keys of a page are out of order: 2511.
    Order,
    /// A key is outside the bounds that the parent sets: 8933, 8934.
    Bounds,
    /// A page and its neighbour do not know each other: 8936, 8977, 8978.
    Links,
    /// A page is reached twice: 8979, 8981.
    Twice,
    /// A record has a kind that its page cannot have.
    Kind,
}

/// One finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The page.
    pub page: PageId,
    /// What is wrong.
    pub fault: Fault,
    /// In words.
    pub text: String,
}

/// A page still to be visited, and what its parent says of it.
struct Expected {
    id: PageId,
    level: u8,
    low: Option<KeyBuf>,
    high: Option<KeyBuf>,
}

struct Verification<'t, 'v> {
    tree: &'t Tree,
    visit: &'v mut dyn FnMut(PageId, PageView<'_>),
    findings: Vec<Finding>,
    seen: BTreeSet<PageId>,
    /// The page visited last on each level, and its right link.
    last: Vec<Option<(PageId, PageId)>>,
}

impl Tree {
    /// Visits every page in key order, and says what is wrong. Nobody changes the tree meanwhile;
    /// one page is latched at a time. `visit` sees each page that could be read.
    pub fn verify(&self, visit: &mut dyn FnMut(PageId, PageView<'_>)) -> Vec<Finding> {
        let mut v = Verification {
            tree: self,
            visit,
            findings: Vec::new(),
            seen: BTreeSet::new(),
            last: vec![None; usize::from(LEVELS_MAX)],
        };
        v.run();
        v.findings
    }
}

impl Verification<'_, '_> {
    fn found(&mut self, page: PageId, fault: Fault, text: impl Into<String>) {
        self.findings.push(Finding { page, fault, text: text.into() });
    }

    fn run(&mut self) {
        let tree = self.tree;
        let level = match tree.pages.read(tree.root) {
            Ok(root) => root.view().level(),
            Err(e) => return self.found(tree.root, Fault::Unreadable, e.to_string()),
        };
        if level >= LEVELS_MAX {
            return self.found(tree.root, Fault::Header, "the tree is too high");
        }
        let mut open = vec![Expected { id: tree.root, level, low: None, high: None }];
        // Children are pushed right to left, so that pages come in key order.
        while let Some(page) = open.pop() {
            self.page(&page, &mut open);
        }
        let ends: Vec<(PageId, PageId)> = self.last.iter().flatten().copied().collect();
        for (id, next) in ends {
            if !next.is_none() {
                self.found(id, Fault::Links, format!("the level's last page leads to {next}"));
            }
        }
    }

    fn page(&mut self, expected: &Expected, open: &mut Vec<Expected>) {
        let tree = self.tree;
        let id = expected.id;
        if !self.seen.insert(id) {
            return self.found(id, Fault::Twice, "the page is reached twice");
        }
        let guard = match tree.pages.read(id) {
            Ok(guard) => guard,
            Err(e) => return self.found(id, Fault::Unreadable, e.to_string()),
        };
        let v = guard.view();
        (self.visit)(id, v);
        if let Some(what) = tree.page_fault(v, expected.level) {
            return self.found(id, Fault::Header, what);
        }
        if v.page_id() != id {
            self.found(id, Fault::Header, "the page has another id");
        }
        if let Err(damage) = page::check_slots(v.0) {
            self.found(id, Fault::Slots, format!("{damage:?}"));
        }
        self.links(id, v, expected.level);
        self.records(id, v, expected);
        if expected.level > 0 {
            self.children(id, v, expected, open);
        }
    }

    fn links(&mut self, id: PageId, v: PageView<'_>, level: u8) {
        let place = usize::from(level);
        let last = self.last[place].replace((id, v.next_page()));
        let prev = last.map_or(PageId::NONE, |(prev, _)| prev);
        if v.prev_page() != prev {
            let text = format!("its left link is {}, the page there {prev}", v.prev_page());
            self.found(id, Fault::Links, text);
        }
        if let Some((prev, next)) = last
            && next != id
        {
            self.found(
                prev,
                Fault::Links,
                format!("its right link is {next}, the page there {id}"),
            );
        }
    }

    /// Kinds, order and bounds of the records.
    fn records(&mut self, id: PageId, v: PageView<'_>, expected: &Expected) {
        let (tree, part) = (self.tree, Tree::part(expected.level));
        let mut before = KeyBuf::default();
        for slot in 0..v.slot_count() {
            let mut key = KeyBuf::default();
            let Some(record) = v.record(slot) else { continue };
            if tree.shape.copy_key(part, record, &mut key).is_none() {
                self.found(id, Fault::Key, format!("slot {slot}"));
                continue;
            }
            self.kind(id, slot, record, expected.level);
            // The leftmost entry of an interior page counts as lower than everything.
            if expected.level > 0 && slot == 0 {
                continue;
            }
            if !before.is_empty() && !self.less(&before, &key, false) {
                self.found(id, Fault::Order, format!("slot {slot} is not behind the one before"));
            }
            let low = expected.low.as_ref().is_none_or(|low| self.less(low, &key, true));
            let high = expected.high.as_ref().is_none_or(|high| self.less(&key, high, false));
            if !low || !high {
                self.found(id, Fault::Bounds, format!("slot {slot} is outside its page's bounds"));
            }
            before = key;
        }
    }

    fn kind(&mut self, id: PageId, slot: u16, record: &[u8], level: u8) {
        let kind = RecordKind::of(record[0]);
        let fits = match (level, self.tree.leaf_kind) {
            (0, page::PageKind::Data) => {
                kind == RecordKind::Primary || kind.is_ghost() && !kind.is_index()
            }
            (0, _) => kind.is_index(),
            (_, _) => kind == RecordKind::Index,
        };
        if !fits {
            self.found(id, Fault::Kind, format!("slot {slot}: {kind:?}"));
        }
    }

    fn less(&self, a: &KeyBuf, b: &KeyBuf, or_equal: bool) -> bool {
        let (a, b) = (a.fields(), b.fields());
        match self.tree.shape.order.compare_keys(a.as_slice(), b.as_slice()) {
            Some(Ordering::Less) => true,
            Some(Ordering::Equal) => or_equal,
            Some(Ordering::Greater) | None => false,
        }
    }

    fn children(
        &mut self,
        id: PageId,
        v: PageView<'_>,
        expected: &Expected,
        open: &mut Vec<Expected>,
    ) {
        let tree = self.tree;
        let mut high = expected.high.clone();
        for slot in (0..v.slot_count()).rev() {
            let entry = v.record(slot);
            let child = entry.and_then(|entry| tree.shape.child_of(entry));
            let (Some(entry), Some(child)) = (entry, child) else { continue };
            if child.is_none() {
                self.found(id, Fault::Links, format!("slot {slot} leads nowhere"));
                continue;
            }
            let mut key = KeyFields::default();
            let known = tree.shape.key_of(Tree::part(expected.level), entry, &mut key).is_some();
            let low = match slot {
                0 => expected.low.clone(),
                _ => known.then(|| KeyBuf::of(key.as_slice())),
            };
            let level = expected.level - 1;
            open.push(Expected { id: child, level, low: low.clone(), high });
            high = low;
        }
    }
}
