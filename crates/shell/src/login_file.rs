//! The logins of a server: a file `logins` of its data folder, a name and a salted hash a line.
//!
//! The password of `sa` comes from GHOSTLIGHT_SA_PASSWORD or MSSQL_SA_PASSWORD at the first
//! start; without one it is made up and printed once. Only the hash is stored.

use os::disk::{Disk, OpenHow};
use std::io;
use std::path::{Path, PathBuf};

const ALPHABET: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789";

/// Names and hashes.
pub(crate) struct Logins(Vec<(String, String)>);

fn path(dir: &Path) -> PathBuf {
    dir.join("logins")
}

impl Logins {
    /// Reads the file, or makes it with `sa`.
    pub(crate) fn open(disk: &dyn Disk, dir: &Path) -> io::Result<Logins> {
        if disk.exists(&path(dir)) {
            return Self::read(disk, dir);
        }
        let password = ["GHOSTLIGHT_SA_PASSWORD", "MSSQL_SA_PASSWORD"]
            .iter()
            .find_map(|name| std::env::var(name).ok().filter(|p| !p.is_empty()));
        let password = password.unwrap_or_else(|| {
            let made = made_up();
            println!("The password of sa is {made} (printed once).");
            made
        });
        let logins = Logins(vec![("sa".to_owned(), server::password::hash(&password))]);
        logins.write(disk, dir)?;
        Ok(logins)
    }

    fn read(disk: &dyn Disk, dir: &Path) -> io::Result<Logins> {
        let file = disk.open(&path(dir), OpenHow { create: false, direct: false })?;
        let mut bytes = vec![0; usize::try_from(file.len()?).unwrap_or(0)];
        file.read_at(&mut bytes, 0)?;
        let text = String::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidData)?;
        let lines = text.lines().filter_map(|l| l.split_once('\t'));
        Ok(Logins(lines.map(|(n, h)| (n.to_owned(), h.to_owned())).collect()))
    }

    fn write(&self, disk: &dyn Disk, dir: &Path) -> io::Result<()> {
        let next = dir.join("logins.new");
        if disk.exists(&next) {
            disk.remove(&next)?;
        }
        let file = disk.open(&next, OpenHow { create: true, direct: false })?;
        disk.keep_private(&next)?;
        let text: String = self.0.iter().map(|(n, h)| format!("{n}\t{h}\n")).collect();
        file.write_at(text.as_bytes(), 0)?;
        file.sync()?;
        disk.rename(&next, &path(dir))?;
        disk.sync_dir(dir)
    }

    /// Whether the password is the login's. An unknown login takes as long as a wrong password.
    pub(crate) fn verify(&self, user: &str, password: &str) -> bool {
        match self.0.iter().find(|(n, _)| n.eq_ignore_ascii_case(user)) {
            Some((_, hash)) => server::password::verify(password, hash),
            None => {
                server::password::pretend(password);
                false
            }
        }
    }
}

fn made_up() -> String {
    let mut bytes = [0; 20];
    os::entropy::fill(&mut bytes);
    bytes.iter().map(|b| char::from(ALPHABET[usize::from(*b) % ALPHABET.len()])).collect()
}
