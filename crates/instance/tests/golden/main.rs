//! Golden scripts of the whole engine: several sessions, one instance on a real folder per file.
//!
//! The scripts are `tests/golden/<topic>/*.golden` at the root of the repository; `script` tells
//! their form. `GHOSTLIGHT_GOLDEN=text` runs the files whose path contains it,
//! `GHOSTLIGHT_BLESS=1` writes what the engine says now into them.

mod endings;
mod options;
mod room;
mod script;
mod sessions;
mod transcript;

use os::sync::Mutex;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files run at once; more would make waits hard to tell from slowness.
const SIDE_BY_SIDE: usize = 3;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden")
}

fn scripts() -> Vec<PathBuf> {
    let wanted = std::env::var("GHOSTLIGHT_GOLDEN").unwrap_or_default();
    let mut found = Vec::new();
    for topic in std::fs::read_dir(root()).expect("the folder of golden scripts") {
        let topic = topic.expect("a topic").path();
        if !topic.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(topic).expect("a topic's folder") {
            let file = file.expect("a file").path();
            let golden = file.extension().is_some_and(|e| e == "golden");
            if golden && file.to_string_lossy().contains(&wanted) {
                found.push(file);
            }
        }
    }
    found.sort();
    found
}

fn check(path: &Path, bless: bool) -> Option<String> {
    let was = std::fs::read_to_string(path).expect("a readable script");
    let now = script::run(&was, bless);
    if script::same(&was, &now) {
        return None;
    }
    let name = path.strip_prefix(root()).unwrap_or(path).display().to_string();
    let difference = script::difference(&was, &now);
    if bless {
        std::fs::write(path, &now).expect("a writable script");
        println!("--- {name} (written)\n{difference}");
        return None;
    }
    Some(format!("--- {name}\n{difference}"))
}

/// What the engine says to each script is what the script says.
#[test]
fn golden_scripts() {
    let bless = std::env::var_os("GHOSTLIGHT_BLESS").is_some();
    let all = scripts();
    assert!(!all.is_empty(), "there are golden scripts");
    let left = Arc::new(Mutex::new(all));
    let failures = Arc::new(Mutex::new(Vec::new()));
    let tasks: Vec<_> = (0..SIDE_BY_SIDE)
        .map(|n| {
            let (left, failures) = (Arc::clone(&left), Arc::clone(&failures));
            os::task::spawn(&format!("golden {n}"), move || {
                loop {
                    let Some(path) = left.lock().pop() else { break };
                    let failed = check(&path, bless);
                    failures.lock().extend(failed);
                }
            })
        })
        .collect();
    for task in tasks {
        task.join().expect("scripts run to their end");
    }
    let failures = failures.lock();
    assert!(failures.is_empty(), "{} scripts differ\n{}", failures.len(), failures.join("\n"));
}
