//! What expressions and conditions answer, and when they fail.

use crate::build::*;
use crate::fake::Bench;
use base::SqlResult;
use exec::Executor;
use plan::*;
use types::{BinaryOp, Value};

fn decide(p: Predicate) -> SqlResult<Option<bool>> {
    let mut executor = Executor::new(&plan(Statement::Condition(p), 4))?;
    Bench::default().with(|cx| executor.decide(cx))
}

fn evaluate(x: Scalar) -> SqlResult<Value> {
    let mut executor = Executor::new(&plan(Statement::Scalar(x), 4))?;
    Bench::default().with(|cx| executor.evaluate(cx))
}

fn divided_by_zero() -> Scalar {
    binary(BinaryOp::Div, int(1), int(0))
}

fn fails() -> Predicate {
    eq(divided_by_zero(), int(1))
}

/// The tables of Kleene's logic, with NULL as unknown.
#[test]
fn three_truths_combine_as_the_standard_says() {
    let c = Predicate::Constant;
    let all = [Some(true), Some(false), None];
    for a in all {
        for b in all {
            let and = match (a, b) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            };
            assert_eq!(decide(Predicate::And(vec![c(a), c(b)])), Ok(and), "{a:?} and {b:?}");
            let or = match (a, b) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            };
            assert_eq!(decide(Predicate::Or(vec![c(a), c(b)])), Ok(or), "{a:?} or {b:?}");
        }
        assert_eq!(decide(Predicate::Not(Box::new(c(a)))), Ok(a.map(|t| !t)));
    }
    assert_eq!(decide(eq(null(), int(1))), Ok(None));
    assert_eq!(decide(Predicate::IsNull(Box::new(null()))), Ok(Some(true)));
    let distinct =
        |l, r| Predicate::IsDistinct { left: Box::new(l), right: Box::new(r), collation: C };
    assert_eq!(decide(distinct(null(), null())), Ok(Some(false)));
    assert_eq!(decide(distinct(null(), int(1))), Ok(Some(true)));
}

/// An error belongs to what is evaluated: what is decided already is not.
#[test]
fn decided_conditions_and_branches_not_taken_raise_nothing() {
    let f = Predicate::Constant(Some(false));
    let t = Predicate::Constant(Some(true));
    assert_eq!(decide(Predicate::And(vec![f.clone(), fails()])), Ok(Some(false)));
    assert_eq!(decide(Predicate::Or(vec![t.clone(), fails()])), Ok(Some(true)));
    assert_eq!(decide(Predicate::Or(vec![f.clone(), fails()])).map_err(|e| e.number()), Err(8134));
    let case = |when| Scalar {
        kind: ScalarKind::Case {
            branches: vec![(when, int(5))],
            otherwise: Some(Box::new(divided_by_zero())),
        },
        ty: ty(INT),
    };
    assert_eq!(evaluate(case(t)), Ok(Value::Int(5)));
    assert_eq!(evaluate(case(f)).map_err(|e| e.number()), Err(8134));
    let coalesce =
        Scalar { kind: ScalarKind::Coalesce(vec![null(), int(2), divided_by_zero()]), ty: ty(INT) };
    assert_eq!(evaluate(coalesce), Ok(Value::Int(2)));
    let too_large = binary(BinaryOp::Add, int(i32::MAX), int(1));
    assert_eq!(evaluate(too_large).map_err(|e| e.number()), Err(8115));
}

#[test]
fn a_list_with_null_never_denies() {
    let list = |x, list| Predicate::InList { operand: Box::new(x), list, collation: C };
    assert_eq!(decide(list(int(1), vec![int(2), int(1)])), Ok(Some(true)));
    assert_eq!(decide(list(int(1), vec![int(2), null()])), Ok(None));
    assert_eq!(decide(list(int(1), vec![int(2)])), Ok(Some(false)));
    assert_eq!(decide(list(null(), vec![int(2)])), Ok(None));
    let words = list(text("ABC"), vec![text("abc")]);
    assert_eq!(decide(words), Ok(Some(true)), "the collation ignores case");
}

#[test]
fn conversions_fail_with_their_numbers_and_try_answers_null() {
    let cast = |operand, attempt| Scalar {
        kind: ScalarKind::Cast {
            operand: Box::new(operand),
            style: None,
            attempt,
            implicit: plan::ImplicitFlag(false),
        },
        ty: ty(INT),
    };
    assert_eq!(evaluate(cast(text("12"), false)), Ok(Value::Int(12)));
    assert_eq!(evaluate(cast(text("x"), false)).map_err(|e| e.number()), Err(245));
    assert_eq!(evaluate(cast(text("x"), true)), Ok(Value::Null));
    let rows = Scalar { kind: ScalarKind::Global(builtins::Fact::RowCount), ty: ty(INT) };
    assert_eq!(evaluate(rows), Ok(Value::Int(7)), "a fact comes in the plan's type");
}

#[test]
fn a_pattern_may_come_from_a_row_and_its_escape_is_one_character() {
    let like = |s: &str, p: &str, e: Option<&str>| {
        let pattern =
            LikeText::Dynamic { pattern: Box::new(text(p)), escape: e.map(|e| Box::new(text(e))) };
        decide(Predicate::Like { operand: Box::new(text(s)), pattern, collation: C })
    };
    assert_eq!(like("Ghost", "g%t", None), Ok(Some(true)));
    assert_eq!(like("50%", "50!%", Some("!")), Ok(Some(true)));
    assert_eq!(like("505", "50!%", Some("!")), Ok(Some(false)));
    assert_eq!(like("x", "x", Some("!!")).map_err(|e| e.number()), Err(506));
}

/// A plan with one subquery over rows (1), (2), …, given as constants.
fn with_subquery(p: Statement<Physical>, rows: &[Scalar], fixed: bool) -> PhysicalPlan {
    let rows: Vec<Vec<Scalar>> = rows.iter().map(|x| vec![x.clone()]).collect();
    let scalar = matches!(p, Statement::Scalar(_));
    let rows = Physical::Constants(Constants { rows, columns: slots(&[3]) });
    let mut plan = plan(p, 4);
    plan.subqueries.push(Subquery {
        source: match scalar {
            true => Physical::Assert(Assert { input: Box::new(rows), count: Slot(2) }),
            false => rows,
        },
        columns: slots(&[3]),
        ty: ty(INT),
        scalar,
        outer: if fixed { Vec::new() } else { slots(&[0]) },
        session: false,
    });
    plan
}

#[test]
fn a_scalar_subquery_has_one_row_or_none() {
    let mut bench = Bench::default();
    let x = Scalar { kind: ScalarKind::Subquery(SubqueryId(0)), ty: ty(INT) };
    let mut ask = |rows: &[Scalar]| {
        let plan = with_subquery(Statement::Scalar(x.clone()), rows, true);
        bench.with(|cx| Executor::new(&plan)?.evaluate(cx))
    };
    assert_eq!(ask(&[]), Ok(Value::Null));
    assert_eq!(ask(&[int(4)]), Ok(Value::Int(4)));
    assert_eq!(ask(&[int(4), int(4)]).map_err(|e| e.number()), Err(512));
}

/// x op ANY/ALL (list), kept or computed anew, against the definition.
#[test]
fn quantified_comparisons_follow_the_definition() {
    let mut bench = Bench::default();
    let lists = [vec![], vec![int(1)], vec![int(1), null()], vec![null()], vec![int(2), int(3)]];
    let ops = [CompareOp::Equal, CompareOp::NotEqual, CompareOp::Less, CompareOp::GreaterOrEqual];
    for list in &lists {
        for x in [int(1), int(2), null()] {
            for op in ops {
                for quantifier in [Quantifier::Any, Quantifier::All] {
                    let one = |y: &Scalar| {
                        let (a, b) = (x.as_constant()?.as_i64()?, y.as_constant()?.as_i64()?);
                        Some(op.holds(a.cmp(&b)))
                    };
                    let deciding = quantifier == Quantifier::Any;
                    let truths: Vec<Option<bool>> = list.iter().map(one).collect();
                    let expected = if truths.contains(&Some(deciding)) {
                        Some(deciding)
                    } else if truths.contains(&None) {
                        None
                    } else {
                        Some(!deciding)
                    };
                    let p = Predicate::Quantified {
                        op,
                        quantifier,
                        operand: Box::new(x.clone()),
                        subquery: SubqueryId(0),
                        collation: C,
                    };
                    for fixed in [true, false] {
                        let plan = with_subquery(Statement::Condition(p.clone()), list, fixed);
                        let got = bench.with(|cx| Executor::new(&plan)?.decide(cx));
                        assert_eq!(got, Ok(expected), "{p} over {list:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn an_expression_nested_too_deeply_is_refused_before_it_runs() {
    let mut x = int(1);
    for _ in 0..5000 {
        x = Scalar { kind: ScalarKind::Negate(Box::new(x)), ty: ty(INT) };
    }
    let refused = Executor::new(&plan(Statement::Scalar(x.clone()), 0)).err();
    assert_eq!(refused.map(|e| e.number()), Some(191));
    // Taken apart by hand: dropping it whole would recurse as deeply.
    while let ScalarKind::Negate(inner) = x.kind {
        x = *inner;
    }
}

#[test]
fn a_simple_case_computes_its_operand_once() {
    // CASE @v + 1 WHEN 3 THEN 'x' …: the operand lies in slot 2.
    let body = Scalar {
        kind: ScalarKind::Case {
            branches: vec![(eq(col(2), int(3)), int(30)), (eq(col(2), int(4)), int(40))],
            otherwise: None,
        },
        ty: ty(INT),
    };
    let value = Box::new(binary(BinaryOp::Add, var(0), int(1)));
    let x = Scalar {
        kind: ScalarKind::Let { slot: Slot(2), value, body: Box::new(body) },
        ty: ty(INT),
    };
    let mut bench = Bench { variables: vec![Value::Int(3)], ..Bench::default() };
    let plan = plan(Statement::Scalar(x), 4);
    assert_eq!(bench.with(|cx| Executor::new(&plan)?.evaluate(cx)), Ok(Value::Int(40)));
}
