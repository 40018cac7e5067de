//! How SQL Server shows an operator: names, the element of its kind in XML, its argument in text.
//!
//! An operator lists what stands in its element and in the Argument column, in order. `showplan`
//! knows how slots and expressions are written and what heaps and indexes are called, and nothing
//! of operators.

use super::stored::StoredAccess;
use crate::{AggregateCall, JoinKind, Predicate, Scalar, Slot, SortKey, WindowCall};
use base::DatabaseId;
use std::borrow::Cow;
use types::Collation;

/// An operator as it is shown.
#[derive(Clone, Debug)]
pub struct Display<'p> {
    /// The physical name; of a scan of stored rows showplan adds what they are stored in.
    pub physical: &'static str,
    /// The logical name; of a scan as above.
    pub logical: &'static str,
    /// The XML element; of a scan as above.
    pub element: &'static str,
    /// What stands in it: attributes first.
    pub items: Vec<Item<'p>>,
    /// The Argument column.
    pub argument: Vec<Phrase<'p>>,
    /// The word that names columns, with the columns that it names; all others that are not stored
    /// are expressions.
    pub named: Option<(&'p str, Vec<Slot>)>,
    /// Columns that are called as others are, where ANY asks for their name.
    pub same_as: Vec<(Slot, Slot)>,
    /// Each row of one side meets each of the other, unless the inner side reads the outer.
    pub lacks_predicate: bool,
}

/// A part of an operator's element.
#[derive(Clone, Debug)]
pub enum Item<'p> {
    /// An attribute that is true or false.
    Flag(&'static str, bool),
    /// An attribute that is a number.
    Number(&'static str, i64),
    /// An attribute that is a word.
    Word(&'static str, &'static str),
    /// The operators below.
    Inputs,
    /// An element with a condition.
    Condition(&'static str, &'p Predicate),
    /// An element with a value.
    Value(&'static str, Cow<'p, Scalar>),
    /// An element with columns.
    Columns(&'static str, Vec<Slot>),
    /// OrderBy
    Order(&'p [SortKey]),
    /// OuterReferences: what the second input reads of the first, where it reads anything.
    OuterReferences,
    /// DefinedValues that are read as they are.
    Read(Vec<Slot>),
    /// DefinedValues that are computed.
    Defined(Vec<(Slot, Definition<'p>)>),
    /// What is read by name: its database, and its name.
    Object(Option<DatabaseId>, &'p str),
    /// ParameterList
    Parameters(&'p [Scalar]),
    /// Values
    Rows(&'p [Vec<Scalar>]),
    /// The column that says what is done with a row.
    Action(Slot),
    /// SeekPredicate: what the first of some columns equal, and the ends of the next one.
    Seek {
        /// The columns.
        columns: Vec<Slot>,
        /// What the first ones equal.
        equal: &'p [Scalar],
        /// Where the next one begins.
        lower: Option<&'p Scalar>,
        /// Where it ends.
        upper: Option<&'p Scalar>,
    },
    /// A scan or a seek of stored rows.
    Scan(StoredAccess<'p>),
}

/// What a column is computed from.
#[derive(Clone, Debug)]
pub enum Definition<'p> {
    /// A value.
    Value(&'p Scalar),
    /// Rows of a group.
    Aggregate(&'p AggregateCall),
    /// Rows of a window.
    Window(&'p WindowCall),
    /// A column of each input.
    Columns(Vec<Slot>),
}

/// A part of an operator's argument.
#[derive(Clone, Debug)]
pub enum Phrase<'p> {
    /// As it stands.
    Text(&'static str),
    /// Columns.
    Slots(Vec<Slot>),
    /// Columns with their direction.
    Order(&'p [SortKey]),
    /// A condition.
    Condition(&'p Predicate),
    /// A value.
    Value(Cow<'p, Scalar>),
    /// A value without parentheses around it.
    Bare(&'p Scalar),
    /// Rows of values.
    Rows(&'p [Vec<Scalar>]),
    /// What is read by name, as [`Item::Object`].
    Object(Option<DatabaseId>, &'p str),
    /// The outer references, as [`Item::OuterReferences`], and a text that follows them.
    OuterReferences(&'static str),
    /// The computed columns of the element.
    Definitions,
    /// A scan or a seek of stored rows.
    Scan(StoredAccess<'p>),
}

impl<'p> Display<'p> {
    /// An operator that has nothing in its element.
    pub(super) fn new(
        physical: &'static str,
        logical: &'static str,
        element: &'static str,
    ) -> Display<'p> {
        Display {
            physical,
            logical,
            element,
            items: Vec::new(),
            argument: Vec::new(),
            named: None,
            same_as: Vec::new(),
            lacks_predicate: false,
        }
    }

    /// With a part in the element.
    pub(super) fn item(mut self, item: Item<'p>) -> Display<'p> {
        self.items.push(item);
        self
    }

    /// With a condition in the element, where there is one.
    pub(super) fn condition(mut self, name: &'static str, p: Option<&'p Predicate>) -> Display<'p> {
        self.items.extend(p.map(|p| Item::Condition(name, p)));
        self
    }

    /// With the operators below in the element.
    pub(super) fn inputs(self) -> Display<'p> {
        self.item(Item::Inputs)
    }

    /// With a text in the argument.
    pub(super) fn text(self, text: &'static str) -> Display<'p> {
        self.phrase(Phrase::Text(text))
    }

    /// With a part in the argument.
    pub(super) fn phrase(mut self, phrase: Phrase<'p>) -> Display<'p> {
        self.argument.push(phrase);
        self
    }

    /// With a part in the argument, a text before it and a parenthesis behind.
    pub(super) fn clause(self, before: &'static str, phrase: Phrase<'p>) -> Display<'p> {
        self.text(before).phrase(phrase).text(")")
    }

    /// With a text between what the argument has already and what follows.
    pub(super) fn after(self, between: &'static str) -> Display<'p> {
        if self.argument.is_empty() { self } else { self.text(between) }
    }

    /// With a condition in the argument, where there is one.
    pub(super) fn tested(self, before: &'static str, p: Option<&'p Predicate>) -> Display<'p> {
        match p {
            Some(p) => self.clause(before, Phrase::Condition(p)),
            None => self,
        }
    }

    /// With columns that are computed, in the element.
    pub(super) fn defines(
        self,
        columns: impl Iterator<Item = (Slot, Definition<'p>)>,
    ) -> Display<'p> {
        self.item(Item::Defined(columns.collect()))
    }

    /// With those of the element in the argument, where there are any.
    pub(super) fn with_definitions(self) -> Display<'p> {
        let any = |item: &Item<'_>| matches!(item, Item::Defined(list) if !list.is_empty());
        if !self.items.iter().any(any) {
            return self;
        }
        self.after(" ").clause("DEFINE:(", Phrase::Definitions)
    }
}

/// The slots of keys.
pub(super) fn slots_of(keys: &[(Slot, Collation)]) -> Vec<Slot> {
    keys.iter().map(|k| k.0).collect()
}

/// The logical name of a join that reads its left side first.
pub(super) fn join_name(kind: JoinKind) -> &'static str {
    match kind {
        JoinKind::Inner => "Inner Join",
        JoinKind::Left => "Left Outer Join",
        JoinKind::Right => "Right Outer Join",
        JoinKind::Full => "Full Outer Join",
        JoinKind::Semi => "Left Semi Join",
        JoinKind::Anti => "Left Anti Semi Join",
    }
}
