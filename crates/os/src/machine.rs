//! What the machine has for this process.

use std::path::{Path, PathBuf};

/// Where control groups lie.
const GROUPS: &str = "/sys/fs/cgroup";

/// Bytes of memory that this process may use: what the machine has, or less where a control group
/// (a container) says so.
pub fn memory_bytes() -> u64 {
    let system = rustix::system::sysinfo();
    let all = u64::from(system.mem_unit).saturating_mul(system.totalram as u64);
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    group_limit(Path::new(GROUPS), &own).map_or(all, |limit| limit.min(all))
}

/// The least limit of a process's groups and of those above them. `own` is its /proc/self/cgroup:
/// a line `number:controllers:path` for each hierarchy, without controllers in version 2.
fn group_limit(groups: &Path, own: &str) -> Option<u64> {
    let limit_of = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?.trim_start_matches('/'));
        let (top, file) = match controllers {
            "" => (groups.to_owned(), "memory.max"),
            c if c.split(',').any(|c| c == "memory") => {
                (groups.join("memory"), "memory.limit_in_bytes")
            }
            _ => return None,
        };
        let within: PathBuf = top.join(path);
        let each = within.ancestors().take_while(|group| group.starts_with(&top));
        // "max" is no number: no limit.
        let limits = each.filter_map(|group| {
            std::fs::read_to_string(group.join(file)).ok()?.trim().parse::<u64>().ok()
        });
        limits.min()
    };
    own.lines().filter_map(limit_of).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Version 2, version 1, a container that sees its group as the top, none at all.
    #[test]
    fn the_least_limit_on_the_way_up_counts() {
        let top = std::env::temp_dir().join(format!("ghostlight-groups-{}", std::process::id()));
        let write = |at: &str, text: &str| {
            let file = top.join(at);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        };
        write("a/memory.max", "5000\n");
        write("a/b/memory.max", "max\n");
        write("a/c/memory.max", "3000\n");
        write("memory/docker/x/memory.limit_in_bytes", "7000\n");
        write("memory/memory.limit_in_bytes", "9223372036854771712\n");
        let limit = |own: &str| group_limit(&top, own);
        assert_eq!(limit("0::/a/b\n"), Some(5000));
        assert_eq!(limit("0::/a/c\n"), Some(3000));
        assert_eq!(limit("0::/\n"), None);
        assert_eq!(limit("4:cpu,memory:/docker/x\n3:pids:/a\n"), Some(7000));
        assert_eq!(limit("4:memory:/not/there\n"), Some(9_223_372_036_854_771_712));
        assert_eq!(limit("nonsense\n"), None);
        std::fs::remove_dir_all(&top).unwrap();
        assert!(memory_bytes() >= 1 << 20, "the machine that runs this has memory");
    }
}
