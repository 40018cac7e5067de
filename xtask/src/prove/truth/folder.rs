//! truth.1.1: one process a data folder, tried with real processes.

use super::super::Figure;
use super::super::crowd::asked;
use super::super::program::{Ground, Serving, finish};
use crate::workspace::Outcome;
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

    fn server(&self) -> Outcome<Serving> {
        Serving::start(&self.binary, &self.data())
    }
}

pub(super) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let scene = Scene { binary: ground.binary()?, folder: ground.folder("truth.1.1")? };
    Ok(vec![
        a_second_one_is_refused(&scene)?,
        nothing_stale_is_in_the_way(&scene)?,
        two_at_once(&scene)?,
    ])
}

/// It names the holder, whichever way it comes to the folder.
fn a_second_one_is_refused(scene: &Scene) -> Outcome<Figure> {
    let mut server = scene.server()?;
    let mut client = server.client()?;
    asked(&mut client, "CREATE DATABASE d")?;
    let link = scene.folder.join("link");
    std::os::unix::fs::symlink(scene.data(), &link).map_err(|e| format!("link: {e}"))?;
    let holder = format!("process {} ", server.id());
    let advice = format!("-S 127.0.0.1,{}", server.port);
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
        let (mut a, mut b) = (scene.server()?, scene.server()?);
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
