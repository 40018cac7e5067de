//! The list of databases as a start finds it and goes on with it.

use crate::error_log::ErrorLog;
use crate::list::List;
use crate::list_found::{rebuilt, unlisted};
use crate::list_text::{DesiredState, Entries, Entry};
use crate::start::{SYSTEM, TEMPDB};
use base::{DatabaseId, SqlResult};
use database::Files;
use os::disk::Disk;
use std::path::Path;
use std::sync::Arc;

/// The list, in two whole files: read, or made anew where both are lost. What is unfinished is
/// removed, what the system lacks is noted to be made.
pub(crate) fn settled(disk: &Arc<dyn Disk>, dir: &Path, log: &ErrorLog) -> SqlResult<List> {
    let read = List::read(disk, dir);
    read.troubles.iter().for_each(|trouble| log.line("Server", trouble));
    let mut list = match read.list {
        Some(list) => list,
        None => {
            let found = rebuilt(&**disk, dir);
            say_rebuilt(&found, log);
            List::of(disk, dir, found)
        }
    };
    let gone = unfinished(&**disk, dir, &list, log);
    let missing: Vec<_> = SYSTEM
        .iter()
        .filter(|(id, _)| *id != TEMPDB && !list.entries().contains_key(id) || gone.contains(id))
        .collect();
    if read.stale || !gone.is_empty() || !missing.is_empty() {
        let needed = !missing.is_empty();
        let written = list.change(|entries| {
            entries.retain(|id, _| !gone.contains(id));
            for (id, name) in missing {
                entries.insert(*id, Entry::new(name, DesiredState::Making));
            }
        });
        match written {
            // A full disk: what there is to say stays for the next start.
            Err(e) if !needed => log.error("Server", &e),
            written => written?,
        }
    }
    for path in unlisted(&**disk, dir, list.entries()) {
        let path = path.display();
        let line = format!("File {path} belongs to no database of the list, and is not touched.");
        log.line("Server", &line);
    }
    Ok(list)
}

fn say_rebuilt(found: &Entries, log: &ErrorLog) {
    if found.is_empty() {
        return;
    }
    let each = found.iter().map(|(id, entry)| format!(" '{}' ({id})", entry.name));
    let all: Vec<String> = each.collect();
    let line = format!(
        "The list of databases was made anew of the data files that are there:{}.",
        all.join(",")
    );
    log.line("Server", &line);
}

/// Removes the files of what was being made or dropped when the last process ended; the numbers of
/// those that are gone.
fn unfinished(disk: &dyn Disk, dir: &Path, list: &List, log: &ErrorLog) -> Vec<DatabaseId> {
    let mut gone = Vec::new();
    for (id, entry) in list.entries() {
        if !matches!(entry.standing, DesiredState::Making | DesiredState::Dropping) {
            continue;
        }
        let Files { data, log: log_file } = Files::named(dir, &entry.stem);
        let there = [data, log_file].into_iter().filter(|path| disk.exists(path));
        let mut removed = true;
        for path in there {
            if let Err(e) = disk.remove(&path) {
                removed = false;
                log.line("Server", &format!("File {} cannot be removed: {e}.", path.display()));
            }
        }
        let what = match entry.standing {
            DesiredState::Making => "CREATE DATABASE",
            _ => "DROP DATABASE",
        };
        let name = &entry.name;
        log.line("Server", &format!("{what} of '{name}' was not finished; its files are removed."));
        if removed {
            gone.push(*id);
        }
    }
    gone
}
