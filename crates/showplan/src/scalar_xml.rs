//! Expressions and conditions as ScalarOperator elements: the text of the whole at the top, its
//! parts below.

use crate::columns::Column;
use crate::expression::{constant, function_name, global, subquery_name};
use crate::relop::RelOps;
use plan::{
    AggregateCall, ColumnSource, CompareOp, LikeText, Physical, Predicate, Quantifier, Scalar,
    ScalarKind, Slot, Statement, SubqueryId, VariableId, WindowCall, WindowFunction,
};
use types::{BinaryOp, Value};

fn arithmetic(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "ADD",
        BinaryOp::Sub => "SUB",
        BinaryOp::Mul => "MULT",
        BinaryOp::Div => "DIV",
        BinaryOp::Modulo => "MOD",
        BinaryOp::BitAnd => "BIT_AND",
        BinaryOp::BitOr => "BIT_OR",
        BinaryOp::BitXor => "BIT_XOR",
    }
}

fn comparison(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Equal => "EQ",
        CompareOp::NotEqual => "NE",
        CompareOp::Less => "LT",
        CompareOp::LessOrEqual => "LE",
        CompareOp::Greater => "GT",
        CompareOp::GreaterOrEqual => "GE",
    }
}

fn quantified(op: CompareOp, quantifier: Quantifier) -> &'static str {
    use CompareOp as C;
    match (op, quantifier) {
        (C::Equal, Quantifier::All) => "EQ ALL",
        (C::Equal, Quantifier::Any) => "EQ ANY",
        (C::NotEqual, Quantifier::All) => "NE ALL",
        (C::NotEqual, Quantifier::Any) => "NE ANY",
        (C::Less, Quantifier::All) => "LT ALL",
        (C::Less, Quantifier::Any) => "LT ANY",
        (C::LessOrEqual, Quantifier::All) => "LE ALL",
        (C::LessOrEqual, Quantifier::Any) => "LE ANY",
        (C::Greater, Quantifier::All) => "GT ALL",
        (C::Greater, Quantifier::Any) => "GT ANY",
        (C::GreaterOrEqual, Quantifier::All) => "GE ALL",
        (C::GreaterOrEqual, Quantifier::Any) => "GE ANY",
    }
}

impl RelOps<'_> {
    /// An expression.
    pub(crate) fn scalar(&mut self, x: &Scalar) {
        self.w.begin("ScalarOperator");
        self.w.attribute("ScalarString", &self.columns.scalar(x));
        self.scalar_body(x);
        self.w.end();
    }

    /// A condition within an element of a name.
    pub(crate) fn condition(&mut self, name: &'static str, p: &Predicate) {
        self.w.begin(name);
        self.w.begin("ScalarOperator");
        self.w.attribute("ScalarString", &self.columns.predicate(p));
        self.predicate_body(p);
        self.w.end();
        self.w.end();
    }

    fn part(&mut self, x: &Scalar) {
        self.w.begin("ScalarOperator");
        self.scalar_body(x);
        self.w.end();
    }

    fn predicate_part(&mut self, p: &Predicate) {
        self.w.begin("ScalarOperator");
        self.predicate_body(p);
        self.w.end();
    }

    /// A column alone as an expression.
    pub(crate) fn identifier(&mut self, slot: Slot) {
        self.w.begin("ScalarOperator");
        self.w.attribute("ScalarString", &self.columns.slot(slot));
        self.reference(&self.columns.column(slot));
        self.w.end();
    }

    fn reference(&mut self, column: &Column) {
        self.w.begin("Identifier");
        self.column(column);
        self.w.end();
    }

    fn named(&mut self, name: String) {
        self.reference(&Column { column: name, ..Column::default() });
    }

    fn variable(&mut self, id: VariableId) {
        self.variables.insert(id);
        self.named(self.columns.names.variable(id));
    }

    fn literal(&mut self, text: &str) {
        self.w.begin("Const");
        self.w.attribute("ConstValue", text);
        self.w.end();
    }

    fn scalar_body(&mut self, x: &Scalar) {
        use ScalarKind as K;
        match &x.kind {
            K::Constant(v) => self.literal(&constant(v)),
            K::Column(slot) => self.reference(&self.columns.column(*slot)),
            K::Variable(id) => self.variable(*id),
            K::Global(fact) => self.intrinsic(&global(*fact), &[]),
            K::Negate(x) => self.operation("MINUS", &[x]),
            K::BitNot(x) => self.operation("BIT_NOT", &[x]),
            K::Binary { op, left, right } => self.operation(arithmetic(*op), &[left, right]),
            K::Case { branches, otherwise } => self.case(branches, otherwise.as_deref()),
            K::Coalesce(items) => self.intrinsic("coalesce", &items.iter().collect::<Vec<_>>()),
            K::Cast { operand, style, implicit, .. } => {
                self.w.begin("Convert");
                self.w.attribute("DataType", &x.ty.sql_type.to_string());
                let known = style.as_deref().and_then(Scalar::as_constant);
                self.w.number("Style", known.and_then(Value::as_i64).unwrap_or(0));
                self.w.number("Implicit", implicit.0);
                if let Some(style) = style {
                    self.w.begin("Style");
                    self.part(style);
                    self.w.end();
                }
                self.part(operand);
                self.w.end();
            }
            K::Function { function, args, .. } => {
                let args: Vec<&Scalar> = args.iter().collect();
                self.intrinsic(&function_name(function.name), &args);
            }
            K::Method { method, args } => {
                let args: Vec<&Scalar> = args.iter().collect();
                self.intrinsic(method.query.method().name(), &args);
            }
            K::Call(call) => {
                self.w.begin("UserDefinedFunction");
                self.w.attribute("FunctionName", &call.name);
                call.args.iter().for_each(|x| self.part(x));
                self.w.end();
            }
            K::Subquery(id) => self.subquery(*id, "EQ ANY", None),
            K::Let { body, .. } => self.scalar_body(body),
        }
    }

    fn operation(&mut self, name: &str, operands: &[&Scalar]) {
        self.w.begin("Arithmetic");
        self.w.attribute("Operation", name);
        operands.iter().for_each(|x| self.part(x));
        self.w.end();
    }

    fn intrinsic(&mut self, name: &str, arguments: &[&Scalar]) {
        self.w.begin("Intrinsic");
        self.w.attribute("FunctionName", name);
        arguments.iter().for_each(|x| self.part(x));
        self.w.end();
    }

    /// Each further branch is the ELSE of the one before.
    fn case(&mut self, branches: &[(Predicate, Scalar)], otherwise: Option<&Scalar>) {
        for (when, then) in branches {
            self.w.begin("IF");
            self.w.begin("Condition");
            self.predicate_part(when);
            self.w.end();
            self.w.begin("Then");
            self.part(then);
            self.w.end();
            self.w.begin("Else");
            self.w.begin("ScalarOperator");
        }
        match otherwise {
            Some(x) => self.scalar_body(x),
            None => self.literal("NULL"),
        }
        for _ in branches {
            for _ in ["ScalarOperator", "Else", "IF"] {
                self.w.end();
            }
        }
    }

    fn predicate_body(&mut self, p: &Predicate) {
        use Predicate as P;
        match p {
            P::Constant(value) => self.literal(match value {
                Some(true) => "(1)",
                Some(false) => "(0)",
                None => "NULL",
            }),
            P::Compare { op, left, right, .. } => self.compare(comparison(*op), &[left, right]),
            P::IsNull(x) => self.compare("IS", &[x, &Scalar::null(x.ty.sql_type)]),
            P::IsDistinct { left, right, .. } => self.compare("IS NOT", &[left, right]),
            P::Like { operand, pattern, .. } => {
                self.w.begin("Intrinsic");
                self.w.attribute("FunctionName", "like");
                self.part(operand);
                match pattern {
                    LikeText::Compiled(_) => {
                        self.w.begin("ScalarOperator");
                        self.literal(&self.columns.pattern(pattern));
                        self.w.end();
                    }
                    LikeText::Dynamic { pattern, escape } => {
                        self.part(pattern);
                        escape.iter().for_each(|x| self.part(x));
                    }
                }
                self.w.end();
            }
            P::InList { operand, list, .. } => {
                self.w.begin("Logical");
                self.w.attribute("Operation", "OR");
                for x in list {
                    self.w.begin("ScalarOperator");
                    self.compare("EQ", &[operand, x]);
                    self.w.end();
                }
                self.w.end();
            }
            P::Exists(id) => self.subquery(*id, "EXISTS", None),
            P::Quantified { op, quantifier, operand, subquery, .. } => {
                self.subquery(*subquery, quantified(*op, *quantifier), Some(operand));
            }
            P::Not(p) => self.logical("NOT", std::slice::from_ref(p.as_ref())),
            P::And(parts) => self.logical("AND", parts),
            P::Or(parts) => self.logical("OR", parts),
            P::Let { body, .. } => self.predicate_body(body),
        }
    }

    fn compare(&mut self, op: &str, operands: &[&Scalar]) {
        self.w.begin("Compare");
        self.w.attribute("CompareOp", op);
        operands.iter().for_each(|x| self.part(x));
        self.w.end();
    }

    fn logical(&mut self, name: &str, parts: &[Predicate]) {
        self.w.begin("Logical");
        self.w.attribute("Operation", name);
        parts.iter().for_each(|p| self.predicate_part(p));
        self.w.end();
    }

    /// A subquery with its operators where it is met first; its name afterwards.
    fn subquery(&mut self, id: SubqueryId, operation: &str, operand: Option<&Scalar>) {
        let number = id.0 as usize;
        let op = self.tree.subqueries.get(number).and_then(Option::as_ref);
        match op {
            Some(op) if self.written.insert(number) => {
                self.w.begin("Subquery");
                self.w.attribute("Operation", operation);
                operand.into_iter().for_each(|x| self.part(x));
                self.relop(op);
                self.w.end();
            }
            _ => self.named(subquery_name(id)),
        }
    }

    pub(crate) fn aggregate(&mut self, call: &AggregateCall) {
        self.w.begin("ScalarOperator");
        self.w.attribute("ScalarString", &self.columns.aggregate(call));
        self.w.begin("Aggregate");
        self.w.attribute("AggType", call.function.name());
        self.w.number("Distinct", call.distinct);
        call.argument.iter().chain(&call.separator).for_each(|x| self.part(x));
        self.w.end();
        self.w.end();
    }

    pub(crate) fn window(&mut self, call: &WindowCall) {
        self.w.begin("ScalarOperator");
        let text = self.columns.window(call);
        self.w.attribute("ScalarString", &text);
        match &call.function {
            WindowFunction::Aggregate { function, argument, .. } => {
                self.w.begin("Aggregate");
                self.w.attribute("AggType", function.name());
                self.w.attribute("Distinct", "false");
                argument.iter().for_each(|x| self.part(x));
                self.w.end();
            }
            _ => {
                self.w.begin("Sequence");
                let name = text.split('(').next().unwrap_or_default();
                self.w.attribute("FunctionName", name);
                self.w.end();
            }
        }
        self.w.end();
    }

    /// What a change puts into columns.
    pub(crate) fn assignments(&mut self, statement: &Statement<Physical>) {
        let mut all: Vec<(String, Option<&Scalar>)> = Vec::new();
        match statement {
            Statement::Insert(i) => {
                for (c, column) in i.columns.iter().zip(&i.target.columns) {
                    let value = match &c.source {
                        ColumnSource::Value(x) | ColumnSource::Computed(x) => Some(x),
                        ColumnSource::Identity => None,
                    };
                    all.push((column.name.to_string(), value));
                }
            }
            Statement::Update(u) => {
                for a in &u.assignments {
                    let column = a.column.and_then(|n| u.target.columns.get(n));
                    let variable = a.variable.map(|(v, _)| self.columns.names.variable(v));
                    let name = column.map(|c| c.name.to_string()).or(variable);
                    all.push((name.unwrap_or_default(), Some(&a.value)));
                }
            }
            _ => {}
        }
        if all.is_empty() {
            return;
        }
        self.w.begin("SetPredicate");
        self.w.begin("ScalarOperator");
        self.w.attribute("ScalarString", &self.columns.set_list(statement));
        self.w.begin("MultipleAssign");
        let target = statement.target();
        for (column, value) in all {
            let to = match target.filter(|_| !column.starts_with('@')) {
                Some(t) => Column::of_table(&t.database_name, &t.two_part_name(), "", column),
                None => Column { column, ..Column::default() },
            };
            self.w.begin("Assign");
            self.column(&to);
            match value {
                Some(x) => self.part(x),
                None => {
                    self.w.begin("ScalarOperator");
                    self.intrinsic("identity", &[]);
                    self.w.end();
                }
            }
            self.w.end();
        }
        self.w.end();
        self.w.end();
        self.w.end();
    }
}
