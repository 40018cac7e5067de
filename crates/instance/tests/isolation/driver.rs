//! A session at work: draws transactions of every level, sends them statement by statement, and
//! holds each answer against the book while its locks are held.

use crate::DATABASE;
use crate::book::{self, ALONE, Book, Fate, Key, Level, Pages, ReadRequest, Row};
use crate::heard::Response;
use crate::simulated::{Random, login, whole};
use crate::story::{self, Change, Effect, Path, Table};
use instance::Instance;
use session::Session;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use types::Value;

/// Of a deadlock, a lock in time, a key that is there, versions that are refused, a session that
/// was ended.
const EXPECTED: [i32; 12] = [1205, 1222, 2627, 2601, 3951, 3952, 3953, 3954, 3956, 3957, 3960, 596];
const DUPLICATE: [i32; 2] = [2627, 2601];

/// What a batch came to.
struct Answer {
    rows: Vec<Vec<Value>>,
    error: Option<i32>,
    count: i64,
}

/// A read, what it asked for, and what it gave.
type PastRead = (String, ReadRequest, Vec<(i64, Row)>);

/// A transaction of this session.
struct OwnTransaction {
    id: i64,
    level: Level,
    begun: u64,
    writes: bool,
    visible: Option<BTreeSet<i64>>,
    saved: Vec<SavedState>,
    /// Reads, while nothing was changed since.
    asked: Vec<PastRead>,
}

struct SavedState {
    name: String,
    tick: u64,
    held: BTreeMap<Key, Option<Row>>,
    asked: usize,
}

pub(crate) struct Driver {
    instance: Arc<Instance>,
    book: Arc<Book>,
    r: Random,
    number: i64,
    tables: Vec<Table>,
    session: Option<Session>,
    statement_versions: bool,
    steps: i64,
}

impl Driver {
    pub(crate) fn new(
        instance: &Arc<Instance>,
        book: &Arc<Book>,
        seed: u64,
        number: i64,
        tables: &[Table],
    ) -> Driver {
        Driver {
            instance: Arc::clone(instance),
            book: Arc::clone(book),
            r: Random(seed ^ (number as u64) << 32),
            number,
            tables: tables.to_vec(),
            session: None,
            statement_versions: false,
            steps: 0,
        }
    }

    pub(crate) fn run(mut self, transactions: i64) {
        for t in 1..=transactions {
            self.come();
            let id = self.number * 1000 + t;
            match self.r.below(12) {
                0 | 1 => self.add(),
                2..=4 => self.single(),
                _ => self.transaction(id),
            }
            // Who switches options may be waiting for that.
            if self.r.below(4) == 0 {
                self.session = None;
            }
        }
    }

    fn page(&self) -> os::sync::MutexGuard<'_, Pages> {
        self.book.open()
    }

    /// Is in the database, and knows whether statements read as of a moment while it stays.
    fn come(&mut self) {
        while self.session.is_none() {
            self.session = self.enter();
        }
    }

    /// None: it was ended before it was answered.
    fn enter(&mut self) -> Option<Session> {
        let mut session = self.instance.connect(login(DATABASE)).ok()?;
        let wait = [-1, 30, 400][self.r.below(3) as usize];
        let text = format!(
            "SET LOCK_TIMEOUT {wait}; SELECT is_read_committed_snapshot_on + 0 FROM sys.databases \
             WHERE name = '{DATABASE}'"
        );
        let heard = Response::ask(&mut session, &text);
        let told = heard.rows.first().filter(|_| heard.error().is_none() && heard.goes_on)?;
        self.statement_versions = whole(&told[0]) == 1;
        Some(session)
    }

    fn send(&mut self, text: &str) -> Answer {
        let ask = format!("{text}; SELECT @@ROWCOUNT, @@ERROR, @@TRANCOUNT");
        let mut session = self.session.take().expect("it has come");
        self.page().say(format!("{}> {text}", self.number));
        let mut heard = Response::ask(&mut session, &ask);
        let error = heard.error().map(|e| e.number());
        let strange = heard.errors().find(|e| !EXPECTED.contains(&e.number()));
        let kept = heard.goes_on;
        if let Some(strange) = strange.filter(|_| kept) {
            self.page().fail(None, &format!("{} {text}: {strange:?}", self.number));
        }
        let mut told = heard.rows.pop_if(|row| row.len() == 3);
        if kept && told.is_none() {
            told = Response::ask(&mut session, "SELECT 0, 0, @@TRANCOUNT").rows.pop();
        }
        let told: Vec<i64> = told.unwrap_or_default().iter().map(whole).collect();
        let (count, open) = match told.as_slice() {
            [count, _, open] => (*count, *open > 0),
            _ => (0, false),
        };
        if kept && !told.is_empty() {
            self.session = Some(session);
        } else {
            // What it had begun is rolled back with it.
            drop(session);
        }
        let rows: Vec<String> = heard.rows.iter().map(|row| short(row)).collect();
        let line = format!("{}< {error:?} {count} {open} {}", self.number, rows.join(" "));
        self.page().say(line);
        Answer { rows: heard.rows, error, count }
    }

    /// A counter goes up, by itself.
    fn add(&mut self) {
        let id = 1 + self.r.below(story::COUNTERS as u64) as i64;
        let level = ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"][self.r.below(3) as usize];
        self.send(&format!("SET TRANSACTION ISOLATION LEVEL {level}"));
        if self.session.is_none() {
            return;
        }
        let text = format!(
            "UPDATE dbo.C SET n = n + 1, pad = REPLICATE('x', 10 + n * 37 % 3001) WHERE id = {id}"
        );
        let answer = self.send(&text);
        let mut page = self.page();
        let added = page.added.entry(id).or_default();
        match (answer.error, answer.count) {
            (None, 1) => added.0 += 1,
            _ if self.session.is_none() => added.1 += 1,
            (Some(_), _) => {}
            (None, n) => page.fail(None, &format!("{text}: {n} rows")),
        }
    }

    fn table(&mut self) -> Table {
        let at = self.r.below(self.tables.len() as u64) as usize;
        self.tables[at]
    }

    /// One statement that is its own transaction.
    fn single(&mut self) {
        let level = self.level(true);
        self.send(&format!("SET TRANSACTION ISOLATION LEVEL {}", name(level)));
        for _ in 0..3 {
            if self.session.is_none() {
                return;
            }
            match level {
                Level::Snapshot => self.moment(None),
                Level::Committed if self.statement_versions => self.moment(None),
                _ => {
                    self.read(ALONE, level);
                }
            }
        }
    }

    fn level(&mut self, reads: bool) -> Level {
        match self.r.below(if reads { 11 } else { 9 }) {
            0..=2 => Level::Committed,
            3 | 4 => Level::Repeatable,
            5 | 6 => Level::Serializable,
            7 | 8 => Level::Snapshot,
            _ => Level::Uncommitted,
        }
    }

    /// One statement as of a moment, of its own or of its transaction: who is in the ledger, and
    /// what two ways to a table give; or what they do not give alike.
    fn moment(&mut self, own: Option<&OwnTransaction>) {
        let (id, since) = match own {
            Some(own) => (own.id, own.begun),
            None => (ALONE, self.page().tick()),
        };
        let table = self.table();
        let paths = [Path::draw(&table, &mut self.r), Path::draw(&table, &mut self.r)];
        let asked = story::asked(&table, &mut self.r);
        let asked = paths.iter().fold(asked, |asked, path| story::fit(asked, *path));
        if self.r.below(4) == 0 {
            let text = story::difference(&table, paths, &asked, &mut self.r);
            let answer = self.send(&text);
            if answer.error.is_none() && !answer.rows.is_empty() {
                self.page().fail(None, &format!("{id}: {} by {text}", short(&answer.rows[0])));
            }
            return self.page().count("differences", 1);
        }
        let fillers = self.r.below(2) == 0;
        let select = |n: usize| story::select(n as i64 + 1, &table, paths[n], &asked, fillers);
        let text = format!(
            "SELECT 0 AS tag, id AS k, 0 AS u, 0 AS v, 0 AS n, NULL AS filler FROM dbo.L \
             UNION ALL {} UNION ALL {}",
            select(0),
            select(1)
        );
        let answer = self.send(&text);
        if answer.error.is_some() {
            return;
        }
        let mut page = self.page();
        let of_ledger = answer.rows.iter().filter(|row| whole(&row[0]) == 0);
        let visible: BTreeSet<i64> = of_ledger.map(|row| whole(&row[1])).collect();
        let of_statement = match own.and_then(|own| own.visible.as_ref()) {
            Some(first) if *first != visible => page.fail(None, &format!("{id}: another moment")),
            Some(first) => first,
            None => &visible,
        };
        page.check_visible(id, of_statement, since);
        for (n, path) in paths.iter().enumerate() {
            let found = rows(&page, table.at, &answer.rows, n as i64 + 1, &text);
            page.check_moment(id, of_statement, &asked, &found, &format!("{path:?}"));
        }
        if own.is_some_and(|own| own.level == Level::Snapshot) {
            let found = rows(&page, table.at, &answer.rows, 1, &text);
            page.keep(id, &asked, &found);
        }
    }

    /// A read with locks or without; what it gave.
    fn read(&mut self, id: i64, level: Level) -> Option<PastRead> {
        let table = self.table();
        let path = Path::draw(&table, &mut self.r);
        let asked = story::fit(story::asked(&table, &mut self.r), path);
        let fillers = self.r.below(2) == 0;
        let select = story::select(1, &table, path, &asked, fillers);
        let text = format!("{select}{}", story::order(&mut self.r));
        let since = self.page().tick();
        let answer = self.send(&text);
        if answer.error.is_some() {
            return None;
        }
        let of_index = matches!(path, Path::Value | Path::Length | Path::Either);
        let whole = path.is_one_place(&table) && !(fillers && of_index);
        let found = match level {
            Level::Uncommitted if !whole => loose(&answer),
            _ => rows(&self.page(), table.at, &answer.rows, 1, &text),
        };
        let mut page = self.page();
        if path == Path::Either && !table.heap {
            page.check_once(&asked, &found, &text);
        }
        match level {
            Level::Uncommitted => page.check_dirty(&asked, &found, whole, &text),
            _ => {
                page.check_locked(id, since, &asked, &found, &text);
                page.count("rows with locks", found.len());
            }
        }
        if id != ALONE {
            page.check_held(id, &asked, &found, &text);
            page.keep(id, &asked, &found);
        }
        drop(page);
        Some((text, asked, found))
    }

    fn transaction(&mut self, id: i64) {
        let writes = self.r.below(4) > 0;
        let level = self.level(!writes);
        let begun = self.page().begin(id, level, writes);
        let mut own = OwnTransaction {
            id,
            level,
            begun,
            writes,
            visible: None,
            saved: Vec::new(),
            asked: Vec::new(),
        };
        let abort = ["OFF", "ON"][usize::from(self.r.below(4) == 0)];
        let mut text = format!(
            "SET XACT_ABORT {abort}; SET TRANSACTION ISOLATION LEVEL {}; BEGIN TRANSACTION",
            name(level)
        );
        if writes {
            text.push_str(&format!("; INSERT dbo.L (id) VALUES ({id})"));
        }
        let answer = self.send(&text);
        let mut goes_on = answer.error.is_none() && self.take_moment(&mut own);
        for _ in 0..1 + self.r.below(7) {
            if !goes_on {
                break;
            }
            goes_on = self.step(&mut own);
        }
        self.end(&own, goes_on);
    }

    /// Under SNAPSHOT: whose changes its moment shows.
    fn take_moment(&mut self, own: &mut OwnTransaction) -> bool {
        if own.level != Level::Snapshot {
            return true;
        }
        let answer = self.send("SELECT id FROM dbo.L");
        if answer.error.is_some() {
            return false;
        }
        let visible: BTreeSet<i64> = answer.rows.iter().map(|row| whole(&row[0])).collect();
        let mut page = self.page();
        page.check_visible(own.id, &visible, own.begun);
        let of = page.transactions.get_mut(&own.id).expect("it has begun");
        of.visible = Some(visible.clone());
        own.visible = Some(visible);
        true
    }

    /// Whether the transaction goes on after it.
    fn step(&mut self, own: &mut OwnTransaction) -> bool {
        match self.r.below(12) {
            0 if own.writes => self.save(own),
            1 if own.writes && !own.saved.is_empty() => self.undo(own),
            2..=7 if own.writes => self.change(own),
            2 | 3 if !own.asked.is_empty() => self.again(own),
            _ => self.look(own),
        }
        self.session.is_some() && self.is_open()
    }

    fn is_open(&mut self) -> bool {
        let text = "SELECT @@TRANCOUNT";
        let session = self.session.as_mut().expect("it is here");
        let heard = Response::ask(session, text);
        if !heard.goes_on || heard.error().is_some() {
            self.session = None;
            return false;
        }
        whole(&heard.rows[0][0]) > 0
    }

    fn look(&mut self, own: &mut OwnTransaction) {
        match own.level {
            Level::Snapshot => self.moment(Some(own)),
            Level::Committed if self.statement_versions => self.moment_of_statement(own),
            level => {
                let read = self.read(own.id, level);
                let stays = matches!(level, Level::Repeatable | Level::Serializable);
                own.asked.extend(read.filter(|_| stays));
            }
        }
    }

    /// Under READ COMMITTED each statement has a moment, and shows what its transaction did.
    fn moment_of_statement(&mut self, own: &OwnTransaction) {
        let since = self.page().tick();
        let now = OwnTransaction {
            begun: since,
            saved: Vec::new(),
            asked: Vec::new(),
            visible: None,
            ..*own
        };
        self.moment(Some(&now));
    }

    /// Asks again what must be as it was; under REPEATABLE READ there may be more.
    fn again(&mut self, own: &OwnTransaction) {
        let at = self.r.below(own.asked.len() as u64) as usize;
        let (text, asked, first) = &own.asked[at];
        let answer = self.send(text);
        if answer.error.is_some() {
            return;
        }
        let mut page = self.page();
        let found = rows(&page, asked.table, &answer.rows, 1, text);
        page.check_held(own.id, asked, &found, text);
        let (was, is): (BTreeSet<_>, BTreeSet<_>) =
            (first.iter().copied().collect(), found.iter().copied().collect());
        let stays = match own.level {
            Level::Serializable => was == is,
            _ => was.is_subset(&is),
        };
        if !stays {
            page.fail(None, &format!("{} {text}: was {was:?} and is {is:?}", own.id));
        }
        page.count("reads again", was.len());
    }

    fn save(&mut self, own: &mut OwnTransaction) {
        let name = format!("s{}", self.r.below(3));
        let held = self.page().held(own.id);
        let tick = self.page().tick();
        let answer = self.send(&format!("SAVE TRANSACTION {name}"));
        if answer.error.is_none() {
            own.saved.push(SavedState { name, tick, held, asked: own.asked.len() });
        }
    }

    fn undo(&mut self, own: &mut OwnTransaction) {
        let at = self.r.below(own.saved.len() as u64) as usize;
        let name = own.saved[at].name.clone();
        // The last of that name is meant.
        let at = own.saved.iter().rposition(|s| s.name == name).expect("it was drawn from them");
        let answer = self.send(&format!("ROLLBACK TRANSACTION {name}"));
        if answer.error.is_none() {
            let saved = &own.saved[at];
            self.page().undo(own.id, saved.tick, saved.held.clone());
            own.asked.truncate(saved.asked);
            own.saved.truncate(at + 1);
        }
    }

    fn change(&mut self, own: &mut OwnTransaction) {
        let table = self.table();
        self.steps += 1;
        let number = own.id * 100 + self.steps % 100;
        let change = story::change(&table, number, &mut self.r);
        let since = {
            let mut page = self.page();
            for (k, removes) in &change.touches {
                page.touch(own.id, (table.at, *k), *removes, number);
            }
            page.tick()
        };
        let answer = self.send(&change.text);
        own.asked.clear();
        own.saved.iter_mut().for_each(|s| s.asked = 0);
        let change = SentChange { own, table: table.at, since, change };
        change.check(&mut self.page(), &answer);
    }

    /// Commits or rolls back, or learns what became of it.
    fn end(&mut self, own: &OwnTransaction, goes_on: bool) {
        let commits = goes_on && self.r.below(5) > 0;
        if commits {
            self.page().ask(own.id);
        }
        if self.session.is_some() {
            match commits {
                true => self.send("COMMIT TRANSACTION"),
                false => self.send("IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION"),
            };
        }
        let there = commits && (self.session.is_some() || self.is_there(own));
        let fate = if there { Fate::Committed } else { Fate::RolledBack };
        self.page().end(own.id, fate);
    }

    /// Whether a commit that was not answered is there.
    fn is_there(&mut self, own: &OwnTransaction) -> bool {
        if !own.writes {
            return false;
        }
        let of = format!("dbo.L WITH (READCOMMITTEDLOCK) WHERE id = {}", own.id);
        loop {
            self.come();
            let answer = self.send(&format!("SELECT id FROM {of}"));
            if answer.error.is_none() && self.session.is_some() {
                return !answer.rows.is_empty();
            }
        }
    }
}

/// A change that was sent.
struct SentChange<'a> {
    own: &'a OwnTransaction,
    table: usize,
    since: u64,
    change: Change,
}

impl SentChange<'_> {
    fn check(&self, page: &mut Pages, answer: &Answer) {
        let SentChange { own, table, since, change } = self;
        let (id, what) = (own.id, change.text.as_str());
        if let Some(error) = answer.error {
            if let (true, Effect::Insert(k, _)) = (DUPLICATE.contains(&error), &change.effect) {
                page.check_duplicate(id, *since, (*table, *k), what);
            }
            return;
        }
        match &change.effect {
            Effect::Insert(k, row) => {
                if answer.count != 1 {
                    page.fail(Some((*table, *k)), &format!("{what}: {} rows", answer.count));
                }
                page.note(id, (*table, *k), Some(None), Some(*row));
            }
            Effect::One(k, now) => {
                if answer.count == 1 {
                    now.iter().for_each(|(k, row)| page.note(id, (*table, *k), None, *row));
                } else {
                    self.missed(page, *k);
                }
            }
            Effect::Told(asked) => self.told(page, asked, answer),
        }
    }

    /// No row had the key.
    fn missed(&self, page: &mut Pages, k: i64) {
        let key = (self.table, k);
        let (own, what) = (self.own, self.change.text.as_str());
        match &own.visible {
            Some(visible) => {
                let asked =
                    ReadRequest { table: self.table, keys: (k, k), lengths: book::ALL, u: None };
                page.check_moment(own.id, visible, &asked, &[], what);
            }
            None => page.check_missed(own.id, self.since, key, what),
        }
    }

    /// It found what a read finds, and says what it made of that.
    fn told(&self, page: &mut Pages, asked: &ReadRequest, answer: &Answer) {
        let (own, what) = (self.own, self.change.text.as_str());
        let before: Vec<(i64, Row)> = answer.rows.iter().map(|row| of(&row[..4])).collect();
        match &own.visible {
            Some(visible) => page.check_moment(own.id, visible, asked, &before, what),
            None => page.check_locked(own.id, self.since, asked, &before, what),
        }
        if before.is_empty() && asked.keys.0 == asked.keys.1 && asked.whole() {
            self.missed(page, asked.keys.0);
        }
        page.check_held(own.id, asked, &before, what);
        for (row, (k, was)) in answer.rows.iter().zip(&before) {
            let now = row.get(4..).filter(|now| now.len() == 4).map(of);
            page.note(own.id, (self.table, *k), Some(Some(*was)), now.map(|(_, row)| row));
        }
    }
}

fn name(level: Level) -> &'static str {
    match level {
        Level::Uncommitted => "READ UNCOMMITTED",
        Level::Committed => "READ COMMITTED",
        Level::Repeatable => "REPEATABLE READ",
        Level::Serializable => "SERIALIZABLE",
        Level::Snapshot => "SNAPSHOT",
    }
}

/// k, u, v, n.
fn of(values: &[Value]) -> (i64, Row) {
    let [k, u, v, n] = values else { panic!("no row is so: {values:?}") };
    (whole(k), Row { u: whole(u), v: whole(v), n: whole(n) })
}

/// Rows of a tag; each has its own filler.
pub(crate) fn rows(
    page: &Pages,
    table: usize,
    answer: &[Vec<Value>],
    tag: i64,
    what: &str,
) -> Vec<(i64, Row)> {
    let of_tag = answer.iter().filter(|row| whole(&row[0]) == tag);
    let parsed = of_tag.map(|row| {
        let (k, found) = of(&row[1..5]);
        if let Value::Char(filler) = &row[5] {
            let letter = story::letter(found.v) as u8;
            let own = filler.len() as i64 == found.n && filler.iter().all(|b| *b == letter);
            if !own {
                let row = short(row);
                let text = format!("{what}: the filler of {k} is of another value: {row}");
                page.fail(Some((table, k)), &text);
            }
        }
        (k, found)
    });
    parsed.collect()
}

/// Rows whose columns may come from different states.
fn loose(answer: &Answer) -> Vec<(i64, Row)> {
    answer.rows.iter().map(|row| of(&row[1..5])).collect()
}

/// A row as a line of the history has it.
fn short(row: &[Value]) -> String {
    let word = |value: &Value| match value {
        Value::Char(text) => format!("'{}'", text.len()),
        other => other.to_string(),
    };
    format!("({})", row.iter().map(word).collect::<Vec<_>>().join(" "))
}
