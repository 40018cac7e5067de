//! Trees as compact text: every operator in parentheses, every clause by its word.

use std::fmt::Write as _;

use tsql::ast::*;

/// An expression.
pub(crate) fn expr(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Literal(l) => literal(l),
        ExprKind::Default => "DEFAULT".into(),
        ExprKind::Variable(n) | ExprKind::Global(n) | ExprKind::Niladic(n) => n.to_string(),
        ExprKind::Column(c) => c.to_string(),
        ExprKind::Unary { op, operand } => {
            let sign = match op {
                UnaryOp::Plus => "+",
                UnaryOp::Minus => "-",
                UnaryOp::BitNot => "~",
            };
            format!("({sign}{})", expr(operand))
        }
        ExprKind::Arithmetic(a) => {
            let terms = a.rest.iter().map(|t| format!(" {} {}", operator(t.op), expr(&t.operand)));
            format!("({}{})", expr(&a.first), terms.collect::<String>())
        }
        ExprKind::Case(c) => case(c),
        ExprKind::Iif(i) => {
            format!("IIF({}, {}, {})", condition(&i.condition), expr(&i.then), expr(&i.otherwise))
        }
        ExprKind::Cast(c) => {
            let attempt = if c.attempt { "TRY_" } else { "" };
            let style = c.style.as_ref().map(|s| format!(", {}", expr(s))).unwrap_or_default();
            let form = format!("{:?}", c.form).to_uppercase();
            format!("{attempt}{form}({} AS {}{style})", expr(&c.operand), type_name(&c.target))
        }
        ExprKind::Collate { operand, collation } => {
            format!("({} COLLATE {collation})", expr(operand))
        }
        ExprKind::AtTimeZone { operand, zone } => format!("({} AT {})", expr(operand), expr(zone)),
        ExprKind::Function(f) => call(f),
        ExprKind::Method(m) => method(m),
        ExprKind::Trim(t) => {
            let characters = t.characters.as_ref().map(expr).unwrap_or_default();
            format!("TRIM({:?} {characters} FROM {})", t.side, expr(&t.operand))
        }
        ExprKind::NextValue(n) => format!("NEXT({}{})", n.sequence, over(&n.over)),
        ExprKind::Subquery(q) => format!("({})", query(q)),
        ExprKind::Identity(i) => format!("IDENTITY({})", type_name(&i.type_name)),
        ExprKind::Odbc { tag, text } => format!("{{{tag} {text}}}"),
    }
}

fn literal(l: &Literal) -> String {
    match l {
        Literal::Null => "NULL".into(),
        Literal::Integer(t) => t.to_string(),
        Literal::Decimal(t) => format!("{t}d"),
        Literal::Float(t) => format!("{t}f"),
        Literal::Money(t) => format!("${t}"),
        Literal::String(t) => format!("'{t}'"),
        Literal::National(t) => format!("N'{t}'"),
        Literal::Binary(bytes) => {
            bytes.iter().fold("0x".to_owned(), |text, b| format!("{text}{b:02x}"))
        }
    }
}

fn operator(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::Modulo => "%",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitOr => "|",
        BinaryOp::BitXor => "^",
        BinaryOp::ShiftLeft => "<<",
        BinaryOp::ShiftRight => ">>",
    }
}

fn compare(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Equal => "=",
        CompareOp::NotEqual => "<>",
        CompareOp::Less => "<",
        CompareOp::LessOrEqual => "<=",
        CompareOp::Greater => ">",
        CompareOp::GreaterOrEqual => ">=",
    }
}

fn case(c: &Case) -> String {
    let mut out = "CASE".to_owned();
    match &c.branches {
        CaseBranches::Simple { operand, whens } => {
            let _ = write!(out, " {}", expr(operand));
            for (value, result) in whens {
                let _ = write!(out, " WHEN {} THEN {}", expr(value), expr(result));
            }
        }
        CaseBranches::Searched(whens) => {
            for (test, result) in whens {
                let _ = write!(out, " WHEN {} THEN {}", condition(test), expr(result));
            }
        }
    }
    if let Some(e) = &c.otherwise {
        let _ = write!(out, " ELSE {}", expr(e));
    }
    out + " END"
}

/// A function call.
pub(crate) fn call(f: &FunctionCall) -> String {
    let star = if f.star { "*" } else { "" };
    let distinct = if f.distinct { "DISTINCT " } else { "" };
    let within = match f.within_group.as_slice() {
        [] => String::new(),
        items => format!(" WITHIN({})", order(items)),
    };
    let nulls = match f.ignore_nulls {
        None => "",
        Some(true) => " IGNORE",
        Some(false) => " RESPECT",
    };
    let arguments = exprs(&f.arguments);
    format!("{}({star}{distinct}{arguments}){within}{nulls}{}", f.name, over(&f.over))
}

fn method(m: &MethodCall) -> String {
    let target = match &m.target {
        MethodTarget::Value(e) => format!("{}.", expr(e)),
        MethodTarget::Type(t) => format!("{t}::"),
    };
    format!("{target}{}({})", m.method, exprs(&m.arguments))
}

fn over(o: &Option<Box<OverClause>>) -> String {
    let Some(o) = o else { return String::new() };
    let frame =
        o.frame.as_ref().map(|f| format!(" {:?} {} TO {}", f.unit, bound(&f.start), bound(&f.end)));
    let frame = frame.unwrap_or_default();
    format!(" OVER({} BY {}{frame})", exprs(&o.partition_by), order(&o.order_by))
}

fn bound(b: &FrameBound) -> String {
    match b {
        FrameBound::UnboundedPreceding => "-inf".into(),
        FrameBound::Preceding(e) => format!("-{}", expr(e)),
        FrameBound::CurrentRow => "0".into(),
        FrameBound::Following(e) => format!("+{}", expr(e)),
        FrameBound::UnboundedFollowing => "+inf".into(),
    }
}

fn order(items: &[OrderItem]) -> String {
    let item = |i: &OrderItem| {
        let down = if i.descending { " DESC" } else { "" };
        format!("{}{down}", expr(&i.expr))
    };
    items.iter().map(item).collect::<Vec<_>>().join(", ")
}

fn exprs(list: &[Expr]) -> String {
    list.iter().map(expr).collect::<Vec<_>>().join(", ")
}

fn names(list: &[Name]) -> String {
    list.iter().map(Name::to_string).collect::<Vec<_>>().join(",")
}

/// A type.
pub(crate) fn type_name(t: &TypeName) -> String {
    match &t.arguments {
        TypeArguments::None => t.name.to_string(),
        TypeArguments::Max => format!("{}(max)", t.name),
        TypeArguments::One(n) => format!("{}({n})", t.name),
        TypeArguments::Two(p, s) => format!("{}({p},{s})", t.name),
        TypeArguments::Schema(n) => format!("{}({n})", t.name),
    }
}

/// A condition.
pub(crate) fn condition(c: &Condition) -> String {
    let not = |negated: &bool| if *negated { "NOT " } else { "" };
    match &c.kind {
        ConditionKind::Compare { op, left, right } => {
            format!("{} {} {}", expr(left), compare(*op), expr(right))
        }
        ConditionKind::Quantified { op, left, quantifier, query: q } => {
            format!("{} {} {quantifier:?}({})", expr(left), compare(*op), query(q))
        }
        ConditionKind::Between { operand, low, high, negated } => {
            let range = format!("{}..{}", expr(low), expr(high));
            format!("{} {}BETWEEN {range}", expr(operand), not(negated))
        }
        ConditionKind::InList { operand, list, negated } => {
            format!("{} {}IN ({})", expr(operand), not(negated), exprs(list))
        }
        ConditionKind::InQuery { operand, query: q, negated } => {
            format!("{} {}IN ({})", expr(operand), not(negated), query(q))
        }
        ConditionKind::Like { operand, pattern, escape, negated } => {
            let escape = escape.as_ref().map(|e| format!(" ESCAPE {}", expr(e)));
            let escape = escape.unwrap_or_default();
            format!("{} {}LIKE {}{escape}", expr(operand), not(negated), expr(pattern))
        }
        ConditionKind::IsNull { operand, negated } => {
            format!("{} IS {}NULL", expr(operand), not(negated))
        }
        ConditionKind::IsDistinct { left, right, negated } => {
            format!("{} IS {}DISTINCT {}", expr(left), not(negated), expr(right))
        }
        ConditionKind::Exists(q) => format!("EXISTS ({})", query(q)),
        ConditionKind::Not(inner) => format!("NOT({})", condition(inner)),
        ConditionKind::And(parts) => junction(parts, "AND"),
        ConditionKind::Or(parts) => junction(parts, "OR"),
        ConditionKind::Updated(n) => format!("UPDATE({n})"),
        ConditionKind::FullText { function, columns, search } => {
            let columns: Vec<_> = columns.iter().map(ColumnName::to_string).collect();
            format!("{function}([{}], {})", columns.join(","), expr(search))
        }
    }
}

fn junction(parts: &[Condition], word: &str) -> String {
    let parts: Vec<_> = parts.iter().map(condition).collect();
    format!("{word}({})", parts.join("; "))
}

/// A query.
pub(crate) fn query(q: &Query) -> String {
    let mut out = body(&q.body);
    if !q.order_by.is_empty() {
        let _ = write!(out, " ORDER {}", order(&q.order_by));
    }
    if let Some(o) = &q.offset {
        let fetch = o.fetch.as_ref().map(expr).unwrap_or_default();
        let _ = write!(out, " OFFSET {} FETCH {fetch}", expr(&o.offset));
    }
    if let Some(f) = &q.for_clause {
        let options: Vec<_> = f.options.iter().map(|o| &*o.name).collect();
        let element = f.element.as_deref().unwrap_or("");
        let _ = write!(out, " FOR {:?} {}({element}) {}", f.kind, f.mode, options.join(","));
    }
    out
}

fn body(b: &QueryBody) -> String {
    match b {
        QueryBody::Select(s) => select(s),
        QueryBody::Parenthesized(q) => format!("({})", query(q)),
        QueryBody::SetOperation(s) => {
            let rest = s.rest.iter().map(|o| format!(" {:?} {}", o.op, body(&o.body)));
            format!("[{}{}]", body(&s.first), rest.collect::<String>())
        }
    }
}

fn select(s: &Select) -> String {
    let mut out = if s.distinct { "SELECT DISTINCT" } else { "SELECT" }.to_owned();
    if let Some(t) = &s.top {
        let percent = if t.percent { "%" } else { "" };
        let ties = if t.with_ties { " TIES" } else { "" };
        let _ = write!(out, " TOP {}{percent}{ties}", expr(&t.count));
    }
    let items: Vec<_> = s.items.iter().map(item).collect();
    let _ = write!(out, " {}", items.join(", "));
    if let Some(into) = &s.into {
        let _ = write!(out, " INTO {}", into.table);
    }
    if !s.from.is_empty() {
        let from: Vec<_> = s.from.iter().map(source).collect();
        let _ = write!(out, " FROM {}", from.join(", "));
    }
    if let Some(c) = &s.filter {
        let _ = write!(out, " WHERE {}", condition(c));
    }
    if let Some(g) = &s.group_by {
        let _ = write!(out, " GROUP {}{:?}", groups(&g.elements), g.with);
        out = out.replace("None", "");
    }
    if let Some(c) = &s.having {
        let _ = write!(out, " HAVING {}", condition(c));
    }
    out
}

fn groups(elements: &[GroupElement]) -> String {
    let one = |e: &GroupElement| match e {
        GroupElement::Expr(e) => expr(e),
        GroupElement::Composite(list) => format!("({})", exprs(list)),
        GroupElement::Rollup(inner) => format!("ROLLUP({})", groups(inner)),
        GroupElement::Cube(inner) => format!("CUBE({})", groups(inner)),
        GroupElement::Sets(inner) => format!("SETS({})", groups(inner)),
    };
    elements.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn item(i: &SelectItem) -> String {
    match i {
        SelectItem::Star(_) => "*".into(),
        SelectItem::QualifiedStar(t) => format!("{t}.*"),
        SelectItem::Expr { expr: e, alias: None } => expr(e),
        SelectItem::Expr { expr: e, alias: Some(a) } => format!("{} AS {a}", expr(e)),
        SelectItem::Assign { variable, op, value } => format!("{variable} {op:?} {}", expr(value)),
    }
}

fn aliased(text: String, alias: &Option<Name>, columns: &[Name]) -> String {
    let alias = alias.as_ref().map(|a| format!(" AS {a}")).unwrap_or_default();
    let columns = if columns.is_empty() { String::new() } else { format!("({})", names(columns)) };
    format!("{text}{alias}{columns}")
}

fn hints(list: &[TableHint]) -> String {
    let list: Vec<_> = list.iter().map(|h| format!("{:?}", h.kind)).collect();
    if list.is_empty() { String::new() } else { format!(" <{}>", list.join(" ")) }
}

/// A source of rows.
pub(crate) fn source(s: &TableSource) -> String {
    match &s.kind {
        TableSourceKind::Table(t) => aliased(t.name.to_string(), &t.alias, &[]) + &hints(&t.hints),
        TableSourceKind::Variable { variable, alias } => aliased(variable.to_string(), alias, &[]),
        TableSourceKind::Function(f) => {
            aliased(call(&f.call), &f.alias, &f.columns) + &hints(&f.hints)
        }
        TableSourceKind::Method { call, alias, columns } => aliased(method(call), alias, columns),
        TableSourceKind::Derived { query: q, alias, columns } => {
            aliased(format!("({})", query(q)), alias, columns)
        }
        TableSourceKind::Values { rows, alias, columns } => {
            let rows: Vec<_> = rows.iter().map(|r| format!("({})", exprs(r))).collect();
            aliased(format!("VALUES {}", rows.join("")), alias, columns)
        }
        TableSourceKind::Changed { alias, columns, .. } => {
            aliased("(change)".into(), alias, columns)
        }
        TableSourceKind::Joined { first, joins } => {
            let joins = joins.iter().map(|j| {
                let hint = j.hint.map(|h| format!("{h:?}")).unwrap_or_default();
                let on = j.on.as_ref().map(|c| format!(" ON {}", condition(c))).unwrap_or_default();
                format!(" {:?}{hint} {}{on}", j.kind, source(&j.right))
            });
            format!("[{}{}]", source(first), joins.collect::<String>())
        }
        TableSourceKind::Pivot(p) => format!(
            "{} PIVOT({}({}) FOR {} IN {}) AS {}",
            source(&p.source),
            p.aggregate,
            p.argument.as_ref().map_or("*".into(), ToString::to_string),
            p.column,
            names(&p.values),
            p.alias
        ),
        TableSourceKind::Unpivot(p) => format!(
            "{} UNPIVOT({} FOR {} IN {}) AS {}",
            source(&p.source),
            p.value,
            p.name,
            names(&p.columns),
            p.alias
        ),
    }
}
