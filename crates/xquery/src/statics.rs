//! Static types: what an expression gives, as far as its form tells.
//!
//! SQL Server refuses an expression by its form and never by what a document holds: `/r/a` may
//! give many nodes, so `value()` does not take it, whether there is one `a` or not.

use crate::atomic::AtomicType;
use std::fmt;

/// How many items.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Occurs {
    One,
    Optional,
    Some,
    Many,
}

impl Occurs {
    /// For each of some items so many.
    pub(crate) fn times(self, other: Occurs) -> Occurs {
        let none = |o| matches!(o, Occurs::Optional | Occurs::Many);
        let many = |o| matches!(o, Occurs::Some | Occurs::Many);
        Occurs::of(none(self) || none(other), many(self) || many(other))
    }

    /// One or the other.
    pub(crate) fn either(self, other: Occurs) -> Occurs {
        self.times(other)
    }

    /// The same, or none.
    pub(crate) fn or_none(self) -> Occurs {
        self.times(Occurs::Optional)
    }

    fn of(none: bool, many: bool) -> Occurs {
        match (none, many) {
            (false, false) => Occurs::One,
            (true, false) => Occurs::Optional,
            (false, true) => Occurs::Some,
            (true, true) => Occurs::Many,
        }
    }

    pub(crate) fn single(self) -> bool {
        matches!(self, Occurs::One | Occurs::Optional)
    }
}

/// What an item is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ItemType {
    /// There is none.
    Empty,
    Atomic(AtomicType),
    Document,
    /// Of that name, or any.
    Element(Option<Box<str>>),
    Attribute(Option<Box<str>>),
    Text,
    Comment,
    Instruction,
    /// Nodes of several kinds.
    Node,
    /// Made by a constructor: it can be returned, and little else.
    Constructed,
}

/// A static type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Static {
    pub(crate) item: ItemType,
    pub(crate) occurs: Occurs,
}

impl Static {
    pub(crate) const fn new(item: ItemType, occurs: Occurs) -> Static {
        Static { item, occurs }
    }

    pub(crate) const fn one(t: AtomicType) -> Static {
        Static::new(ItemType::Atomic(t), Occurs::One)
    }

    pub(crate) const fn optional(t: AtomicType) -> Static {
        Static::new(ItemType::Atomic(t), Occurs::Optional)
    }

    pub(crate) const BOOLEAN: Static = Static::one(AtomicType::Boolean);
    pub(crate) const EMPTY: Static = Static::new(ItemType::Empty, Occurs::Optional);

    pub(crate) fn is_node(&self) -> bool {
        !matches!(self.item, ItemType::Empty | ItemType::Atomic(_))
    }

    /// The type of its values.
    pub(crate) fn atomized(&self) -> Static {
        match &self.item {
            ItemType::Empty | ItemType::Atomic(_) => self.clone(),
            _ => Static::new(ItemType::Atomic(AtomicType::Untyped), self.occurs),
        }
    }

    pub(crate) fn atomic(&self) -> Option<AtomicType> {
        match self.atomized().item {
            ItemType::Atomic(t) => Some(t),
            _ => None,
        }
    }

    /// The type of items of either.
    pub(crate) fn union(&self, other: &Static) -> ItemType {
        match (&self.item, &other.item) {
            (ItemType::Empty, item) | (item, ItemType::Empty) => item.clone(),
            (a, b) if a == b => a.clone(),
            (ItemType::Constructed, _) | (_, ItemType::Constructed) => ItemType::Constructed,
            (ItemType::Atomic(_), ItemType::Atomic(_)) => ItemType::Atomic(AtomicType::String),
            (ItemType::Element(_), ItemType::Element(_)) => ItemType::Element(None),
            (ItemType::Attribute(_), ItemType::Attribute(_)) => ItemType::Attribute(None),
            _ => ItemType::Node,
        }
    }
}

impl fmt::Display for Static {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const ANY: &str =
            "element(*,xdt:untyped) ? & text ? & comment ? & processing-instruction ?";
        let any = |n: &Option<Box<str>>| n.clone().unwrap_or_else(|| "*".into());
        match &self.item {
            ItemType::Empty => return f.write_str("empty"),
            ItemType::Atomic(t) => f.write_str(t.name())?,
            ItemType::Document => write!(f, "document {{ ({ANY}) * }}")?,
            ItemType::Element(name) => write!(f, "element({},xdt:untyped)", any(name))?,
            ItemType::Attribute(name) => write!(f, "attribute({},xdt:untypedAtomic)", any(name))?,
            ItemType::Text => f.write_str("text")?,
            ItemType::Comment => f.write_str("comment")?,
            ItemType::Instruction => f.write_str("processing-instruction")?,
            ItemType::Node | ItemType::Constructed => write!(f, "({ANY})")?,
        }
        f.write_str(match self.occurs {
            Occurs::One => "",
            Occurs::Optional => " ?",
            Occurs::Some => " +",
            Occurs::Many => " *",
        })
    }
}
