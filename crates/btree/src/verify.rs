//! Verifies a tree, for CHECKDB.
//!
//! It derives nothing from what it checks. It reaches every page through its parent; the page's
//! bounds are the separators around it, its neighbours are the pages reached before and after. It
//! reports damage and goes on with the rest. On damaged bytes it neither panics nor loops.
//!
//! Invariants checked
//!  1. A page belongs to the tree's unit, level and kind, and its slots are sound.
//!  2. Keys rise within a page and lie within the separators around the page.
//!  3. Pages of a level are linked in the order of their keys, both ways.
//!  4. Every page is reached once.
//!  5. Interior pages have an entry and no ghost; all leaves are at level 0.

use crate::key::KeyBuf;
use crate::order::KeyFields;
use crate::tree::{LEVELS_MAX, Tree};
use base::PageId;
use buffer::ReadAhead;
use os::wait::{CancelReason, Waiter};
use page::{Damage, Fault, Finding, PageView, RecordKind};
use space::PageSet;
use std::cmp::Ordering;

/// A page still to be visited, and what its parent says of it.
struct ExpectedPage {
    id: PageId,
    /// The entry that led there.
    parent: (PageId, u16),
    level: u8,
    low: Option<KeyBuf>,
    high: Option<KeyBuf>,
}

struct Verification<'t, 'v> {
    tree: &'t Tree,
    waiter: &'v Waiter,
    visit: &'v mut dyn FnMut(PageId, PageView<'_>),
    findings: Vec<Finding>,
    seen: PageSet,
    /// The page visited last on each level, and its right link.
    last: Vec<Option<(PageId, PageId)>>,
}

impl Tree {
    /// Visits every page in key order, and reports what is wrong. No other thread changes the tree
    /// meanwhile. One page is latched at a time. `visit` sees each page that could be read.
    ///
    /// # Errors
    /// The waiter's cancellation, which is checked at each page.
    pub fn verify(
        &self,
        waiter: &Waiter,
        visit: &mut dyn FnMut(PageId, PageView<'_>),
    ) -> Result<Vec<Finding>, CancelReason> {
        let mut v = Verification {
            tree: self,
            waiter,
            visit,
            findings: Vec::new(),
            seen: PageSet::default(),
            last: vec![None; usize::from(LEVELS_MAX)],
        };
        v.run()?;
        Ok(v.findings)
    }
}

impl Verification<'_, '_> {
    fn found(&mut self, page: PageId, fault: Fault, text: impl Into<String>) {
        self.findings.push(Finding::new(page, fault, text));
    }

    fn run(&mut self) -> Result<(), CancelReason> {
        let tree = self.tree;
        let level = match tree.pages.read(tree.root) {
            Ok(root) => root.view().level(),
            Err(e) => {
                self.found(tree.root, Fault::Unreadable, e.to_string());
                return Ok(());
            }
        };
        if level >= LEVELS_MAX {
            let finding = Finding::new(tree.root, Fault::Level, "the tree is too high");
            self.findings.push(finding.of(level.into(), LEVELS_MAX.into()));
            return Ok(());
        }
        let mut open = vec![ExpectedPage {
            id: tree.root,
            parent: (PageId::NONE, 0),
            level,
            low: None,
            high: None,
        }];
        // Children are pushed right to left, so that pages come in key order.
        let mut ahead = ReadAhead::new();
        while let Some(page) = open.pop() {
            self.waiter.check()?;
            debug_assert!(page.level <= level, "children are below the root");
            self.page(&page, &mut open);
            if let Some(next) = open.last() {
                ahead.step(&tree.pages, page.id, next.id);
            }
        }
        let ends: Vec<(PageId, PageId)> = self.last.iter().flatten().copied().collect();
        for (id, next) in ends {
            if !next.is_none() {
                let text = format!("the level's last page leads to {next}");
                self.findings.push(Finding::new(id, Fault::Last, text).with((next, 0)));
            }
        }
        Ok(())
    }

    fn page(&mut self, expected: &ExpectedPage, open: &mut Vec<ExpectedPage>) {
        let tree = self.tree;
        let id = expected.id;
        debug_assert!(usize::from(expected.level) < self.last.len(), "a place for each level");
        if !self.seen.insert(id) {
            let finding = Finding::new(id, Fault::Twice, "the page is reached twice");
            return self.findings.push(finding.with(expected.parent));
        }
        let guard = match tree.pages.read(id) {
            Ok(guard) => guard,
            Err(e) => {
                let finding = Finding::new(id, Fault::Unreadable, e.to_string());
                return self.findings.push(finding.with(expected.parent));
            }
        };
        let v = guard.view();
        if let Some(finding) = self.header(id, v, expected) {
            return self.findings.push(finding.with(expected.parent));
        }
        (self.visit)(id, v);
        debug_assert_eq!(v.page_id(), id, "invariant 1: its header was looked at");
        for damage in page::damages(v.0) {
            self.findings.push(Finding::damage(id, damage));
        }
        self.links(id, v, expected);
        self.records(id, v, expected);
        if expected.level > 0 {
            self.children(id, v, expected, open);
        }
    }

    /// Why a page is not the one that its parent expects: then nothing below it is looked at.
    fn header(&self, id: PageId, v: PageView<'_>, expected: &ExpectedPage) -> Option<Finding> {
        let tree = self.tree;
        let finding = |fault, text: &str| Some(Finding::new(id, fault, text));
        if v.page_id() != id {
            let text = format!("the page says that it is {}", v.page_id());
            return Some(Finding::new(id, Fault::PageId, text));
        }
        if v.alloc_unit() != tree.unit.id {
            let text = "the page belongs to another allocation unit";
            return Some(
                Finding::new(id, Fault::Unit, text)
                    .of(v.alloc_unit().0.into(), tree.unit.id.0.into()),
            );
        }
        if v.level() != expected.level {
            let text = "the page is at another level than its parent says";
            return Some(
                Finding::new(id, Fault::Level, text).of(v.level().into(), expected.level.into()),
            );
        }
        if v.kind_byte() != tree.kind_at(expected.level) as u8 {
            let text = "the page has another kind than its level";
            let kind = tree.kind_at(expected.level) as u8;
            return Some(
                Finding::new(id, Fault::PageKind, text).of(v.kind_byte().into(), kind.into()),
            );
        }
        let min_len = tree.shape.layout(Tree::part(expected.level)).min_len();
        if v.min_len() != min_len {
            let (field, stored, expected) = ("pminlen", v.min_len().into(), min_len.into());
            return Some(Finding::damage(id, Damage::Header { field, stored, expected }));
        }
        match tree.page_fault(v, expected.level) {
            Some(what) => finding(Fault::Header, what),
            None => None,
        }
    }

    fn links(&mut self, id: PageId, v: PageView<'_>, expected: &ExpectedPage) {
        let place = usize::from(expected.level);
        debug_assert_eq!(v.level(), expected.level, "invariant 1: its header was looked at");
        let last = self.last[place].replace((id, v.next_page()));
        let prev = last.map_or(PageId::NONE, |(prev, _)| prev);
        debug_assert_ne!(prev, id, "invariant 4: a page is reached once");
        if v.prev_page() != prev {
            let text = format!("its left link is {}, the page there {prev}", v.prev_page());
            let parent = expected.parent;
            self.findings.push(Finding::new(id, Fault::Previous, text).with(parent));
        }
        if let Some((prev, next)) = last
            && next != id
        {
            let text = format!("{prev}->next = {next}, but {id}->Prev = {}", v.prev_page());
            self.findings.push(Finding::new(prev, Fault::Next, text).with((id, 0)));
        }
    }

    /// Kinds, order and bounds of the records.
    fn records(&mut self, id: PageId, v: PageView<'_>, expected: &ExpectedPage) {
        let (tree, part) = (self.tree, Tree::part(expected.level));
        debug_assert!(self.seen.contains(id), "a page is looked at once it is seen");
        let mut before = KeyBuf::default();
        let (mut lows, mut highs) = (0, 0);
        for slot in 0..v.slot_count() {
            let mut key = KeyBuf::default();
            let Some(record) = v.record(slot) else {
                // A slot without a record is reported with the slots.
                if v.slot_offset(slot) == Some(0) {
                    let finding = Finding::new(id, Fault::NoRecord, "the slot is empty");
                    self.findings.push(finding.at(slot));
                }
                continue;
            };
            if tree.shape.copy_key(part, record, &mut key).is_none() {
                let finding = Finding::new(id, Fault::Key, "the key can be read");
                self.findings.push(finding.at(slot));
                continue;
            }
            self.kind(id, slot, record, expected.level);
            // The leftmost entry of an interior page counts as lower than everything.
            if expected.level > 0 && slot == 0 {
                continue;
            }
            if !before.is_empty() && !self.less(&before, &key, false) {
                let text = format!("slot {slot} is not behind the one before");
                let finding = Finding::new(id, Fault::Order, text).at(slot);
                self.findings.push(finding.with((id, slot.saturating_sub(1))));
            }
            let low = expected.low.as_ref().is_none_or(|low| self.less(low, &key, true));
            let high = expected.high.as_ref().is_none_or(|high| self.less(&key, high, false));
            lows += u32::from(!low);
            highs += u32::from(!high);
            // Once a page: where one is outside, its neighbours often are.
            if !low && lows == 1 {
                let finding = Finding::new(id, Fault::Low, "below the separator of the page");
                self.findings.push(finding.at(slot).with(expected.parent));
            }
            if !high && highs == 1 {
                let finding = Finding::new(id, Fault::High, "behind the page's last separator");
                self.findings.push(finding.at(slot).with(expected.parent));
            }
            before = key;
        }
    }

    fn kind(&mut self, id: PageId, slot: u16, record: &[u8], level: u8) {
        debug_assert!(!record.is_empty(), "a record has a status byte");
        let kind = RecordKind::of(record[0]);
        let fits = match (level, self.tree.leaf_kind) {
            (0, page::PageKind::Data) => {
                kind == RecordKind::Primary || page::is_ghost_record(record) && !kind.is_index()
            }
            (0, _) => kind.is_index(),
            (_, _) => kind == RecordKind::Index,
        };
        if !fits {
            let finding = Finding::new(id, Fault::Kind, "the record's kind fits its page");
            self.findings.push(finding.at(slot).of(kind as i64, 0));
        }
    }

    fn less(&self, a: &KeyBuf, b: &KeyBuf, or_equal: bool) -> bool {
        let (a, b) = (a.fields(), b.fields());
        debug_assert_eq!(a.as_slice().len(), b.as_slice().len(), "whole keys");
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
        expected: &ExpectedPage,
        open: &mut Vec<ExpectedPage>,
    ) {
        let tree = self.tree;
        let mut high = expected.high.clone();
        debug_assert!(expected.level > 0 && v.level() == expected.level, "an interior page");
        for slot in (0..v.slot_count()).rev() {
            let entry = v.record(slot);
            let child = entry.and_then(|entry| tree.shape.child_of(entry));
            let (Some(entry), Some(child)) = (entry, child) else { continue };
            if child.is_none() {
                let finding = Finding::new(id, Fault::Child, "the entry leads nowhere");
                self.findings.push(finding.at(slot));
                continue;
            }
            let mut key = KeyFields::default();
            let known = tree.shape.key_of(Tree::part(expected.level), entry, &mut key).is_some();
            let low = match slot {
                0 => expected.low.clone(),
                _ => known.then(|| KeyBuf::of(key.as_slice())),
            };
            let level = expected.level - 1;
            debug_assert!(!child.is_none(), "a child that can be visited");
            open.push(ExpectedPage {
                id: child,
                parent: (id, slot),
                level,
                low: low.clone(),
                high,
            });
            high = low;
        }
    }
}
