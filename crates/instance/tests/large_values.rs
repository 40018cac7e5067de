//! Values, documents, trees and fetched rows are counted: what would take a gigabyte ends with 701,
//! the process stays near its limit, and the session goes on.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod heard;

use heard::Response;
use instance::{Instance, InstanceOptions};
use os::disk::RealDisk;
use os::sync::Mutex;
use session::{Login, Session};
use std::sync::Arc;
use types::Value;

/// As the binary's does: the engine knows what is on the heap.
#[global_allocator]
static ALLOCATOR: os::heap::CountingAllocator<std::alloc::System> =
    os::heap::CountingAllocator(std::alloc::System);

const LIMIT_BYTES: usize = 64 << 20;
/// Beside the limit: the program, its threads, copies on their way from one place to another.
const BESIDE_BYTES: usize = 96 << 20;

/// The process's memory is one test's at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// 131,072 rows of 8,000 characters.
const SCHEMA: &str = "create table n (id int not null primary key, c char(80) not null);
    insert n select a.number * 64 + b.number, replicate('x', 80)
    from master..spt_values a cross join master..spt_values b
    where a.type = 'P' and b.type = 'P' and b.number < 64";
const LONG: &str = "replicate(cast(c as varchar(max)), 100)";

/// Forgets how much memory the tests before had.
fn forget_resident_bytes() {
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
}

/// The most memory that the process had since.
fn resident_bytes_max() -> usize {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|l| l.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
}

fn ask(session: &mut Session, text: &str) -> Result<Vec<Vec<Value>>, i32> {
    let heard = Response::ask(session, text);
    assert!(heard.goes_on, "{text}");
    heard.error().map_or(Ok(()), |e| Err(e.number()))?;
    Ok(heard.rows)
}

/// What would take a gigabyte, and the same as far as there is room.
fn questions() -> Vec<(String, Option<String>)> {
    let of = |what: &str| {
        let all = what.replace("LONG", LONG);
        let some = all.replace("from n", "from n where id < 200");
        (all, Some(some))
    };
    let alone = |what: &str| (what.to_owned(), None);
    let of_text = |what: &str| {
        let text = |length: u32| {
            format!(
                "declare @x varchar(max) = replicate(cast('x' as varchar(max)), {length});
                 select {what}"
            )
        };
        (text(16_000_000), Some(text(500_000)))
    };
    vec![
        of("select len(string_agg(LONG, ',')) from n"),
        of("select len(string_agg(LONG, ',') within group (order by id desc)) from n"),
        of("select max(len(s)) from (select string_agg(LONG, ',') s from n group by id % 4) x"),
        of("select len((select LONG as a from n for xml path))"),
        of("select len((select LONG as a from n for json path))"),
        of("select LONG as a from n for xml raw, root('r')"),
        of("select LONG as a from n for json auto"),
        of("select 1 tag, null parent, LONG as [a!1!b] from n for xml explicit"),
        alone("declare @x xml = replicate(cast('<a/>' as varchar(max)), 3000000)"),
        alone("select try_cast(replicate(cast('<a/>' as varchar(max)), 3000000) as xml)"),
        alone(
            "declare @x xml = '<a/>';
             select @x.query('for $i in (1,2,3,4,5,6,7,8,9,10), $j in (1,2,3,4,5,6,7,8,9,10), \
             $k in (1,2,3,4,5,6,7,8,9,10), $l in (1,2,3,4,5,6,7,8,9,10), \
             $m in (1,2,3,4,5,6,7,8,9,10), $n in (1,2,3,4,5,6,7,8,9,10), \
             $o in (1,2,3,4) return <b c=\"{$i}\">{$m}</b>')",
        ),
        alone(
            "declare @x varchar(max) = 'a', @i int = 0;
             while @i < 32 begin set @x = @x + @x; set @i += 1 end",
        ),
        alone("select len(replicate(cast('x' as varchar(max)), 2000000000))"),
        of_text("len(@x + @x + @x)"),
        of_text("len(cast(@x as nvarchar(max)))"),
        of_text("len(convert(varchar(max), cast(@x as varbinary(max)), 1))"),
        of_text("len(replace(@x, 'x', 'yyyy'))"),
        of_text("len(stuff(stuff(@x, 1, 1, @x), 1, 1, @x))"),
        of_text("len(concat_ws(@x, @x, @x))"),
        of_text("len(string_escape(replace(@x, 'x', char(1)), 'json'))"),
        of_text("len(json_modify('{}', '$.a', @x))"),
        of_text("len((select @x as a, @x as b for json path))"),
        alone(
            "declare @b varbinary(max) =
                 compress(replicate(cast('x' as varchar(max)), 8000000));
             select datalength(decompress(@b + @b + @b + @b + @b + @b + @b + @b + @b + @b))",
        ),
        alone(
            "declare @a varchar(max) = replicate(cast('x' as varchar(max)), 8000000);
             declare @b varchar(max) = reverse(@a), @c varchar(max) = reverse(@a);
             declare @d varchar(max) = reverse(@b), @e varchar(max) = reverse(@c);
             select len(@d + @e)",
        ),
        alone(
            "declare @t nvarchar(max) = N'select 1';
             set @t += replicate(cast(N';select 1' as nvarchar(max)), 600000);
             exec (@t)",
        ),
        // An updatable cursor whose fetch buffer would hold everything.
        alone(
            "declare @h int, @s int = 1, @c int = 4, @r int = 0;
             exec sp_cursoropen @h output, N'select id, replicate(c, 100) as s from n', @s output, \
             @c output, @r output;
             exec sp_cursorfetch @h, 2, 0, 131072",
        ),
    ]
}

/// What would be too long whatever memory there is fails before it is made.
#[test]
fn what_passes_two_gigabytes_is_7119() {
    let _alone = ALONE.lock();
    forget_resident_bytes();
    let folder = std::env::temp_dir().join(format!("ghostlight-long-{}", std::process::id()));
    let instance = Instance::open(Arc::new(RealDisk), &folder, InstanceOptions::default()).unwrap();
    let mut session = instance.connect(Login::default()).unwrap();
    let text = "replicate(cast('x' as varchar(max)), 1000000)";
    for too_long in [
        "select len(replicate(cast('x' as varchar(max)), 2147483648))",
        &format!("select len(replicate({text}, 2148))"),
        "select len(replicate(cast(N'x' as nvarchar(max)), 1073741824))",
    ] {
        assert_eq!(ask(&mut session, too_long).err(), Some(7119), "{too_long}");
    }
    drop(session);
    instance.stop().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
}

/// 2,000 cursors over some rows each go to the disk where memory is short.
#[test]
fn cursors_that_are_open_stay_within_the_limit() {
    let _alone = ALONE.lock();
    forget_resident_bytes();
    let folder = std::env::temp_dir().join(format!("ghostlight-cursors-{}", std::process::id()));
    let options = InstanceOptions { max_memory_bytes: LIMIT_BYTES, ..InstanceOptions::default() };
    let instance = Instance::open(Arc::new(RealDisk), &folder, options).unwrap();
    let mut session = instance.connect(Login::default()).unwrap();
    let opened = "declare @i int = 0, @s nvarchar(max);
        while @i < 2000 begin
            set @s = concat('declare c', @i, ' cursor global static for select top 200
                replicate(''x'', 300) x from master..spt_values; open c', @i);
            exec (@s); set @i += 1
        end";
    assert_eq!(ask(&mut session, opened), Ok(Vec::new()));
    let read = "fetch last from c1999";
    assert_eq!(ask(&mut session, read).unwrap(), [[Value::varchar(&"x".repeat(300))]]);
    let most = resident_bytes_max();
    assert!(most < LIMIT_BYTES + BESIDE_BYTES, "{} MB", most >> 20);
    drop(session);
    instance.stop().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_is_too_large_ends_with_701_and_the_process_stays_within_its_limit() {
    let _alone = ALONE.lock();
    forget_resident_bytes();
    let folder = std::env::temp_dir().join(format!("ghostlight-large-{}", std::process::id()));
    let options = InstanceOptions { max_memory_bytes: LIMIT_BYTES, ..InstanceOptions::default() };
    let instance = Instance::open(Arc::new(RealDisk), &folder, options).unwrap();
    let mut session = instance.connect(Login::default()).unwrap();
    assert_eq!(ask(&mut session, SCHEMA), Ok(Vec::new()));
    let values = || {
        let clerks = instance.memory().snapshot();
        clerks.iter().find(|c| c.0 == "OBJECTSTORE_LBSS").map_or(0, |c| c.1)
    };
    for (too_much, enough) in questions() {
        assert_eq!(ask(&mut session, &too_much).err(), Some(701), "{too_much}");
        assert_eq!(ask(&mut session, "select 1"), Ok(vec![vec![Value::Int(1)]]));
        if too_much.contains("sp_cursoropen") {
            // An open cursor keeps its keys until its session ends.
            session = instance.connect(Login::default()).unwrap();
        }
        assert_eq!(values(), 0, "nothing stays charged: {too_much}");
        if let Some(enough) = enough {
            assert!(ask(&mut session, &enough).is_ok(), "{enough}");
        }
        let most = resident_bytes_max();
        assert!(most < LIMIT_BYTES + BESIDE_BYTES, "{} MB: {too_much}", most >> 20);
    }
    drop(session);
    instance.stop().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
}
