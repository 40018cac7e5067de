//! One run of a workload of versions.2: sessions that go from tenth to tenth together, snapshots
//! that open meanwhile, and what the server used between.

use super::{Company, Setting, Workload};
use crate::ground::client::{Client, asked};
use crate::ground::program::ServerProcess;
use crate::ground::scene::{Snapshot, number, session};
use checks::Outcome;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

const TENTHS: usize = 10;

/// A workload under a setting.
pub(crate) struct Scene<'a> {
    pub(crate) server: &'a ServerProcess,
    pub(crate) setting: &'a Setting,
    pub(crate) workload: &'a Workload,
    /// The leaf level is looked at all the time.
    pub(crate) watched: bool,
    /// From one snapshot to the next.
    pub(crate) pace: Option<Duration>,
}

/// What a run took and showed.
pub(crate) struct Run {
    /// The server's CPU seconds of each tenth.
    pub(crate) tenths: [f64; TENTHS],
    pub(crate) wall: Duration,
    /// The most pages that the leaf level of an index had.
    pub(crate) pages: i64,
    /// Snapshots that have ended, and those that read the same at their end.
    pub(crate) ended: usize,
    pub(crate) exact: usize,
}

impl Scene<'_> {
    pub(crate) fn run(&self) -> Outcome<Run> {
        let mut looker = self.session()?;
        for text in self.workload.table {
            asked(&mut looker, text)?;
        }
        let idle = self.idle()?;
        let mut waiting = self.snapshots()?;
        let mut open = Vec::new();
        if self.setting.beside == Company::Snapshot {
            open.extend(waiting.pop());
            open.iter_mut().try_for_each(Snapshot::look)?;
        }
        let sessions = (0..self.workload.sessions).map(|_| self.session());
        let mut sessions = sessions.collect::<Outcome<Vec<_>>>()?;
        let mut run =
            Run { tenths: [0.0; TENTHS], wall: Duration::ZERO, pages: 0, ended: 0, exact: 0 };
        let start = Instant::now();
        for tenth in 0..TENTHS {
            let opening =
                waiting.split_off(waiting.len() * (TENTHS - 1 - tenth) / (TENTHS - tenth));
            let before = self.server.cpu()?;
            let (pages, opened) = self.tenth(tenth, &mut sessions, opening)?;
            run.tenths[tenth] = (self.server.cpu()? - before).as_secs_f64();
            open.extend(opened);
            run.pages = run.pages.max(pages).max(self.leaf_pages(&mut looker)?);
        }
        run.wall = start.elapsed();
        for snapshot in open {
            let (same, _) = snapshot.end()?;
            run.ended += 1;
            run.exact += usize::from(same);
        }
        drop(idle);
        Ok(run)
    }

    fn session(&self) -> Outcome<Client> {
        session(self.server, self.setting.database)
    }

    fn idle(&self) -> Outcome<Option<Client>> {
        if self.setting.beside != Company::Idle {
            return Ok(None);
        }
        let mut client = self.session()?;
        asked(&mut client, "BEGIN TRANSACTION; SELECT COUNT_BIG(*) FROM dbo.Elsewhere")?;
        Ok(Some(client))
    }

    fn snapshots(&self) -> Outcome<Vec<Snapshot>> {
        let count = match self.setting.beside {
            Company::Nobody | Company::Idle => 0,
            Company::Snapshot => 1,
            Company::Snapshots(count) => count,
        };
        let one = |_| Snapshot::begin(self.session()?, self.workload.query);
        (0..count).map(one).collect()
    }

    /// A tenth of every session, and snapshots that open meanwhile; the most leaf pages.
    fn tenth(
        &self,
        tenth: usize,
        sessions: &mut [Client],
        mut opening: Vec<Snapshot>,
    ) -> Outcome<(i64, Vec<Snapshot>)> {
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            let work = sessions.iter_mut().enumerate().map(|(n, client)| {
                let text = (self.workload.batch)(n, tenth);
                scope.spawn(move || asked(client, &text).map(drop))
            });
            let work: Vec<_> = work.collect();
            let watch = self.watched.then(|| scope.spawn(|| self.watch(&done)));
            let opened = opening.iter_mut().try_for_each(|snapshot| {
                thread::sleep(self.pace.unwrap_or(Duration::from_millis(5)));
                snapshot.look()
            });
            let panicked = |_| "a session of ours panics".to_owned();
            let worked: Vec<_> =
                work.into_iter().map(|task| task.join().map_err(panicked)).collect();
            done.store(true, Relaxed);
            let pages = watch.map_or(Ok(Ok(0)), |task| task.join().map_err(panicked))??;
            opened?;
            worked.into_iter().try_for_each(|ended| ended?)?;
            Ok((pages, opening))
        })
    }

    fn watch(&self, done: &AtomicBool) -> Outcome<i64> {
        let mut client = self.session()?;
        let mut most = 0;
        while !done.load(Relaxed) {
            most = most.max(self.leaf_pages(&mut client)?);
        }
        Ok(most)
    }

    fn leaf_pages(&self, client: &mut Client) -> Outcome<i64> {
        let object = self.workload.object;
        number(
            client,
            &format!(
                "SELECT MAX(page_count) FROM sys.dm_db_index_physical_stats(DB_ID(), \
                 OBJECT_ID(N'{object}'), NULL, NULL, 'LIMITED')"
            ),
        )
    }
}
