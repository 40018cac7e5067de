//! versions.6, crashes of databases with row versions: on the simulated disk, with versioning on,
//! off and switched, and SIGKILLs of a real server.

use crate::ground::figure::Figure;
use crate::ground::program::Ground;
use crate::ground::test_runs::crash_points;
use crate::recovery::kills::{self, Course, Versions};
use checks::Outcome;

/// Of each setting.
const KILLS: u32 = 100;

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let settings = [
        ("off", Versions::Off),
        ("on", Versions::On),
        ("switched after each recovery", Versions::Switched),
    ];
    let mut figures: Vec<Figure> =
        settings.into_iter().map(|(name, versions)| real_kills(ground, name, versions)).collect();
    figures.push(crash_points(
        ground,
        "simulated crashes of eight sessions, versions on, off and switched (database)",
        &["--package", "database", "--test", "sessions"],
        ("GHOSTLIGHT_LONG", "1"),
    ));
    Ok(figures)
}

fn real_kills(ground: &Ground<'_>, name: &str, versions: Versions) -> Figure {
    let run = || {
        let data = ground.folder("versions.6")?.join("data");
        kills::drive(&Course {
            binary: &ground.binary()?,
            data: &data,
            kills: KILLS,
            seed: kills::any_seed(),
            versions,
            activities: false,
        })
    };
    let (figure, pass) = match run() {
        Ok(counts) => {
            let read = versions == Versions::Off || counts.reread > 0;
            let worked = counts.acknowledged > u64::from(KILLS);
            (counts.to_string(), counts.kills == KILLS && worked && read)
        }
        Err(why) => (why, false),
    };
    Figure {
        what: format!("real disk, versions {name}"),
        figure,
        limit: format!("{KILLS} SIGKILLs, nothing lost, CHECKDB clean"),
        pass,
    }
}
