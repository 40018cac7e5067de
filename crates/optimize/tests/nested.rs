//! Grouped tables within grouped tables: a level more makes choosing a plan dearer by one level,
//! not twice as dear.
//!
//! What is counted is how often the value of a variable in the innermost table is asked for: once
//! or a few times whenever that table's conditions are priced.

#[path = "../../bind/tests/world/mod.rs"]
mod world;

use base::{DatabaseId, HobtId, ObjectId};
use optimize::{Facts, Memory, NoFacts, Size, optimize};
use plan::VariableId;
use std::cell::Cell;
use types::Value;
use world::World;

/// Counts questions about variables.
#[derive(Default)]
struct CountingFacts(Cell<usize>);

impl Facts for CountingFacts {
    fn size(&self, database: DatabaseId, hobt: HobtId) -> Option<Size> {
        NoFacts.size(database, hobt)
    }

    fn value(&self, _: VariableId) -> Option<Value> {
        self.0.set(self.0.get() + 1);
        None
    }

    fn modifications(&self, _: DatabaseId, _: ObjectId, _: i32) -> Option<u64> {
        None
    }

    fn memory(&self) -> Memory {
        NoFacts.memory()
    }
}

/// Orders grouped by customer, joined with customers and grouped again, so many times.
fn nested(depth: usize) -> String {
    let innermost = "select CustomerId k from Orders where OrderId > @i group by CustomerId";
    (0..depth).fold(innermost.to_owned(), |inner, n| {
        format!(
            "select c.CustomerId k, count(*) n{n} from Customer c join ({inner}) g{n} \
             on g{n}.k = c.CustomerId group by c.CustomerId"
        )
    })
}

/// EXISTS within EXISTS, so many times.
fn nested_exists(depth: usize) -> String {
    let innermost = "select 1 from Orders o where o.OrderId > @i".to_owned();
    let inner = (0..depth).fold(innermost, |inner, n| {
        format!("select 1 from Orders o{n} where o{n}.CustomerId < 9 and exists ({inner})")
    });
    format!("select CustomerId from Customer where exists ({inner})")
}

fn asked(depth: usize) -> usize {
    questions(&nested(depth))
}

fn questions(text: &str) -> usize {
    let world = World::new();
    let bound = world.bind(text).expect("the statement is right");
    let facts = CountingFacts::default();
    optimize(bound.plan, &bound.references, &facts).expect("no hint stands in the way");
    facts.0.get()
}

/// Eight levels ask no more than eight times what one level asks.
#[test]
fn nested_groups_are_optimized_in_time_linear_in_their_depth() {
    let (one, four, eight) = (asked(1), asked(4), asked(8));
    assert!(one > 0, "the innermost table is priced");
    assert!(eight <= 8 * one, "{one} questions at one level, {four} at four, {eight} at eight");
}

/// Each part of it is asked for under the conditions of those around it, and no more often.
#[test]
fn nested_exists_is_optimized_in_time_polynomial_in_its_depth() {
    let [four, eight, sixteen] = [4, 8, 16].map(|depth| questions(&nested_exists(depth)));
    assert!(four > 0, "the innermost table is priced");
    let told = format!("{four} questions at four levels, {eight} at eight, {sixteen} at sixteen");
    assert!(sixteen <= 16 * eight, "{told}");
}
