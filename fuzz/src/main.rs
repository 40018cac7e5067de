//! The fuzzers' stable half as a program: writes seeds, replays inputs for coverage.
//!
//! `fuzz list`; `fuzz seeds TARGET FOLDER`; `fuzz words FILE`; `fuzz replay TARGET FOLDER...`;
//! `fuzz stir TARGET ROUNDS SEED` runs mutated seeds without a fuzzer's eyes, the same each time.

#![forbid(unsafe_code)]
#![allow(clippy::disallowed_methods, reason = "a tool beside the engine")]

use fuzz::{Dice, TARGETS, Target, mutate, target, words};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        ["list"] => {
            for Target { name, crates, bytes_max, .. } in TARGETS {
                println!("{name} {bytes_max} {}", crates.join(","));
            }
            Ok(())
        }
        ["seeds", name, folder] => find(name).and_then(|t| write_seeds(t, Path::new(folder))),
        ["words", file] => write_words(Path::new(file)),
        ["replay", name, ref folders @ ..] => find(name).and_then(|t| replay(t, folders)),
        ["stir", name, rounds, seed] => match (rounds.parse(), seed.parse()) {
            (Ok(rounds), Ok(seed)) => find(name).map(|t| stir(t, rounds, seed)),
            _ => Err("ROUNDS and SEED are numbers".to_owned()),
        },
        _ => Err("list | seeds TARGET FOLDER | words FILE | replay TARGET FOLDER... | stir TARGET ROUNDS SEED"
            .to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble) => {
            eprintln!("fuzz: {trouble}");
            ExitCode::FAILURE
        }
    }
}

fn find(name: &str) -> Result<&'static Target, String> {
    target(name).ok_or_else(|| format!("there is no target {name}"))
}

fn write_seeds(target: &Target, folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|e| format!("make {}: {e}", folder.display()))?;
    for (n, seed) in (target.seeds)().iter().enumerate() {
        let path = folder.join(format!("seed-{n:05}"));
        std::fs::write(&path, seed).map_err(|e| format!("write {}: {e}", path.display()))?;
    }
    Ok(())
}

/// A dictionary as libFuzzer reads it.
fn write_words(file: &Path) -> Result<(), String> {
    let lines: Vec<String> = words().iter().map(|word| format!("\"{word}\"\n")).collect();
    std::fs::write(file, lines.concat()).map_err(|e| format!("write {}: {e}", file.display()))
}

/// Runs every file of the folders; for a build that counts what it executes.
fn replay(target: &Target, folders: &[&str]) -> Result<(), String> {
    let mut inputs = 0;
    for folder in folders {
        let entries = std::fs::read_dir(folder).map_err(|e| format!("list {folder}: {e}"))?;
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            let data = std::fs::read(&path).map_err(|e| format!("read {}: {e}", path.display()))?;
            (target.run)(&data);
            inputs += 1;
        }
    }
    println!("{inputs} inputs");
    Ok(())
}

fn stir(target: &Target, rounds: usize, seed: u64) {
    let seeds = (target.seeds)();
    let mut dice = Dice::new(seed);
    for round in 0..rounds {
        let mut input = seeds[dice.roll(seeds.len())].clone();
        for _ in 0..=dice.roll(6) {
            let other = &seeds[dice.roll(seeds.len())];
            mutate(&mut input, other, target.bytes_max, &mut dice);
        }
        let ended = std::panic::catch_unwind(|| (target.run)(&input));
        if ended.is_err() {
            println!("round {round}: finding in {input:?}");
        }
    }
}
