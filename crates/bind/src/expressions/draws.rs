//! Values that a statement draws from sequences, and where it may.

use base::{Message, messages};
use plan::{Scalar, ScalarKind, ScalarType, Slot, UserCall, UserFunction};

/// What a mention may do where it stands.
#[derive(Clone, Copy)]
pub(crate) enum DrawRule {
    /// A select list; `ordered`: only with OVER.
    SelectList { ordered: bool },
    /// VALUES, SET, a default, an expression alone: without OVER.
    Row,
    /// Not at all, and why.
    Refused(Message),
}

/// OVER (ORDER BY …): keys, and whether they descend.
type DrawOrder = Vec<(Scalar, bool)>;

/// A value drawn once a row.
pub(crate) struct Draw {
    pub(crate) sequence: UserFunction,
    pub(crate) name: Box<str>,
    pub(crate) slot: Slot,
    pub(crate) ty: ScalarType,
    pub(crate) order: Option<DrawOrder>,
    /// Something writes the slot.
    pub(crate) placed: bool,
}

impl Draw {
    /// The call of the session that draws.
    fn call(&self) -> Scalar {
        let call = UserCall {
            function: self.sequence,
            name: self.name.clone(),
            null_on_null_input: false,
            args: Vec::new(),
        };
        Scalar { kind: ScalarKind::Call(Box::new(call)), ty: self.ty }
    }
}

/// The draws of a statement.
pub(crate) struct Draws {
    rule: DrawRule,
    list: Vec<Draw>,
    /// What rows of a row constructor drew for themselves.
    by_rows: Vec<UserFunction>,
}

impl Default for Draws {
    fn default() -> Self {
        let rule = DrawRule::Refused(messages::NEXT_VALUE_CLAUSE);
        Draws { rule, list: Vec::new(), by_rows: Vec::new() }
    }
}

impl Draws {
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty() && self.by_rows.is_empty()
    }

    /// What a mention may do at the place at hand.
    pub(crate) fn rule(&self) -> DrawRule {
        self.rule
    }

    /// Sets the rule, and gives the one before.
    pub(crate) fn replace_rule(&mut self, rule: DrawRule) -> DrawRule {
        std::mem::replace(&mut self.rule, rule)
    }

    /// No draws, under the same rule.
    pub(crate) fn renewed(&self) -> Draws {
        Draws { rule: self.rule, ..Draws::default() }
    }

    /// The draw of a sequence.
    pub(crate) fn known(&self, sequence: UserFunction) -> Option<&Draw> {
        self.list.iter().find(|d| d.sequence == sequence)
    }

    /// Whether rows of a row constructor drew from a sequence.
    pub(crate) fn is_drawn_by_rows(&self, sequence: UserFunction) -> bool {
        self.by_rows.contains(&sequence)
    }

    pub(crate) fn add(&mut self, draw: Draw) {
        self.list.push(draw);
    }

    /// The next draw that nothing writes yet, which the caller places: its slot, its call and
    /// the order that it wants.
    pub(crate) fn place_next(&mut self) -> Option<(Slot, Scalar, DrawOrder)> {
        let draw = self.list.iter_mut().find(|d| !d.placed)?;
        draw.placed = true;
        Some((draw.slot, draw.call(), draw.order.clone().unwrap_or_default()))
    }

    /// Lets the first of a row's expressions, in the order in which they are computed, draw what
    /// they read.
    pub(crate) fn draw_in(&mut self, values: &mut [&mut Scalar]) {
        for draw in self.list.iter_mut().filter(|d| !d.placed) {
            let reader = values.iter_mut().find(|x| x.reads().slots.contains(&draw.slot));
            let Some(reader) = reader else { continue };
            let ty = reader.ty;
            let body = Box::new(std::mem::replace(*reader, Scalar::null(ty.sql_type)));
            let value = Box::new(draw.call());
            **reader = Scalar { kind: ScalarKind::Let { slot: draw.slot, value, body }, ty };
            draw.placed = true;
        }
    }

    /// A row of a row constructor draws for itself.
    pub(crate) fn draw_in_row(&mut self, row: &mut [Scalar], drawn: &mut Vec<UserFunction>) {
        let mut values: Vec<&mut Scalar> = row.iter_mut().collect();
        self.draw_in(&mut values);
        drawn.extend(self.list.drain(..).map(|d| d.sequence));
    }

    /// What rows have drawn, a default of the statement cannot share (11731).
    pub(crate) fn set_drawn_by_rows(&mut self, drawn: Vec<UserFunction>) {
        self.by_rows = drawn;
    }
}
