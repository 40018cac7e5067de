//! GROUP BY: its expressions, and the sets that ROLLUP, CUBE and GROUPING SETS make of them.
//!
//! Several sets are one grouping over the rows times the sets: each row goes with each set once,
//! an expression that a set leaves out is NULL there, and the number of the set is grouped by
//! too. So every aggregate, with DISTINCT or without, works as it does for one set. Beside the
//! number each set says for each expression whether it leaves it out, which is GROUPING().
//!
//! Of no rows no set makes a group, the empty one neither: there is no total of nothing, as in SQL
//! Server and unlike PostgreSQL (tests/golden/language/empty_groupings.golden has the source).

use crate::binder::Binder;
use crate::expressions::collation::check_column;
use crate::expressions::comparable::check_sorted;
use crate::names::groups::Groups;
use crate::names::scope::Scope;
use crate::refusal::unsupported;
use crate::tree::computed_columns;
use base::{SqlError, SqlResult, messages};
use plan::{
    AggregateCall, CompareOp, Grouping, JoinKind, Logical, Predicate, Scalar, ScalarKind,
    ScalarType, Slot,
};
use tsql::ast::{self, GroupElement, GroupModifier};
use types::{Collation, SqlType, Value};

/// The most sets of one GROUP BY.
const SETS_MAX: usize = 4096;

impl Binder<'_> {
    /// How many reads each query around this one has noted, where one of them groups by an
    /// expression that may be meant here.
    pub(crate) fn reads_outside(&self) -> Option<Vec<usize>> {
        let (_, outer) = self.scopes.split_last()?;
        let groups = |s: &Scope| s.groups.has_expressions() && s.is_beside_groups();
        outer.iter().any(groups).then(|| outer.iter().map(|s| s.reads.len()).collect())
    }

    /// What was bound within a subquery since `reads`: the group's value, where it is as a whole
    /// what a query around it groups by. The columns within are then not read.
    pub(crate) fn of_outer_group(&mut self, x: Scalar, reads: &[usize]) -> Scalar {
        if x.as_column().is_some() {
            return x;
        }
        for (scope, &before) in self.scopes.iter_mut().zip(reads).rev() {
            if scope.is_beside_groups()
                && let Some(of_group) = scope.groups.of_group_whole(&x)
            {
                scope.reads.truncate(before);
                return of_group;
            }
        }
        x
    }

    pub(crate) fn group_by(&mut self, g: &ast::GroupBy) -> SqlResult<Groups> {
        if g.all {
            return Err(unsupported("GROUP BY ALL", 0));
        }
        let mut keys = Vec::new();
        let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
        for element in &g.elements {
            sets = crossed(&sets, &self.element(element, &mut keys)?)?;
        }
        let all: Vec<usize> = (0..keys.len()).collect();
        let singles: Vec<Vec<usize>> = all.iter().map(|&k| vec![k]).collect();
        match g.with {
            Some(GroupModifier::Rollup) => sets = prefixes(&singles),
            Some(GroupModifier::Cube) => sets = subsets(&singles)?,
            None => {}
        }
        for set in &mut sets {
            set.sort_unstable();
            set.dedup();
        }
        // The empty set alone is a set too: of no rows it makes no group.
        let plain = sets.len() == 1 && sets[0] == all && !all.is_empty();
        let flags = match plain {
            true => Vec::new(),
            false => keys.iter().map(|_| self.new_slot()).collect(),
        };
        let slot = |own: &mut Self, key: &Scalar| match key.as_column() {
            Some(slot) if plain => slot,
            _ => own.new_slot(),
        };
        let slots = keys.iter().map(|key| slot(self, key)).collect();
        let nested = Vec::new();
        let mut groups = Groups { keys, slots, sets: (!plain).then_some(sets), flags, nested };
        if groups.keys.iter().any(|key| key.as_column().is_none()) {
            groups.nested = groups.keys.iter().map(|key| groups.as_nested(key)).collect();
        }
        Ok(groups)
    }

    /// The sets of an element.
    fn element(
        &mut self,
        element: &GroupElement,
        keys: &mut Vec<Scalar>,
    ) -> SqlResult<Vec<Vec<usize>>> {
        let single = |own: &mut Self, e: &GroupElement, keys: &mut Vec<Scalar>| {
            let sets = own.element(e, keys)?;
            // Within ROLLUP and CUBE stand expressions and lists of them.
            sets.into_iter().next().ok_or_else(|| SqlError::new(messages::SYNTAX_NEAR, &[&"("]))
        };
        match element {
            GroupElement::Expr(e) => Ok(vec![vec![self.group_key(e, keys)?]]),
            GroupElement::Composite(list) => {
                let set: SqlResult<Vec<usize>> =
                    list.iter().map(|e| self.group_key(e, keys)).collect();
                Ok(vec![set?])
            }
            GroupElement::Rollup(list) | GroupElement::Cube(list) => {
                let parts: SqlResult<Vec<Vec<usize>>> =
                    list.iter().map(|e| single(self, e, keys)).collect();
                match element {
                    GroupElement::Rollup(_) => Ok(prefixes(&parts?)),
                    _ => subsets(&parts?),
                }
            }
            GroupElement::Sets(list) => {
                let mut all = Vec::new();
                for e in list {
                    all.extend(self.nested(1, |b| b.element(e, keys))?);
                }
                Ok(all)
            }
        }
    }

    /// An expression to group by: its place among them.
    fn group_key(&mut self, e: &ast::Expr, keys: &mut Vec<Scalar>) -> SqlResult<usize> {
        let key = self.expr(e)?;
        // The column that stands before the keys is counted too.
        let place = keys.len() + 2;
        let checked = check_sorted(key.ty.sql_type);
        let checked = checked.and_then(|()| check_column(key.ty, "GROUP BY", place));
        checked.map_err(|error| error.at_line(e.span.line))?;
        if !key.reads().subqueries.is_empty() {
            return Err(SqlError::new(messages::AGGREGATE_IN_GROUP_BY, &[]).at_line(e.span.line));
        }
        if key.reads().slots.is_empty() {
            return Err(SqlError::new(messages::GROUP_BY_OUTER_ONLY, &[]).at_line(e.span.line));
        }
        Ok(keys.iter().position(|k| *k == key).unwrap_or_else(|| {
            keys.push(key);
            keys.len() - 1
        }))
    }

    /// GROUPING and GROUPING_ID.
    pub(crate) fn grouping_function(&mut self, call: &ast::FunctionCall) -> SqlResult<Scalar> {
        let id = call.name.object.eq_ignore_ascii_case("GROUPING_ID");
        let name = if id { "GROUPING_ID" } else { "GROUPING" };
        if call.arguments.is_empty() || (!id && call.arguments.len() != 1) {
            return Err(SqlError::new(messages::FUNCTION_ARGUMENT_COUNT, &[&name, &1]));
        }
        let sql_type = if id { SqlType::Int } else { SqlType::TinyInt };
        let mut sum: Option<Scalar> = None;
        for (n, argument) in call.arguments.iter().enumerate() {
            let flag = self.grouping_flag(argument)?;
            let Some(flag) = flag else {
                let facts: [&dyn std::fmt::Display; 2] = [&(n + 1), &name];
                return Err(SqlError::new(messages::GROUPING_ARGUMENT, &facts));
            };
            let flag = self.implicit(flag, sql_type)?;
            sum = Some(match sum {
                None => flag,
                Some(sum) => {
                    let two = self.constant(Value::Int(2), SqlType::Int);
                    let doubled = self.binary(types::BinaryOp::Mul, sum, two)?;
                    self.binary(types::BinaryOp::Add, doubled, flag)?
                }
            });
        }
        sum.ok_or_else(|| SqlError::new(messages::FUNCTION_ARGUMENT_COUNT, &[&name, &1]))
    }

    /// Whether an expression of the GROUP BY clause is left out; `None` when it is none of them.
    fn grouping_flag(&mut self, argument: &ast::Expr) -> SqlResult<Option<Scalar>> {
        // Reads within GROUPING are not of a group's rows.
        if let Some(scope) = self.scopes.last_mut() {
            scope.in_aggregate = true;
        }
        let bound = self.expr(argument);
        let Some(scope) = self.scopes.last_mut() else { return Ok(None) };
        scope.in_aggregate = false;
        let bound = bound?;
        let groups = &scope.groups;
        let Some(at) = groups.keys.iter().position(|k| k.kind == bound.kind) else {
            return Ok(None);
        };
        Ok(Some(match groups.sets {
            Some(_) => Scalar::column(groups.flags[at], ScalarType::new(SqlType::Int, false)),
            None => Scalar::constant(Value::Int(0), SqlType::Int),
        }))
    }

    /// The groups of rows, and the slots that hold the expressions there.
    pub(crate) fn grouped_rows(
        &mut self,
        tree: Logical,
        groups: &Groups,
        keys: &[(Scalar, Slot)],
        calls: Vec<AggregateCall>,
    ) -> Logical {
        let Some(sets) = &groups.sets else {
            let computed = keys.iter().filter(|(key, slot)| key.as_column() != Some(*slot));
            let computed = computed.map(|(k, s)| (*s, k.clone())).collect();
            let keys = keys.iter().map(|(key, slot)| (*slot, key.ty.collation)).collect();
            let input = computed_columns(tree, computed);
            return Logical::Aggregate(Box::new(Grouping { input, keys, calls }));
        };
        let number = self.new_slot();
        let int = |n: usize| Scalar::constant(Value::Int(n as i32), SqlType::Int);
        let row = |(n, set): (usize, &Vec<usize>)| {
            let out = (0..groups.keys.len()).map(|k| int(usize::from(!set.contains(&k))));
            std::iter::once(int(n)).chain(out).collect()
        };
        let rows: Vec<Vec<Scalar>> = sets.iter().enumerate().map(row).collect();
        let columns = std::iter::once(number).chain(groups.flags.iter().copied()).collect();
        let product = Logical::Join {
            kind: JoinKind::Inner,
            left: Box::new(tree),
            right: Box::new(Logical::Values { rows, columns }),
            on: Predicate::TRUE,
            hint: None,
            apply: false,
        };
        let kept = keys.iter().zip(&groups.flags).map(|((key, slot), &flag)| {
            let kind =
                ScalarKind::Case { branches: vec![(is_zero(flag), key.clone())], otherwise: None };
            (*slot, Scalar { kind, ty: ScalarType { nullable: true, ..key.ty } })
        });
        let input = computed_columns(product, kept.collect());
        let flags = groups.flags.iter().map(|&f| (f, Collation::default()));
        let keys = keys.iter().map(|(key, slot)| (*slot, key.ty.collation));
        let keys = keys.chain(flags).chain([(number, Collation::default())]).collect();
        Logical::Aggregate(Box::new(Grouping { input, keys, calls }))
    }
}

fn is_zero(flag: Slot) -> Predicate {
    Predicate::Compare {
        op: CompareOp::Equal,
        left: Box::new(Scalar::column(flag, ScalarType::new(SqlType::Int, false))),
        right: Box::new(Scalar::constant(Value::Int(0), SqlType::Int)),
        collation: Collation::default(),
    }
}

fn too_many() -> SqlError {
    SqlError::new(messages::GROUPING_SETS_MAX, &[&SETS_MAX])
}

/// Each set of one with each of the other.
fn crossed(left: &[Vec<usize>], right: &[Vec<usize>]) -> SqlResult<Vec<Vec<usize>>> {
    if left.len().saturating_mul(right.len()) > SETS_MAX {
        return Err(too_many());
    }
    Ok(left.iter().flat_map(|l| right.iter().map(move |r| [&l[..], r].concat())).collect())
}

/// ROLLUP: all parts, all but the last, … none.
fn prefixes(parts: &[Vec<usize>]) -> Vec<Vec<usize>> {
    (0..=parts.len()).rev().map(|n| parts[..n].concat()).collect()
}

/// CUBE: every choice of parts, all of them first.
fn subsets(parts: &[Vec<usize>]) -> SqlResult<Vec<Vec<usize>>> {
    if parts.len() > SETS_MAX.ilog2() as usize {
        return Err(too_many());
    }
    let choice = |mask: usize| {
        let chosen = parts.iter().enumerate().filter(|(n, _)| mask >> n & 1 == 1);
        chosen.flat_map(|(_, part)| part.iter().copied()).collect()
    };
    Ok((0..1 << parts.len()).rev().map(choice).collect())
}
