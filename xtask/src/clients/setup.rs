//! A client's own folder: its sources copied there, its packages installed and built once.

use super::Client;
use checks::{Outcome, Workspace, process};
use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::process::{Command, Stdio};

/// Copies the sources and runs the setup commands, unless both are as they were last time.
pub(crate) fn prepare(workspace: &Workspace, client: &Client, work: &Path) -> Outcome<()> {
    let folder = workspace.root.join("tests/clients").join(&client.folder);
    fs::create_dir_all(work).map_err(|e| format!("create {}: {e}", work.display()))?;
    let mut fingerprint = DefaultHasher::new();
    client.setup.hash(&mut fingerprint);
    client.env.hash(&mut fingerprint);
    copy(&folder, work, &mut fingerprint)?;
    let fingerprint = format!("{:016x}", fingerprint.finish());
    let stamp = work.join(".setup");
    if fs::read_to_string(&stamp).is_ok_and(|before| before == fingerprint) {
        return Ok(());
    }
    for line in &client.setup {
        println!("{}: {}", client.name, line.join(" "));
        if !process::succeeds(command(client, line, work)?)? {
            return Err(format!("its setup fails: {}", line.join(" ")));
        }
    }
    fs::write(&stamp, fingerprint).map_err(|e| format!("write {}: {e}", stamp.display()))
}

/// A command of the client's in its own folder; `{work}` becomes that folder's path.
pub(crate) fn command(client: &Client, line: &[String], work: &Path) -> Outcome<Command> {
    let here = work.display().to_string();
    let mut words = line.iter().map(|word| word.replace("{work}", &here));
    let program = words.next().ok_or_else(|| format!("{} has an empty command", client.name))?;
    let mut command = Command::new(program);
    command.args(words).current_dir(work).stdin(Stdio::null());
    for (name, value) in &client.env {
        command.env(name, value.replace("{work}", &here));
    }
    Ok(command)
}

/// Copies a folder's files, and folds their names and bytes into the fingerprint.
fn copy(from: &Path, to: &Path, fingerprint: &mut DefaultHasher) -> Outcome<()> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(from).map_err(|e| format!("list {}: {e}", from.display()))? {
        entries.push(entry.map_err(|e| format!("list {}: {e}", from.display()))?);
    }
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        entry.file_name().hash(fingerprint);
        if source.is_dir() {
            fs::create_dir_all(&target).map_err(|e| format!("create {}: {e}", target.display()))?;
            copy(&source, &target, fingerprint)?;
            continue;
        }
        let bytes = fs::read(&source).map_err(|e| format!("read {}: {e}", source.display()))?;
        bytes.hash(fingerprint);
        if !fs::read(&target).is_ok_and(|before| before == bytes) {
            fs::copy(&source, &target).map_err(|e| format!("copy {}: {e}", source.display()))?;
        }
    }
    Ok(())
}
