//! The sessions of a script: one task each, so that one may wait while others go on.

use crate::room::FilledSpace;
use crate::transcript::Transcript;
use instance::{Instance, InstanceOptions};
use os::disk::RealDisk;
use os::task::JoinHandle;
use os::wait::{CancelReason, Waiter};
use session::{Connection, Login, Request, ResultSink};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// How long what must not wait may take on a slow machine.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long something must have waited to be called waiting.
const MOMENT: Duration = Duration::from_millis(120);
/// The same where nothing is known about what is expected.
const LONG_MOMENT: Duration = Duration::from_secs(3);
/// How often a session that runs nothing looks whether it was killed.
const LOOK: Duration = Duration::from_millis(5);

/// What a script knows about a batch.
#[derive(Clone, Copy)]
pub(crate) enum Wait {
    /// It must wait.
    Expected,
    /// It must not.
    Unexpected,
    /// Nothing is known: the script is being written.
    Unknown,
}

impl Wait {
    fn limit(self) -> Duration {
        match self {
            Wait::Expected => MOMENT,
            Wait::Unexpected => PATIENCE,
            Wait::Unknown => LONG_MOMENT,
        }
    }
}

struct Seat {
    batches: Option<Sender<String>>,
    answers: Receiver<(String, bool)>,
    task: Option<JoinHandle<()>>,
    waiter: Arc<Waiter>,
    waiting: bool,
}

/// An instance and the sessions of a script.
pub(crate) struct Sessions {
    generation: u32,
    instance: Arc<Instance>,
    seats: BTreeMap<char, Seat>,
    old: Vec<Arc<Instance>>,
    tempdb: Option<FilledSpace>,
    folder: Folder,
}

/// A folder of a script's own, which goes with it, also where it panics.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is in the folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn open(dir: &Path) -> Arc<Instance> {
    let options = InstanceOptions { max_memory_bytes: 96 << 20, ..InstanceOptions::default() };
    Instance::open(Arc::new(RealDisk), dir, options).expect("the instance starts")
}

fn login() -> Login {
    Login {
        user: "sa".to_owned(),
        database: "golden".to_owned(),
        odbc_defaults: true,
        ..Login::default()
    }
}

fn new_folder() -> Folder {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    Folder(std::env::temp_dir().join(format!("ghostlight-golden-{}-{n}", std::process::id())))
}

impl Sessions {
    /// A new instance with an empty database `golden`.
    pub(crate) fn open() -> Sessions {
        let folder = new_folder();
        let instance = open(&folder.0.join("0"));
        let first = Login { database: String::new(), ..login() };
        let mut session = instance.connect(first).expect("a first session");
        let mut said = Transcript::default();
        session.run(Request::Batch("create database golden".to_owned()), &mut said);
        assert!(said.text.is_empty(), "{}", said.text);
        Sessions {
            generation: 0,
            instance,
            seats: BTreeMap::new(),
            old: Vec::new(),
            tempdb: None,
            folder,
        }
    }

    /// What a batch gets in a session of its own.
    pub(crate) fn alone(&self, batch: &str) -> String {
        let mut session = self.instance.connect(login()).expect("a session");
        let mut said = Transcript::default();
        session.run(Request::Batch(batch.to_owned()), &mut said);
        said.text
    }

    fn dir(&self) -> PathBuf {
        self.folder.0.join(self.generation.to_string())
    }

    fn seat(&mut self, session: char) -> &mut Seat {
        let instance = &self.instance;
        self.seats.entry(session).or_insert_with(|| Seat::take(instance, session))
    }

    /// Runs a batch; what it got, or `(waits)`.
    pub(crate) fn run(&mut self, session: char, batch: &str, wait: Wait) -> String {
        let seat = self.seat(session);
        assert!(!seat.waiting, "session {session} still waits: {batch}");
        let batches = seat.batches.as_ref().expect("the seat is taken");
        if batches.send(batch.to_owned()).is_err() {
            // It was killed while it ran nothing: its client learns of it now.
            self.drop_one(session);
            return "(connection closed)\n".to_owned();
        }
        seat.waiting = true;
        self.finished(session, wait).unwrap_or_else(|| "(waits)\n".to_owned())
    }

    /// What a waiting session got, if it did within the time its wait allows.
    pub(crate) fn finished(&mut self, session: char, wait: Wait) -> Option<String> {
        let seat = self.seats.get_mut(&session).expect("a session that ran something");
        let (text, goes_on) = match seat.answers.recv_timeout(wait.limit()) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Disconnected) => ("(connection closed)\n".to_owned(), false),
            Err(RecvTimeoutError::Timeout) => return None,
        };
        seat.waiting = false;
        if !goes_on {
            self.drop_one(session);
        }
        Some(text)
    }

    /// Those that wait.
    pub(crate) fn waiting(&self) -> Vec<char> {
        self.seats.iter().filter(|(_, s)| s.waiting).map(|(c, _)| *c).collect()
    }

    /// Cancels what a session runs, as its client's attention does.
    pub(crate) fn attention(&mut self, session: char) {
        let seat = self.seats.get(&session).filter(|seat| seat.waiting);
        seat.expect("an attention is for a session that waits")
            .waiter
            .cancel(CancelReason::Attention);
    }

    /// Drops a connection.
    pub(crate) fn drop_one(&mut self, session: char) {
        if let Some(seat) = self.seats.remove(&session) {
            seat.leave();
        }
    }

    /// Stops the instance in order and opens it again.
    pub(crate) fn restart(&mut self) {
        self.leave_all();
        self.instance.stop().expect("the instance stops");
        self.instance = open(&self.dir());
    }

    /// Opens a copy of the files as they are now: what a killed process leaves.
    pub(crate) fn crash(&mut self) {
        let from = self.dir();
        self.generation += 1;
        let to = self.dir();
        // A checkpoint between two files would make a state that no crash leaves.
        loop {
            copy(&from, &to);
            if fingerprint(&from) == fingerprint(&to) {
                break;
            }
        }
        self.leave_all();
        let new = open(&to);
        self.old.push(std::mem::replace(&mut self.instance, new));
    }

    /// Tempdb has no room and may not grow.
    pub(crate) fn fill_tempdb(&mut self) {
        self.tempdb = Some(FilledSpace::tempdb(&self.instance));
    }

    /// It has, again.
    pub(crate) fn free_tempdb(&mut self) {
        self.tempdb.take().expect("it was filled").free();
    }

    fn leave_all(&mut self) {
        for (_, seat) in std::mem::take(&mut self.seats) {
            seat.leave();
        }
    }

    /// Ends everything; what was still waiting, which a script must not leave.
    pub(crate) fn close(mut self) -> String {
        let mut text = String::new();
        for session in self.waiting() {
            text.push_str(&format!("session {session} was left waiting\n"));
        }
        if text.is_empty() {
            self.leave_all();
            self.instance.stop().expect("the instance stops");
            for old in &self.old {
                old.stop().expect("an instance that was left stops");
            }
        }
        text
    }
}

impl Seat {
    fn take(instance: &Arc<Instance>, session: char) -> Seat {
        let (batches, incoming) = channel::<String>();
        let (outgoing, answers) = channel();
        let mut connection = instance.connect(login()).expect("a session");
        let waiter = connection.waiter();
        let task = os::task::spawn(&format!("session {session}"), move || {
            while let Some(batch) = next_batch(&incoming, &connection.waiter()) {
                let mut transcript = Transcript::default();
                connection.waiter().reset_unless_killed();
                let goes_on = connection.run(Request::Batch(batch), &mut transcript);
                if connection.waiter().cancellation() == Some(CancelReason::Attention) {
                    transcript.text.push_str("(attention)\n");
                }
                if !goes_on {
                    transcript.text.push_str("(connection closed)\n");
                }
                if outgoing.send((transcript.text, goes_on)).is_err() || !goes_on {
                    break;
                }
            }
        });
        Seat { batches: Some(batches), answers, task: Some(task), waiter, waiting: false }
    }

    fn leave(mut self) {
        drop(self.batches.take());
        if let Some(task) = self.task.take() {
            task.join().expect("a session's task ends without a panic");
        }
    }
}

/// The next batch; none when the client is gone, or the session was killed, which ends it at once
/// as the server does.
fn next_batch(incoming: &Receiver<String>, waiter: &Waiter) -> Option<String> {
    loop {
        if waiter.cancellation() == Some(CancelReason::Kill) {
            return None;
        }
        match incoming.recv_timeout(LOOK) {
            Ok(batch) => return Some(batch),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder for the copy");
    for file in std::fs::read_dir(from).expect("the data folder") {
        let file = file.expect("a file of the data folder");
        std::fs::copy(file.path(), to.join(file.file_name())).expect("a copy");
    }
}

fn fingerprint(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for file in std::fs::read_dir(dir).expect("the data folder") {
        let file = file.expect("a file of the data folder");
        let name = file.file_name().to_string_lossy().into_owned();
        files.insert(name, std::fs::read(file.path()).expect("its bytes"));
    }
    files
}

/// A sink must be a sink: the transcript is one.
const _: fn(&mut Transcript) -> &mut dyn ResultSink = |t| t;
