//! 3.1, values in accounts: statements that would take gigabytes, each in a process of its own
//! under `--max-memory 256MB`, and the same where the system allows few addresses. What counts is
//! the most memory that the process ever had, the errors, and that the session goes on.

use crate::ground::figure::Figure;
use crate::ground::program::{FinishedRun, Ground, empty, finish};
use checks::Outcome;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// The limit, and what the process has beside it: its program, threads, copies on their way.
const PEAK_KB_MAX: u64 = 400 << 10;
/// Addresses that the system allows: some gigabytes are reserved for pages, and cost nothing.
const ADDRESSES_KB: u64 = 7 << 20;
const AT_MOST: Duration = Duration::from_secs(120);
/// What tells that the session has gone on.
const ALIVE: &str = "it goes on";

/// A statement, and the errors that it may end with; none: it must answer.
struct Case {
    name: &'static str,
    text: &'static str,
    errors: &'static [i32],
}

const fn case(name: &'static str, text: &'static str, errors: &'static [i32]) -> Case {
    Case { name, text, errors }
}

const X60: &str = "declare @x varchar(max) = replicate(cast('x' as varchar(max)), 60000000);";

const CASES: &[Case] = &[
    case(
        "a text doubled 32 times",
        "declare @x varchar(max) = 'a', @i int = 0;
         while @i < 32 begin set @x = @x + @x; set @i += 1 end",
        &[701],
    ),
    case(
        "REPLICATE past 2 GB",
        "select len(replicate(cast('x' as varchar(max)), 2147483648))",
        &[7119],
    ),
    case("REPLICATE", "select len(replicate(cast('x' as varchar(max)), 2000000000))", &[701]),
    case("+", "X60 select len(@x + @x + @x + @x)", &[701]),
    case("CONVERT to nvarchar", "X60 select len(cast(@x as nvarchar(max)))", &[701]),
    case(
        "CONVERT in hexadecimal",
        "X60 select len(convert(varchar(max), cast(@x as varbinary(max)), 1))",
        &[701],
    ),
    case("CONVERT that fails", "X60 select cast(@x as int)", &[245, 701]),
    case(
        "STRING_AGG",
        "select len(string_agg(replicate(cast('x' as varchar(max)), 1000000), ','))
         from generate_series(1, 3000)",
        &[701],
    ),
    case(
        "FOR XML",
        "select len((select replicate(cast('<' as varchar(max)), 1000000) a
                     from generate_series(1, 3000) for xml path))",
        &[701],
    ),
    case(
        "FOR JSON",
        "select len((select replicate(cast('\"' as varchar(max)), 60000000) a for json path))",
        &[701],
    ),
    case(
        "OPENJSON",
        "declare @j nvarchar(max) = '[' + replicate(cast('1,' as nvarchar(max)), 20000000) + '1]';
         select count(*) from openjson(@j)",
        &[701],
    ),
    case(
        "STRING_SPLIT",
        "select count(*) from string_split(replicate(cast('a,' as varchar(max)), 100000000), ',')",
        &[701],
    ),
    case(
        "a tree of XML",
        "declare @x xml = cast('<r>' + replicate(cast('<a/>' as varchar(max)), 20000000) + '</r>'
         as xml)",
        &[701],
    ),
    case(
        "DECOMPRESS",
        "declare @b varbinary(max) =
             compress(replicate(cast('x' as varchar(max)), 50000000));
         declare @c varbinary(max) = @b+@b+@b+@b+@b+@b+@b+@b+@b+@b;
         select datalength(decompress(@c + @c + @c + @c))",
        &[701],
    ),
    case(
        "REPLACE",
        "select len(replace(replicate(cast('x' as varchar(max)), 10000000), 'x',
                            replicate('y', 200)))",
        &[701],
    ),
    case("STUFF", "X60 select len(stuff(@x, 1, 1, @x))", &[701]),
    case("TRANSLATE", "X60 select len(translate(@x, 'xyz', 'abc'))", &[701]),
    case("CONCAT_WS", "X60 select len(concat_ws(@x, @x, @x, @x))", &[701]),
    case("FORMATMESSAGE", "X60 select len(formatmessage('%s%s', @x, @x))", &[]),
    case("HASHBYTES", "X60 select hashbytes('SHA2_256', @x)", &[]),
    case(
        "STRING_ESCAPE",
        "select len(string_escape(replicate(cast('\"' as varchar(max)), 60000000), 'json'))",
        &[701],
    ),
    case(
        "JSON_MODIFY",
        "declare @j nvarchar(max) =
             '{\"a\":\"' + replicate(cast('x' as nvarchar(max)), 15000000) + '\"}';
         select len(json_modify(@j, '$.b', @j))",
        &[701],
    ),
    case(
        "variables",
        "declare @a varchar(max) = replicate(cast('x' as varchar(max)), 30000000);
         declare @b varchar(max) = reverse(@a), @c varchar(max) = reverse(@a) + 'c';
         declare @d varchar(max) = @b + @c, @e varchar(max) = @c + @b, @f varchar(max) = @b + @b;
         select len(@d + @e + @f)",
        &[701],
    ),
    case(
        "a table variable",
        "declare @t table (v varchar(max));
         insert @t select replicate(cast('x' as varchar(max)), 100000)
         from generate_series(1, 5000)",
        &[],
    ),
    case(
        "sql_variant",
        "declare @t table (v sql_variant);
         insert @t select replicate('x', 8000) from generate_series(1, 20000);
         select count(*), max(datalength(v)) from @t",
        &[],
    ),
    case("PRINT and RAISERROR", "X60 print @x; raiserror(@x, 10, 1)", &[]),
    case(
        "a batch of 5 million statements",
        "declare @x nvarchar(max) =
             'select 1 ' + replicate(cast(';select 1' as nvarchar(max)), 5000000);
         exec(@x)",
        &[701],
    ),
    case(
        "5,000 open cursors",
        "declare @i int = 0, @s nvarchar(max);
         while @i < 5000 begin
             set @s = concat('declare c', @i, ' cursor global static for select top 300
                 replicate(''x'', 300) x from master..spt_values; open c', @i);
             exec(@s); set @i += 1
         end",
        &[],
    ),
    case(
        "100,000 prepared statements",
        "declare @i int = 0, @h int, @s nvarchar(max);
         while @i < 100000 begin
             set @s = concat('select ', @i, ' a where 1 = ', @i);
             exec sp_prepare @h output, N'', @s; set @i += 1
         end",
        &[],
    ),
];

/// Statements whose allocations would end a process that has few addresses.
const WITH_FEW_ADDRESSES: &[&str] =
    &["a text doubled 32 times", "REPLICATE", "STRING_AGG", "DECOMPRESS"];

/// What is not too large for 256 MB alone, but for the addresses that there are.
const FOR_FEW_ADDRESSES: &[Case] = &[case(
    "a tree of XML of 80,000,000 nodes",
    "declare @x xml = cast('<r>' + replicate(cast('<a/>' as varchar(max)), 80000000) + '</r>'
     as xml)",
    &[701],
)];

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let work = ground.folder("truth.3.1.memory")?;
    let binary = ground.binary()?;
    let mut figures = Vec::new();
    for case in CASES {
        let few = WITH_FEW_ADDRESSES.contains(&case.name);
        figures.push(measured(case, &binary, &work, false));
        if few {
            figures.push(measured(case, &binary, &work, true));
        }
    }
    let large = FOR_FEW_ADDRESSES.iter().map(|case| measured(case, &binary, &work, true));
    figures.extend(large);
    Ok(figures)
}

/// A case, with few addresses or as many as it wants. Those have no `--max-memory` that helps.
fn measured(case: &Case, binary: &Path, work: &Path, few: bool) -> Figure {
    let what = if few { format!("{}, few addresses", case.name) } else { case.name.to_owned() };
    let peak_kb_max = if few { ADDRESSES_KB } else { PEAK_KB_MAX };
    let limit = format!("{}, at most {} MB", expected(case), peak_kb_max >> 10);
    let from = Instant::now();
    let finished = match script(case, work).and_then(|sql| told(binary, &sql, work, few)) {
        Ok(finished) => finished,
        Err(figure) => return Figure { what, figure, limit, pass: false },
    };
    let errors = errors_of(&finished.output);
    let right = if case.errors.is_empty() {
        errors.is_empty()
    } else {
        !errors.is_empty() && errors.iter().all(|number| case.errors.contains(number))
    };
    let alive = finished.succeeded && finished.output.contains(ALIVE);
    let numbers: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let figure = format!(
        "{} MB, {}, {:.1} s{}",
        finished.peak_kb >> 10,
        if numbers.is_empty() { "no error".to_owned() } else { numbers.join(" ") },
        from.elapsed().as_secs_f64(),
        if alive { "" } else { ", and it does not go on" }
    );
    Figure { what, figure, limit, pass: right && alive && finished.peak_kb <= peak_kb_max }
}

fn expected(case: &Case) -> String {
    match case.errors {
        [] => "no error".to_owned(),
        numbers => numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or "),
    }
}

/// The case as a file: a batch, and one behind it.
fn script(case: &Case, work: &Path) -> Outcome<PathBuf> {
    let path = work.join("case.sql");
    let text = case.text.replace("X60", X60);
    let text = format!("set nocount on\n{text}\nGO\nselect '{ALIVE}'\nGO\n");
    std::fs::write(&path, text).map_err(|e| format!("write {}: {e}", path.display()))?;
    Ok(path)
}

fn told(binary: &Path, sql: &Path, work: &Path, few: bool) -> Outcome<FinishedRun> {
    let data = work.join("data");
    empty(&data)?;
    let mut command = if few {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -v {ADDRESSES_KB}; exec \"$@\""), "sh"]).arg(binary);
        shell
    } else {
        Command::new(binary)
    };
    command.args(["sql", "-W", "--data"]).arg(&data).arg("-i").arg(sql);
    // With few addresses these end, not what the engine may use.
    command.args(["--max-memory", if few { "16GB" } else { "256MB" }]);
    finish(command, &work.join("output"), AT_MOST)
}

/// The numbers of the errors that an output tells.
fn errors_of(output: &str) -> BTreeSet<i32> {
    let told = output.split("Msg ").skip(1);
    let number = |text: &str| text.split(',').next()?.parse().ok();
    told.filter_map(number).filter(|number| *number != 50_000).collect()
}

#[cfg(test)]
mod tests {
    use super::{CASES, WITH_FEW_ADDRESSES, errors_of};

    /// Errors are found in what the shell prints, and every case that is named is there.
    #[test]
    fn errors_are_found_and_cases_named() {
        let told = "Msg 701, Level 17, State 1\nMsg 701, Level 17\nMsg 7119, Level 16";
        assert_eq!(errors_of(told).into_iter().collect::<Vec<_>>(), [701, 7119]);
        assert!(errors_of("no message").is_empty());
        assert!(WITH_FEW_ADDRESSES.iter().all(|name| CASES.iter().any(|case| case.name == *name)));
    }
}
