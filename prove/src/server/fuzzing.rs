//! path.7, fuzzing: every target of `fuzz/` under libFuzzer from its valid inputs, then the lines
//! of the fuzzed crates that its corpus reaches.
//!
//! The driver is built with rustc's unstable options for coverage feedback and the address
//! sanitizer (RUSTC_BOOTSTRAP: no other toolchain is needed), the coverage build without. What is
//! counted: all lines with code below `crates/NAME/src` that are not `#[cfg(test)]`, over the seeds
//! and everything the run added to its corpus. A panic, a leak, an input above [`INPUT_SECONDS`] or
//! [`MEMORY_MB`] is a finding; its input stays below `target/fuzz/findings`.

use crate::ground::figure::Figure;
use crate::ground::lines::{Lines, Tools};
use crate::ground::program::{FinishedRun, Ground, empty, finish};
use checks::{Outcome, process};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Wall time, so that a machine that does other things too does not make findings.
const INPUT_SECONDS: u64 = 120;
const MEMORY_MB: u64 = 2048;
const ALLOCATION_MB: u64 = 512;
const TRIPLE: &str = "x86_64-unknown-linux-gnu";
/// The crates whose lines must be reached; what else targets name is printed.
const JUDGED: [&str; 4] = ["tds", "tsql", "page", "wal"];
const PERCENT_LEAST: f64 = 80.0;
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares \
    --cfg fuzzing -Zsanitizer=address";

/// A line of `fuzz list`.
struct Target {
    name: String,
    bytes_max: String,
    crates: Vec<String>,
}

/// Where everything of this proof lies.
struct Places {
    /// The program that writes seeds and replays inputs, built to count lines.
    counting: PathBuf,
    drivers: PathBuf,
    work: PathBuf,
}

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let seconds = ground.fuzz_seconds;
    let tools = Tools::find()?;
    let places = build(ground)?;
    let mut figures = Vec::new();
    let mut profiles: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let targets = targets(&places)?;
    for (target, done) in targets.iter().zip(fuzz_all(&places, &targets, seconds, &tools)) {
        let (figure, replayed) = done;
        figures.push(figure);
        // What the other targets found and reached is told all the same.
        let profile = match replayed {
            Ok(profile) => profile,
            Err(why) => {
                figures.push(unreplayed(target, why));
                continue;
            }
        };
        for name in &target.crates {
            profiles.entry(name.clone()).or_default().push(profile.clone());
        }
    }
    for (name, profiles) in profiles {
        let merged = places.work.join(format!("{name}.profdata"));
        tools.merge(&profiles, &merged)?;
        figures.push(covered(&name, &tools.lines(&places.counting, &merged, &name)?));
    }
    Ok(figures)
}

fn build(ground: &Ground<'_>) -> Outcome<Places> {
    let root = ground.workspace.target();
    let work = root.join("fuzz").join("proof");
    empty(&work)?;
    let mut driver = process::cargo(ground.workspace, &["build", "--release", "--quiet"]);
    driver.args(["--target", TRIPLE, "--manifest-path", "fuzz/driver/Cargo.toml"]);
    driver.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", FLAGS);
    driver.env("CARGO_TARGET_DIR", root.join("fuzz"));
    if !process::succeeds(driver)? {
        return Err("the fuzz driver does not build".to_owned());
    }
    let arguments = ["build", "--quiet", "--locked", "--package", "fuzz", "--bin", "fuzz"];
    let mut counting = process::cargo(ground.workspace, &arguments);
    counting.env("RUSTFLAGS", "-Cinstrument-coverage");
    // Build scripts are instrumented too; they would leave their profiles among the sources.
    counting.env("LLVM_PROFILE_FILE", work.join("build-%p.profraw"));
    counting.env("CARGO_TARGET_DIR", root.join("coverage"));
    if !process::succeeds(counting)? {
        return Err("the fuzz targets do not build with coverage".to_owned());
    }
    Ok(Places {
        counting: root.join("coverage/debug/fuzz"),
        drivers: root.join("fuzz").join(TRIPLE).join("release"),
        work,
    })
}

/// A command of the counting program, its profile where it does not disturb.
fn counting(places: &Places, profile: &Path) -> Command {
    let mut command = Command::new(&places.counting);
    command.env("LLVM_PROFILE_FILE", profile);
    command
}

fn targets(places: &Places) -> Outcome<Vec<Target>> {
    let mut command = counting(places, &places.work.join("list.profraw"));
    let output = command.arg("list").output().map_err(|e| format!("list fuzz targets: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let target = |line: &str| {
        let mut words = line.split(' ').map(str::to_owned);
        let (name, bytes_max, crates) = (words.next()?, words.next()?, words.next()?);
        Some(Target { name, bytes_max, crates: crates.split(',').map(str::to_owned).collect() })
    };
    let found: Vec<Target> = text.lines().filter_map(target).collect();
    if found.is_empty() { Err("there are no fuzz targets".to_owned()) } else { Ok(found) }
}

fn folder(places: &Places, target: &Target, kind: &str) -> PathBuf {
    places.work.join(kind).join(&target.name)
}

fn written(places: &Places, arguments: &[&str]) -> Outcome<()> {
    let mut command = counting(places, &places.work.join("seeds.profraw"));
    command.args(arguments);
    if process::succeeds(command)? { Ok(()) } else { Err(format!("{arguments:?} failed")) }
}

/// What a target found, and the profile of its corpus.
type FuzzResult = (Figure, Outcome<PathBuf>);

/// All targets, as many at a time as there are processors; in their order.
fn fuzz_all(places: &Places, targets: &[Target], seconds: u64, tools: &Tools) -> Vec<FuzzResult> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let work = || {
        while let Some((at, target)) =
            Some(next.fetch_add(1, Relaxed)).and_then(|at| Some((at, targets.get(at)?)))
        {
            let figure = fuzz(places, target, seconds).unwrap_or_else(|why| unfuzzed(target, why));
            eprintln!("{}: {}", figure.what, figure.figure);
            let fuzzed = (figure, replay(places, target, tools));
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.insert(at, fuzzed);
        }
    };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        (0..processors).for_each(|_| drop(scope.spawn(work)));
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
}

/// One target from its seeds for so many seconds.
fn fuzz(places: &Places, target: &Target, seconds: u64) -> Outcome<Figure> {
    let (corpus, seeds) = (folder(places, target, "corpus"), folder(places, target, "seeds"));
    let findings = folder(places, target, "findings");
    empty(&corpus)?;
    empty(&findings)?;
    let words = places.work.join(format!("{}.words", target.name));
    written(places, &["seeds", &target.name, &seeds.to_string_lossy()])?;
    written(places, &["words", &words.to_string_lossy()])?;
    let mut command = Command::new(places.drivers.join(&target.name));
    command.arg(format!("-max_total_time={seconds}"));
    command.arg(format!("-timeout={INPUT_SECONDS}"));
    command.arg(format!("-rss_limit_mb={MEMORY_MB}"));
    command.arg(format!("-malloc_limit_mb={ALLOCATION_MB}"));
    command.arg(format!("-max_len={}", target.bytes_max));
    command.arg(format!("-artifact_prefix={}/", findings.display()));
    command.args(["-detect_leaks=1", "-print_final_stats=1"]);
    if target.name == "tsql" {
        command.arg(format!("-dict={}", words.display()));
    }
    command.arg(&corpus).arg(&seeds);
    let log = places.work.join(format!("{}.log", target.name));
    let finished = finish(command, &log, Duration::from_secs(seconds + 10 * INPUT_SECONDS))?;
    Ok(judged(target, seconds, &finished, &found_in(&findings)))
}

/// A target that did not run.
fn unfuzzed(target: &Target, why: String) -> Figure {
    let (what, limit) = (format!("target {}", target.name), "it runs".to_owned());
    Figure { what, figure: why, limit, pass: false }
}

/// A target whose corpus does not run in the build that counts.
fn unreplayed(target: &Target, why: String) -> Figure {
    let (what, limit) = (format!("corpus of {}", target.name), "it replays".to_owned());
    Figure { what, figure: why, limit, pass: false }
}

/// Inputs that were findings; one that was merely slow is none.
fn found_in(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| !name.starts_with("slow-unit")).collect()
}

fn judged(target: &Target, seconds: u64, finished: &FinishedRun, findings: &[String]) -> Figure {
    let executed = statistic(&finished.output, "stat::number_of_executed_units:");
    let peak = statistic(&finished.output, "stat::peak_rss_mb:");
    let count = findings.len().max(usize::from(!finished.succeeded));
    let first = findings.first().map(|name| format!(", e.g. {name}")).unwrap_or_default();
    Figure {
        what: format!("target {}, {seconds} s", target.name),
        figure: format!("{executed} inputs, {count} findings{first}, at most {peak} MB"),
        limit: "no panic, hang or leak".to_owned(),
        pass: executed > 0 && count == 0,
    }
}

fn statistic(output: &str, name: &str) -> u64 {
    let value = |line: &str| line.strip_prefix(name)?.trim().parse().ok();
    output.lines().find_map(value).unwrap_or(0)
}

/// Runs seeds and corpus in the build that counts; the profile.
fn replay(places: &Places, target: &Target, tools: &Tools) -> Outcome<PathBuf> {
    let raw = places.work.join(format!("{}.profraw", target.name));
    let mut command = counting(places, &raw);
    command.args(["replay", &target.name]);
    command.arg(folder(places, target, "seeds")).arg(folder(places, target, "corpus"));
    if !process::succeeds(command)? {
        return Err(format!("the corpus of {} does not run to its end", target.name));
    }
    let profile = places.work.join(format!("{}.profdata", target.name));
    tools.merge(&[raw], &profile)?;
    Ok(profile)
}

fn covered(name: &str, lines: &Lines) -> Figure {
    let is_judged = JUDGED.contains(&name);
    let limit =
        if is_judged { format!("at least {PERCENT_LEAST} %") } else { "printed".to_owned() };
    Figure {
        what: format!("lines of crate {name} reached, without its tests"),
        figure: format!("{:.1} % ({} of {})", lines.percent(), lines.covered, lines.all),
        limit,
        pass: lines.all > 0 && (!is_judged || lines.percent() >= PERCENT_LEAST),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run that found something, or ran nothing, never passes.
    #[test]
    fn findings_fail() {
        let target = Target { name: "t".into(), bytes_max: "1".into(), crates: Vec::new() };
        let run = |output: &str, succeeded| FinishedRun {
            output: output.to_owned(),
            succeeded,
            cpu: Duration::ZERO,
            peak_kb: 0,
            read_bytes: 0,
        };
        let some = "stat::number_of_executed_units: 7\nstat::peak_rss_mb:              9\n";
        assert!(judged(&target, 1, &run(some, true), &[]).pass);
        assert!(!judged(&target, 1, &run(some, false), &[]).pass);
        assert!(!judged(&target, 1, &run("", true), &[]).pass);
        assert!(!judged(&target, 1, &run(some, true), &["crash-1".to_owned()]).pass);
    }

    /// The limit holds for the crates that the issue names.
    #[test]
    fn too_few_lines_fail() {
        let lines = |covered| Lines { covered, all: 100 };
        assert!(covered("wal", &lines(80)).pass && !covered("wal", &lines(79)).pass);
        assert!(covered("space", &lines(1)).pass && !covered("wal", &Lines::default()).pass);
    }
}
