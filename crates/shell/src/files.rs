//! The user's own files: scripts, outputs, certificates, history. None is a database's, so none
//! goes through `os::disk`, which the simulator tears.

use std::fs;
use std::io::{self, BufRead, BufReader, Cursor, Read, Write};
use std::path::{Path, PathBuf};

/// A script as UTF-8, whatever its byte order mark says it is.
#[allow(clippy::disallowed_methods, reason = "a user's script, not a database's file")]
pub(crate) fn script(path: &Path) -> io::Result<Box<dyn BufRead>> {
    let mut file = fs::File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let mut mark = Vec::new();
    (&mut file).take(3).read_to_end(&mut mark)?;
    match mark.as_slice() {
        [0xEF, 0xBB, 0xBF] => Ok(Box::new(BufReader::new(file))),
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => {
            file.read_to_end(&mut mark)?;
            Ok(Box::new(Cursor::new(utf16(&mark).into_bytes())))
        }
        _ => Ok(Box::new(BufReader::new(Cursor::new(mark).chain(file)))),
    }
}

/// The text of bytes that begin with a byte order mark of UTF-16.
fn utf16(bytes: &[u8]) -> String {
    let big = bytes.starts_with(&[0xFE, 0xFF]);
    let unit = |pair: &[u8; 2]| match big {
        true => u16::from_be_bytes(*pair),
        false => u16::from_le_bytes(*pair),
    };
    let units = bytes[2..].as_chunks::<2>().0.iter().map(unit);
    char::decode_utf16(units).map(|c| c.unwrap_or('\u{FFFD}')).collect()
}

/// A file for output; what it held is gone.
#[allow(clippy::disallowed_methods, reason = "a user's output, not a database's file")]
pub(crate) fn output(path: &Path) -> io::Result<Box<dyn Write>> {
    Ok(Box::new(fs::File::create(path)?))
}

/// All bytes of a small file.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    fs::read(path)
}

/// Where the shell keeps the lines a person typed; the folder is made.
pub(crate) fn history() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let shared = set("XDG_DATA_HOME").filter(|p| p.is_absolute());
    let folder = shared.or_else(|| set("HOME").map(|h| h.join(".local/share")))?.join("ghostlight");
    fs::create_dir_all(&folder).ok()?;
    Some(folder.join("history"))
}

/// This machine's name.
pub fn host_name() -> String {
    let from = |path: &str| fs::read_to_string(path).ok();
    let name = from("/proc/sys/kernel/hostname").or_else(|| from("/etc/hostname"));
    name.map(|n| n.trim().to_owned()).filter(|n| !n.is_empty()).unwrap_or("localhost".to_owned())
}

/// A folder for an engine that nobody wants to keep; gone when dropped.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> io::Result<Scratch> {
        use std::os::unix::fs::DirBuilderExt as _;
        let name = format!("ghostlight-{:016x}", os::entropy::random_u64());
        let path = std::env::temp_dir().join(name);
        // Nobody else looks in: the data is the user's.
        fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Scratch(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed stays for the system's own cleaning of its temporary folder.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_text_whatever_their_mark() {
        let scratch = Scratch::new().unwrap();
        let cases: [(&[u8], &str); 5] = [
            (b"\xEF\xBB\xBFselect '\xC3\xA4'", "select 'ä'"),
            (b"\xFF\xFEg\0o\0\n\0", "go\n"),
            (b"\xFE\xFF\0g\0o", "go"),
            (b"go", "go"),
            (b"", ""),
        ];
        for (bytes, text) in cases {
            let path = scratch.path().join("s.sql");
            fs::write(&path, bytes).unwrap();
            let mut read = String::new();
            script(&path).unwrap().read_to_string(&mut read).unwrap();
            assert_eq!(read, text);
        }
        assert!(script(scratch.path()).is_err());
        let path = scratch.path().to_owned();
        drop(scratch);
        assert!(!path.exists());
    }
}
