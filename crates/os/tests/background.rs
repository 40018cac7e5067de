//! What works in the background is a batch to the system, and nothing else is.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use os::task::{spawn, spawn_background};

/// The system's number for this thread's policy (proc_pid_stat(5), field 41): 0 ordinary, 3 batch.
fn policy() -> u32 {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
    let (_, after_name) = stat.rsplit_once(')').unwrap();
    after_name.split_whitespace().nth(41 - 3).unwrap().parse().unwrap()
}

#[test]
fn a_background_task_takes_no_processor_from_who_computes() {
    let own = policy();
    let background = spawn_background("background", policy).join().unwrap();
    assert_eq!(background, if own == 0 { 3 } else { own }, "another policy is kept");
    assert_eq!(spawn("ordinary", policy).join().unwrap(), own);
    assert_eq!(policy(), own, "who has started one stays as it was");
}
