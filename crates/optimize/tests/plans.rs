//! From T-SQL to the text of plans: which index, which join, what is sorted, what is spooled.
//!
//! `plans.txt` holds statements behind `> ` with their plans below; a difference prints the whole
//! file as it would have to be.

#[path = "../../bind/tests/world/mod.rs"]
mod world;

use optimize::{NoFacts, optimize};
use world::World;

const PLANS: &str = include_str!("plans.txt");

fn plan_of(world: &World, text: &str) -> String {
    match world.bind(text).and_then(|b| optimize(b.plan, &b.references, &NoFacts)) {
        Ok(plan) => plan.to_string(),
        Err(e) => format!("Msg {}, Line {}: {}\n", e.number(), e.line(), e.text()),
    }
}

#[test]
fn statements_have_the_plans_that_the_file_tells() {
    let world = World::new();
    let mut told = String::new();
    for line in PLANS.lines() {
        if line.starts_with('#') {
            told += &format!("{line}\n");
        } else if let Some(text) = line.strip_prefix("> ") {
            told += &format!("> {text}\n{}\n", plan_of(&world, text));
        }
    }
    assert!(told == PLANS, "plans differ; the file would be:\n{told}");
}
