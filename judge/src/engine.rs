//! Ghostlight in this process, on a folder of its own.

use crate::answer::{Answer, Collector};
use instance::{Instance, InstanceOptions};
use os::disk::RealDisk;
use os::wait::{CancelReason, Waiter};
use session::{Connection, Login, Request, Session};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

const MEMORY_BYTES: usize = 128 << 20;
const DATABASE: &str = "judge";
/// A statement that runs longer is ended by attention.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often the clock is looked at.
const TICK: Duration = Duration::from_millis(100);

/// Until when a statement may run, and whose waits are ended then.
type Deadline = Mutex<Option<(Instant, Arc<Waiter>)>>;

/// Sends attentions until nobody holds the deadline any more.
fn watch(deadline: &Weak<Deadline>) {
    while let Some(deadline) = deadline.upgrade() {
        let mut until = deadline.lock().unwrap_or_else(PoisonError::into_inner);
        if until.as_ref().is_some_and(|(until, _)| Instant::now() > *until)
            && let Some((_, waiter)) = until.take()
        {
            waiter.cancel(CancelReason::Attention);
        }
        drop(until);
        drop(deadline);
        thread::sleep(TICK);
    }
}

/// An instance with a session in a database of its own; its folder goes with it.
pub(crate) struct Engine {
    folder: PathBuf,
    instance: Option<Arc<Instance>>,
    session: Option<Session>,
    deadline: Arc<Deadline>,
}

fn login(database: &str) -> Login {
    Login {
        user: "sa".to_owned(),
        database: database.to_owned(),
        odbc_defaults: true,
        ..Login::default()
    }
}

impl Engine {
    /// Starts one with two empty schemas.
    pub(crate) fn start() -> Result<Engine, String> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("ghostlight-judge-{}-{n}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let deadline = Arc::new(Deadline::default());
        let watched = Arc::downgrade(&deadline);
        thread::spawn(move || watch(&watched));
        let mut engine = Engine { folder, instance: None, session: None, deadline };
        engine.open("")?;
        engine.must(&format!("create database {DATABASE}"))?;
        engine.must(&format!("alter database {DATABASE} set recovery simple"))?;
        engine.must(&format!("alter database {DATABASE} set delayed_durability = forced"))?;
        engine.must(&format!("use {DATABASE}"))?;
        Ok(engine)
    }

    fn open(&mut self, database: &str) -> Result<(), String> {
        let options =
            InstanceOptions { max_memory_bytes: MEMORY_BYTES, ..InstanceOptions::default() };
        let instance = Instance::open(Arc::new(RealDisk), &self.folder, options)
            .map_err(|e| e.text().to_owned())?;
        self.session = Some(instance.connect(login(database)).map_err(|e| e.text().to_owned())?);
        self.instance = Some(instance);
        Ok(())
    }

    /// Stops it and starts it again.
    pub(crate) fn restart(&mut self) -> Result<(), String> {
        self.close()?;
        self.open(DATABASE)
    }

    fn close(&mut self) -> Result<(), String> {
        self.session = None;
        match self.instance.take() {
            Some(instance) => instance.stop().map_err(|e| e.text().to_owned()),
            None => Ok(()),
        }
    }

    /// Runs a statement. A panic is an answer too, and the session is a new one after it.
    pub(crate) fn ask(&mut self, statement: &str) -> Answer {
        let Some(session) = &mut self.session else {
            return Answer::Failed("the engine does not run".to_owned());
        };
        let mut collector = Collector::default();
        let waiter = session.waiter();
        waiter.reset();
        let set = |until| *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) = until;
        set(Some((Instant::now() + PATIENCE, waiter)));
        let run = AssertUnwindSafe(|| {
            session.run(Request::Batch(statement.to_owned()), &mut collector);
        });
        let ended = catch_unwind(run).is_ok();
        let late = self.deadline.lock().unwrap_or_else(PoisonError::into_inner).take().is_none();
        match (ended, late) {
            (true, false) => return collector.answer(),
            (true, true) => return Answer::TooLong,
            (false, _) => {}
        }
        self.session = None;
        if let Some(instance) = &self.instance {
            self.session = instance.connect(login(DATABASE)).ok();
        }
        Answer::Failed("it panics".to_owned())
    }

    /// Runs a statement that has to succeed.
    pub(crate) fn must(&mut self, statement: &str) -> Result<(), String> {
        match self.ask(statement) {
            Answer::Rows(_) => Ok(()),
            other => Err(format!("{}: {statement}", other.shown())),
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.close();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
