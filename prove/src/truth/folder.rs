//! truth.1.1: one process a data folder, tried with real processes.

use crate::ground::client::asked;
use crate::ground::figure::Figure;
use crate::ground::program::{Ground, ServerProcess, empty, finish};
use checks::Outcome;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// How often two servers are started at the same moment.
const AT_ONCE: usize = 20;
const ENDS_WITHIN: Duration = Duration::from_secs(60);

struct Scene {
    binary: PathBuf,
    folder: PathBuf,
}

impl Scene {
    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// What `ghostlight sql` on a folder says, beside whoever is there.
    fn shell(&self, data: &Path, query: &str) -> Outcome<(bool, String)> {
        let mut command = Command::new(&self.binary);
        command.args(["sql", "-W", "-h", "-1", "--data"]).arg(data).args(["-Q", query]);
        let ended = finish(command, &self.folder.join("shell.out"), ENDS_WITHIN)?;
        Ok((ended.succeeded, ended.output))
    }

    /// What a second `ghostlight serve` says, and that it does not stay.
    fn second_server(&self, data: &Path) -> Outcome<(bool, String)> {
        let mut command = Command::new(&self.binary);
        command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data);
        let ended = finish(command, &self.folder.join("second.out"), ENDS_WITHIN)?;
        Ok((ended.succeeded, ended.output))
    }

    fn server(&self) -> Outcome<ServerProcess> {
        ServerProcess::start(&self.binary, &self.data())
    }
}

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let scene = Scene { binary: ground.binary()?, folder: ground.folder("truth.1.1")? };
    Ok(vec![
        a_second_one_is_refused(&scene)?,
        nothing_stale_is_in_the_way(&scene)?,
        two_at_once(&scene)?,
        files_and_places(&scene)?,
    ])
}

/// The same files by hard links in another folder, and another folder at a server's place.
fn files_and_places(scene: &Scene) -> Outcome<Figure> {
    let told = |e: std::io::Error| format!("links and moves: {e}");
    let mut server = scene.server()?;
    let mut client = server.client()?;
    let (data, links) = (scene.data(), scene.folder.join("links"));
    std::fs::create_dir(&links).map_err(told)?;
    for entry in std::fs::read_dir(&data).map_err(told)? {
        let file = entry.map_err(told)?.path();
        if let Some(name) = file.file_name().filter(|n| *n != "ghostlight.lock") {
            std::fs::hard_link(&file, links.join(name)).map_err(told)?;
        }
    }
    let (ran, text) = scene.shell(&links, "SELECT 1")?;
    let linked = !ran && text.contains("in use by another process");
    let moved = scene.folder.join("moved");
    std::fs::rename(&data, &moved).map_err(told)?;
    let (made, _) = scene.shell(&data, "CREATE DATABASE d; CREATE DATABASE own")?;
    let changes = ["CREATE DATABASE e", "DROP DATABASE d", "ALTER DATABASE d SET OFFLINE"];
    let refused = changes.iter().filter(|c| asked(&mut client, c).is_err()).count();
    let (_, text) = scene.shell(&data, "SELECT COUNT(*) FROM sys.databases WHERE name <> 'e'")?;
    let alone = made && text.trim_start().starts_with('6');
    std::fs::remove_dir_all(&data).map_err(told)?;
    std::fs::rename(&moved, &data).map_err(told)?;
    asked(&mut client, "CREATE DATABASE e; DROP DATABASE e")?;
    server.stop()?;
    Ok(Figure {
        what: "its files by hard links, and a new folder at the place of one that moved".to_owned(),
        figure: format!("links refused: {linked}, {refused} changes refused, alone: {alone}"),
        limit: "refused, 3, left alone".to_owned(),
        pass: linked && refused == 3 && alone,
    })
}

/// It names the holder, whichever way it comes to the folder.
fn a_second_one_is_refused(scene: &Scene) -> Outcome<Figure> {
    let mut server = scene.server()?;
    let mut client = server.client()?;
    asked(&mut client, "CREATE DATABASE d")?;
    let link = scene.folder.join("link");
    std::os::unix::fs::symlink(scene.data(), &link).map_err(|e| format!("link: {e}"))?;
    let holder = format!("process {} ", server.id());
    let advice = format!("-S 127.0.0.1,{}", server.port()?);
    let mut said = vec![
        scene.second_server(&scene.data())?,
        scene.second_server(&link)?,
        scene.shell(&scene.data(), "SELECT 1")?,
        scene.shell(&link, "SELECT 1")?,
    ];
    let file = scene.data().join("ghostlight.lock");
    std::fs::remove_file(&file).map_err(|e| format!("remove the lock's file: {e}"))?;
    let refused = said.iter().filter(|(ok, text)| {
        !ok && text.contains("is in use by") && text.contains(&holder) && text.contains(&advice)
    });
    let refused = refused.count();
    let (ran, text) = scene.second_server(&scene.data())?;
    let without_file = !ran && text.contains("is in use by");
    said.push((ran, text));
    asked(&mut client, "CREATE TABLE d.dbo.t (a int)")?;
    server.stop()?;
    Ok(Figure {
        what: "others beside a server, by path, by link, without the lock's file".to_owned(),
        figure: format!("{refused} told who holds it, 1 refused without the file: {without_file}"),
        limit: "4, refused".to_owned(),
        pass: refused == 4 && without_file,
    })
}

/// SIGKILL, then the next start.
fn nothing_stale_is_in_the_way(scene: &Scene) -> Outcome<Figure> {
    let mut server = scene.server()?;
    server.client()?;
    server.kill()?;
    let (ran, text) = scene.shell(&scene.data(), "SELECT 'there'")?;
    let mut server = scene.server()?;
    server.client()?;
    server.stop()?;
    Ok(Figure {
        what: "a shell and a server behind one that was killed".to_owned(),
        figure: if ran { "start".to_owned() } else { text.clone() },
        limit: "start".to_owned(),
        pass: ran && text.contains("there"),
    })
}

/// Of two at the same moment one serves and one ends.
fn two_at_once(scene: &Scene) -> Outcome<Figure> {
    let mut right = 0;
    for _ in 0..AT_ONCE {
        let mut a = scene.server()?;
        let mut b = ServerProcess::start_beside(&scene.binary, &scene.data())?;
        let (first, second) = (a.client().is_ok(), b.client().is_ok());
        right += usize::from(first != second);
        if first {
            a.kill()?;
        } else if second {
            b.kill()?;
        }
    }
    Ok(Figure {
        what: "two servers started at the same moment".to_owned(),
        figure: format!("one of two served {right} times of {AT_ONCE}"),
        limit: "each time".to_owned(),
        pass: right == AT_ONCE,
    })
}

/// How something is called that is done to files of the folder, and what is done.
type Damage = (&'static str, fn(&Path) -> std::io::Result<()>);

fn altered(path: &Path, change: impl FnOnce(&mut Vec<u8>)) -> std::io::Result<()> {
    let mut bytes = std::fs::read(path)?;
    change(&mut bytes);
    std::fs::write(path, bytes)
}

const LISTS: [Damage; 4] = [
    ("both lists removed", |data| {
        std::fs::remove_file(data.join("databases.list"))?;
        std::fs::remove_file(data.join("databases.list.copy"))
    }),
    ("the list emptied", |data| std::fs::write(data.join("databases.list"), "")),
    ("a byte of the list flipped", |data| {
        altered(&data.join("databases.list"), |bytes| bytes[40] ^= 1)
    }),
    ("both lists cut", |data| {
        altered(&data.join("databases.list"), |bytes| bytes.truncate(30))?;
        altered(&data.join("databases.list.copy"), |bytes| bytes.truncate(30))
    }),
];

const FILES: [Damage; 8] = [
    ("a byte of page 0 flipped", |data| altered(&data.join("d.mdf"), |b| b[200] ^= 1)),
    ("a byte of the boot page flipped", |data| {
        altered(&data.join("d.mdf"), |b| b[9 * 8192 + 200] ^= 1)
    }),
    ("data cut to nothing", |data| altered(&data.join("d.mdf"), Vec::clear)),
    ("data removed", |data| std::fs::remove_file(data.join("d.mdf"))),
    ("log removed", |data| std::fs::remove_file(data.join("d_log.ldf"))),
    ("another's log", |data| {
        std::fs::copy(data.join("e_log.ldf"), data.join("d_log.ldf")).map(drop)
    }),
    ("log header zeroed", |data| altered(&data.join("d_log.ldf"), |b| b[..8192].fill(0))),
    ("a folder for the data", |data| {
        std::fs::remove_file(data.join("d.mdf"))?;
        std::fs::create_dir(data.join("d.mdf"))
    }),
];

/// Databases d and e with a row each, stopped.
fn populated(scene: &Scene) -> Outcome<()> {
    empty(&scene.data())?;
    let made = scene.shell(
        &scene.data(),
        "create database d; create database e; exec('create table d.dbo.t (n int); \
         insert d.dbo.t values (1); create table e.dbo.t (n int); insert e.dbo.t values (2)')",
    )?;
    if made.0 { Ok(()) } else { Err(made.1) }
}

/// truth.1.4: a list that is lost is not an empty one.
pub(crate) fn lists(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let scene = Scene { binary: ground.binary()?, folder: ground.folder("truth.1.4.lists")? };
    let mut wrong = Vec::new();
    for (what, damage) in LISTS {
        populated(&scene)?;
        damage(&scene.data()).map_err(|e| format!("{what}: {e}"))?;
        let asked = "set nocount on; select concat(db_id('d'), db_id('e'), (select n from d.dbo.t), \
                     (select n from e.dbo.t))";
        let (ran, said) = scene.shell(&scene.data(), asked)?;
        let told = std::fs::read_to_string(scene.data().join("errorlog")).unwrap_or_default();
        if !ran || said.trim() != "5612" || !told.contains("list") {
            wrong.push(format!("{what}: {said}"));
        }
    }
    Ok(vec![all_right("lost lists of databases", LISTS.len(), &wrong)])
}

/// truth.1.5: a damaged database is in sight, the others are used, and it can be dropped.
pub(crate) fn damages(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let scene = Scene { binary: ground.binary()?, folder: ground.folder("truth.1.5.damages")? };
    let mut wrong = Vec::new();
    for (what, damage) in FILES {
        populated(&scene)?;
        damage(&scene.data()).map_err(|e| format!("{what}: {e}"))?;
        let asked = "set nocount on; select concat(state, (select n from e.dbo.t), \
                     has_dbaccess('d')) from sys.databases where name = 'd'; drop database d; \
                     select count(*) from sys.databases where name = 'd'";
        let (ran, said) = scene.shell(&scene.data(), asked)?;
        let lines: Vec<&str> = said.split_whitespace().collect();
        if !ran || !matches!(lines[..], ["320" | "420", "0"]) {
            wrong.push(format!("{what}: {said}"));
        }
    }
    Ok(vec![all_right("damages of files", FILES.len(), &wrong)])
}

fn all_right(what: &str, all: usize, wrong: &[String]) -> Figure {
    let right = all - wrong.len();
    Figure {
        what: what.to_owned(),
        figure: match wrong.first() {
            Some(first) => format!("{right} of {all} as they must be; {first}"),
            None => format!("{right} of {all} as they must be"),
        },
        limit: "all".to_owned(),
        pass: wrong.is_empty(),
    }
}
