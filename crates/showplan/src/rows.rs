//! A statement and its plan as rows: SHOWPLAN_TEXT, SHOWPLAN_ALL, STATISTICS PROFILE.

use crate::columns::Columns;
use crate::names::Names;
use crate::statement::{Count, Statement};
use crate::tree::{Op, Tree};

/// A row: the statement itself, or an operator. What is `None` is NULL.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Row {
    /// The statement's text, or the operator behind lines that tie it to the one above.
    pub text: String,
    /// Which statement of the batch, from 1.
    pub statement: u32,
    /// 1 for the statement, operators follow.
    pub node: u32,
    /// The node above; 0 for none.
    pub parent: u32,
    /// What does it.
    pub physical: Option<&'static str>,
    /// What is done.
    pub logical: Option<&'static str>,
    /// How.
    pub argument: Option<String>,
    /// What it computes.
    pub defined: Option<String>,
    /// What was expected.
    pub estimate: Option<plan::Estimate>,
    /// The columns it gives.
    pub output: Option<String>,
    /// What is wrong with it.
    pub warnings: Option<String>,
    /// `SELECT`, `INSERT`…, or `PLAN_ROW`.
    pub kind: String,
    /// What it did; for the statement what its topmost operator did.
    pub count: Option<Count>,
}

/// The rows of a statement.
pub fn rows(statement: &Statement<'_>, names: &dyn Names) -> Vec<Row> {
    let mut first = Row {
        text: statement.text.to_owned(),
        statement: statement.id,
        node: 1,
        argument: Some("1".to_owned()),
        kind: statement.kind.to_owned(),
        ..Row::default()
    };
    let Some(plan) = statement.plan else { return vec![first] };
    let columns = Columns::of(plan, names);
    let tree = Tree::of(plan, &columns, statement.ran.as_ref());
    if let Some(root) = &tree.root {
        first.estimate = Some(root.estimate);
        first.count = root.count;
    }
    let mut lines = Lines { columns: &columns, statement: statement.id, rows: vec![first] };
    for root in tree.root.iter().chain(tree.subqueries.iter().flatten()) {
        lines.add(root, 1, "  ");
    }
    lines.rows
}

struct Lines<'c> {
    columns: &'c Columns<'c>,
    statement: u32,
    rows: Vec<Row>,
}

impl Lines<'_> {
    fn add(&mut self, op: &Op<'_>, parent: u32, indent: &str) {
        let node = op.id + 2;
        let argument = self.columns.argument(op);
        let text = format!("{indent}|--{}", spelled(op, &argument));
        let some = |text: String| (!text.is_empty()).then_some(text);
        self.rows.push(Row {
            text,
            statement: self.statement,
            node,
            parent,
            physical: Some(op.physical),
            logical: Some(op.logical),
            argument: some(argument),
            defined: some(self.columns.defined(op)),
            estimate: Some(op.estimate),
            output: some(self.columns.slots(&op.output)),
            warnings: some(self.columns.warnings(op)),
            kind: "PLAN_ROW".to_owned(),
            count: op.count,
        });
        let last = op.inputs.len().saturating_sub(1);
        for (n, input) in op.inputs.iter().enumerate() {
            let below = format!("{indent}     ");
            self.add_input(input, node, &below, n < last);
        }
    }

    /// An input, with a line beside what is below it where another input follows.
    fn add_input(&mut self, op: &Op<'_>, parent: u32, indent: &str, more: bool) {
        let from = self.rows.len();
        self.add(op, parent, indent);
        if more {
            for row in &mut self.rows[from + 1..] {
                let at = indent.len();
                if row.text.as_bytes().get(at) == Some(&b' ') {
                    row.text.replace_range(at..=at, "|");
                }
            }
        }
    }
}

/// `Physical(Logical, argument)`; the logical name where it says more.
fn spelled(op: &Op<'_>, argument: &str) -> String {
    let join = matches!(
        op.physical,
        "Nested Loops" | "Hash Match" | "Merge Join" | "Window Aggregate" | "Parallelism"
    );
    let logical = if join && op.physical != op.logical { op.logical } else { "" };
    let name = op.physical;
    match (logical, argument) {
        ("", "") => name.to_owned(),
        (one, "") | ("", one) => format!("{name}({one})"),
        (logical, argument) => format!("{name}({logical}, {argument})"),
    }
}
