//! W9: TPC-B-like transactions at scale 10, by procedure loops in the server and by clients that
//! call the procedure, with 1, 8 and 32 sessions, durable and delayed. Engines take turns, so
//! that a disturbance of the machine meets all.
//!
//! A durable run with more commits to a sync of the log than it has sessions did not wait for
//! the disk at each commit; its figure is shown and does not count.

use crate::engine::{Durability, Engine, SERVERS, Start};
use crate::figure::{Figure, Outcome, median};
use std::path::Path;

const SESSIONS: [usize; 3] = [1, 8, 32];
/// Transactions that warm caches before the first measurement.
const WARM_UP: u64 = 2_000;

/// How transactions are asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Loops,
    Clients,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::Loops => "loops in the server",
            Way::Clients => "clients",
        }
    }
}

struct Case {
    durability: Durability,
    way: Way,
    sessions: usize,
    /// By engine, in the order of [`SERVERS`]: transactions a second that count.
    rates: Vec<Option<f64>>,
}

/// What of it is to be run.
pub(crate) struct Choice {
    pub(crate) engine: Option<String>,
    pub(crate) only: String,
}

impl Choice {
    fn has_engine(&self, name: &str) -> bool {
        self.engine.as_deref().is_none_or(|one| one.eq_ignore_ascii_case(name))
    }

    fn cases(&self, durability: Durability) -> Vec<Case> {
        let ways = [Way::Loops, Way::Clients];
        let all = ways.into_iter().flat_map(|way| SESSIONS.map(|sessions| (way, sessions)));
        let case = |(way, sessions)| Case { durability, way, sessions, rates: Vec::new() };
        all.map(case).filter(|case| case.title().starts_with(&self.only)).collect()
    }
}

impl Case {
    fn title(&self) -> String {
        format!("{}, {}, {}", self.durability.name(), self.way.name(), self.sessions)
    }
}

pub(crate) fn run(
    binary: &Path,
    folder: &Path,
    (seconds, repetitions): (u64, usize),
    choice: &Choice,
) -> Outcome<Vec<Figure>> {
    let mut cases = Vec::new();
    for durability in Durability::BOTH {
        let mut chosen = choice.cases(durability);
        if chosen.is_empty() {
            continue;
        }
        let mut engines = Vec::new();
        for (name, start) in SERVERS {
            let folder = folder.join(name);
            let start_of = Start { binary, folder: &folder, durability, memory_mb: None };
            let engine = if choice.has_engine(name) { start(&start_of)? } else { None };
            if engine.is_none() {
                println!("{name}: does not take part");
            }
            engines.push(engine);
        }
        for engine in engines.iter_mut().flatten() {
            engine.run(&engine.script("w9")?)?;
            engine.run(&loops(&**engine, WARM_UP))?;
        }
        for group in chosen.chunk_by_mut(|a, b| a.way == b.way) {
            measure(group, &mut engines, seconds, repetitions)?;
        }
        cases.extend(chosen);
        for engine in engines.iter_mut().flatten() {
            balances(&mut **engine)?;
        }
    }
    Ok(judge(&cases))
}

/// The cases of one way in turns, so that what is compared is measured in the same minutes.
fn measure(
    cases: &mut [Case],
    engines: &mut [Option<Box<dyn Engine>>],
    seconds: u64,
    repetitions: usize,
) -> Outcome<()> {
    let mut rates = vec![vec![Vec::new(); engines.len()]; cases.len()];
    for _ in 0..repetitions {
        for (case, rates) in cases.iter().zip(&mut rates) {
            for (engine, rates) in engines.iter_mut().zip(rates) {
                let Some(engine) = engine else { continue };
                rates.extend(once(case, &mut **engine, seconds)?);
            }
        }
    }
    for (case, rates) in cases.iter_mut().zip(rates) {
        let title = case.title();
        for ((name, _), rates) in SERVERS.iter().zip(&rates).filter(|(_, r)| !r.is_empty()) {
            let all: Vec<String> = rates.iter().map(|rate| format!("{rate:.0}")).collect();
            println!("W9 {title}: {name} {}", all.join(" "));
        }
        let middle = |rates: Vec<f64>| (!rates.is_empty()).then(|| median(rates));
        case.rates = rates.into_iter().map(middle).collect();
    }
    Ok(())
}

/// One run; `None` where it was not durable although it should be.
fn once(case: &Case, engine: &mut dyn Engine, seconds: u64) -> Outcome<Option<f64>> {
    let (syncs, before) = (engine.syncs()?, done(engine)?);
    let rate = match case.way {
        Way::Clients => engine.call_together(case.sessions, seconds)?,
        Way::Loops => looped(case, engine, seconds)?,
    };
    let commits = (done(engine)? - before) as f64;
    let syncs = engine.syncs()?.saturating_sub(syncs).max(1) as f64;
    if case.durability == Durability::Full && commits / syncs > case.sessions as f64 * 1.05 {
        println!(
            "  {}: {rate:.0} at {:.1} commits a sync: not durable",
            engine.name(),
            commits / syncs
        );
        return Ok(None);
    }
    Ok(Some(rate))
}

/// Loops of fixed length, made longer until one lasts.
fn looped(case: &Case, engine: &mut dyn Engine, seconds: u64) -> Outcome<f64> {
    let mut each = 500;
    loop {
        let sql = vec![loops(engine, each); case.sessions];
        let took = engine.run_together(&sql)?;
        let wanted = seconds as f64;
        if took >= wanted * 0.7 {
            return Ok((each * case.sessions as u64) as f64 / took);
        }
        each = (each as f64 * (wanted / took.max(0.01)).clamp(1.5, 10.0)) as u64;
    }
}

fn loops(engine: &dyn Engine, count: u64) -> String {
    match engine.name() {
        "Ghostlight" => format!("exec tpcb_loop {count}"),
        _ => format!("call tpcb_loop({count})"),
    }
}

fn done(engine: &mut dyn Engine) -> Outcome<i64> {
    engine.number("select count(*) from tb_history")
}

/// What every transaction leaves equal.
fn balances(engine: &mut dyn Engine) -> Outcome<()> {
    let accounts = engine.number("select sum(abalance) from tb_accounts")?;
    let branches = engine.number("select sum(bbalance) from tb_branches")?;
    let history = engine.number("select sum(delta) from tb_history")?;
    match accounts == branches && branches == history {
        true => Ok(()),
        false => Err(format!("{}: {accounts}, {branches}, {history} differ", engine.name())),
    }
}

fn judge(cases: &[Case]) -> Vec<Figure> {
    let mut figures: Vec<Figure> = cases.iter().map(against_peers).collect();
    for durability in Durability::BOTH {
        for way in [Way::Loops, Way::Clients] {
            let rate = |sessions: usize| {
                let is = |c: &&Case| {
                    c.durability == durability && c.way == way && c.sessions == sessions
                };
                cases.iter().find(is).and_then(|c| c.rates[0])
            };
            let (Some(few), Some(many)) = (rate(8), rate(32)) else { continue };
            figures.push(Figure {
                what: format!("32 sessions against 8, {}, {}", durability.name(), way.name()),
                figure: format!("{:.2}", many / few),
                limit: "at least 1".to_owned(),
                pass: many >= few,
            });
        }
    }
    figures
}

fn against_peers(case: &Case) -> Figure {
    let ours = case.rates[0];
    let best = case.rates.iter().zip(SERVERS).skip(1).filter_map(|(r, (n, _))| Some(((*r)?, n)));
    let best = best.max_by(|a, b| a.0.total_cmp(&b.0));
    let (limit, pass) = match (ours, best) {
        (Some(ours), Some((rate, name))) => (format!("{rate:.0}, {name}"), ours >= rate),
        _ => ("no peer is installed".to_owned(), false),
    };
    Figure {
        what: format!(
            "transactions a second, {}, {}, {} sessions",
            case.durability.name(),
            case.way.name(),
            case.sessions
        ),
        figure: format!("{:.0}", ours.unwrap_or(f64::NAN)),
        limit,
        pass,
    }
}
