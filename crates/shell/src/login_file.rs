//! The logins of a server: a file `logins` of its data folder, a name and a salted hash a line.
//!
//! The password of `sa` comes from GHOSTLIGHT_SA_PASSWORD or MSSQL_SA_PASSWORD at the first
//! start; without one it is made up and printed once. Only the hash is stored.

use os::disk::{Disk, OpenMode};
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
        let file = disk.open(&path(dir), OpenMode { create: false, direct: false })?;
        let mut bytes = vec![0; usize::try_from(file.len()?).unwrap_or(0)];
        file.read_at(&mut bytes, 0)?;
        logins_of(&bytes).ok_or_else(|| {
            let what = "the file is damaged; without it the next start makes a new password of sa";
            io::Error::new(io::ErrorKind::InvalidData, what)
        })
    }

    fn write(&self, disk: &dyn Disk, dir: &Path) -> io::Result<()> {
        let next = dir.join("logins.new");
        if disk.exists(&next) {
            disk.remove(&next)?;
        }
        let file = disk.open(&next, OpenMode { create: true, direct: false })?;
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

/// The logins of a file; none where a line is not one, or there is none at all.
fn logins_of(bytes: &[u8]) -> Option<Logins> {
    let login = |line: &str| {
        let (name, hash) = line.split_once('\t')?;
        let whole = !name.is_empty() && server::password::is_hash(hash);
        whole.then(|| (name.to_owned(), hash.to_owned()))
    };
    let text = str::from_utf8(bytes).ok()?.strip_suffix('\n')?;
    let logins: Option<Vec<_>> = text.lines().map(login).collect();
    logins.filter(|l| !l.is_empty()).map(Logins)
}

fn made_up() -> String {
    let mut bytes = [0; 20];
    os::entropy::fill(&mut bytes);
    bytes.iter().map(|b| char::from(ALPHABET[usize::from(*b) % ALPHABET.len()])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that lets nobody in is damaged, and is not taken for one without logins.
    #[test]
    fn a_damaged_file_is_told_from_a_whole_one() {
        let hash = server::password::hash("x");
        let whole = format!("sa\t{hash}\n");
        let logins = logins_of(whole.as_bytes()).unwrap();
        assert!(logins.verify("SA", "x") && !logins.verify("sa", "y"));
        let zeroes = vec![0; whole.len()];
        let flipped = whole.replacen('$', "%", 1).into_bytes();
        let torn = &whole.as_bytes()[..whole.len() - 5];
        for damaged in [b"".as_slice(), b"\n", b"\xff\xfe", b"sa\n", &zeroes, &flipped, torn] {
            assert!(logins_of(damaged).is_none(), "{}", String::from_utf8_lossy(damaged));
        }
    }
}
