//! What a verifier finds wrong with a page, or with its place among others.
//!
//! The verifiers of trees and heaps make findings; CHECKDB turns each into a message. A finding
//! names no table and no index, since who makes it knows neither.

use crate::damage::Damage;
use base::PageId;

/// What is wrong, with the message of SQL Server's CHECKDB that says so.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Fault {
    /// The page cannot be read: 8928.
    Unreadable,
    /// The page is another unit's: 2534.
    Unit,
    /// The page carries another page's number: 8909.
    PageId,
    /// The page is at another level than its parent says: 8931.
    Level,
    /// The page has another kind than its level: 8938.
    PageKind,
    /// Fields of the header contradict each other: 8939.
    Header,
    /// Slots, free space or the ghost count contradict the records: 8939, 8941 to 8943, 8927.
    Slots,
    /// A slot without a record: 8941.
    NoRecord,
    /// A record does not have the form of its layout: 8944.
    Record,
    /// A key cannot be read: 8944.
    Key,
    /// A record has a kind that its page cannot have: 8944.
    Kind,
    /// Keys of a page are out of order: 2511.
    Order,
    /// A key is below the separator that leads to its page: 8933.
    Low,
    /// A key is not below the separator behind its page: 8934.
    High,
    /// A page does not know its left neighbour: 8935.
    Previous,
    /// A page and its right neighbour do not know each other: 8936.
    Next,
    /// The last page of a level leads on: 8981.
    Last,
    /// A page is reached twice: 8937.
    Twice,
    /// An entry leads to no page: 8980.
    Child,
}

impl Fault {
    /// Whether records may have been passed by because of it.
    pub fn hides_records(self) -> bool {
        use Fault::{
            Child, Header, Key, Kind, Level, NoRecord, PageId, PageKind, Record, Slots, Twice,
            Unit, Unreadable,
        };
        matches!(
            self,
            Unreadable
                | Unit
                | PageId
                | Level
                | PageKind
                | Header
                | Slots
                | NoRecord
                | Record
                | Key
                | Kind
                | Twice
                | Child
        )
    }
}

/// One finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The page.
    pub page: PageId,
    /// What is wrong.
    pub fault: Fault,
    /// Where on the page, if it is about a slot.
    pub slot: u16,
    /// The other page it is about: parent, neighbour; none where there is none.
    pub other: PageId,
    /// The other page's slot.
    pub other_slot: u16,
    /// What is there and what should be.
    pub values: (i64, i64),
    /// Damage of slots or header.
    pub damage: Option<Damage>,
    /// In words.
    pub text: String,
}

impl Finding {
    /// A finding about a whole page.
    pub fn new(page: PageId, fault: Fault, text: impl Into<String>) -> Finding {
        Finding {
            page,
            fault,
            slot: 0,
            other: PageId::NONE,
            other_slot: 0,
            values: (0, 0),
            damage: None,
            text: text.into(),
        }
    }

    /// The same about a slot.
    #[must_use]
    pub fn at(mut self, slot: u16) -> Finding {
        debug_assert_eq!(self.slot, 0, "a finding is about one slot");
        self.slot = slot;
        self
    }

    /// The same with the other page it is about.
    #[must_use]
    pub fn with(mut self, (page, slot): (PageId, u16)) -> Finding {
        debug_assert!(self.other.is_none(), "a finding has one other page");
        (self.other, self.other_slot) = (page, slot);
        self
    }

    /// The same with what is there and what should be.
    #[must_use]
    pub fn of(mut self, found: i64, expected: i64) -> Finding {
        self.values = (found, expected);
        self
    }

    /// A damage of slots or header.
    pub fn damage(page: PageId, damage: Damage) -> Finding {
        let text = format!("{damage:?}");
        let fault = if let Damage::Header { .. } = damage { Fault::Header } else { Fault::Slots };
        Finding { damage: Some(damage), ..Finding::new(page, fault, text) }
    }
}
