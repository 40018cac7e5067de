//! How long choosing takes: statements under RECOMPILE in a loop, less the same loop with kept
//! plans. Parsing is not in it; binding is.

use super::shops;
use crate::ground::figure::Figure;
use crate::ground::program::Ground;
use checks::Outcome;
use std::fmt::Write as _;
use std::path::Path;

const OLTP: &str = "SELECT @c = COUNT(*) FROM Purchase p JOIN Customer c ON c.id = p.customer_id \
                    JOIN City t ON t.id = c.city_id WHERE p.id = @i";
const TABLES: usize = 20;

/// Each table refers to the next.
fn chain() -> String {
    let mut text = String::from("SELECT @c = COUNT(*) FROM Product t0");
    for n in 1..TABLES {
        let _ = write!(text, " JOIN Product t{n} ON t{n}.id = t{}.category_id", n - 1);
    }
    text + " WHERE t0.id = @i"
}

/// All are equal in one column.
fn clique() -> String {
    let mut text = String::from("SELECT @c = COUNT(*) FROM Category t0");
    for n in 1..TABLES {
        let _ = write!(text, " JOIN Category t{n} ON t{n}.id = t{}.id", n - 1);
    }
    text
}

/// A star whose arms are columns of their own.
fn star() -> String {
    let mut text = String::from("SELECT @c = COUNT(*) FROM Line t0");
    for n in 1..TABLES {
        let column = ["product_id", "quantity", "discount", "n"][n % 4];
        let _ = write!(text, " JOIN Product t{n} ON t{n}.id = t0.{column} + {n}");
    }
    text + " WHERE t0.purchase_id = @i"
}

pub(crate) fn judge(ground: &Ground<'_>, work: &Path, data: &Path) -> Outcome<Vec<Figure>> {
    let cases: [(&str, &str, usize, f64); 4] = [
        ("three tables by key", OLTP, 2000, 0.3),
        ("a chain of twenty tables", &chain(), 20, 200.0),
        ("twenty tables, all equal in one column", &clique(), 20, 200.0),
        ("a star of twenty tables", &star(), 20, 200.0),
    ];
    let mut script = String::from("SET NOCOUNT ON;\nGO\n");
    for (n, (_, text, times, _)) in cases.iter().enumerate() {
        for (m, option) in ["", " OPTION (RECOMPILE)"].iter().enumerate() {
            let _ = writeln!(
                script,
                "DECLARE @i int = 1, @c int, @t datetime2 = SYSDATETIME();\n\
                 WHILE @i <= {times} BEGIN {text}{option}; SET @i += 1 END;\n\
                 SELECT 'took', {n}, {m}, DATEDIFF(microsecond, @t, SYSDATETIME());\nGO"
            );
        }
    }
    let finished = shops::run(ground, (work, data), "choosing", &script)?;
    let took = finished.rows("took");
    let mut figures = Vec::new();
    for (n, (what, _, times, limit)) in cases.iter().enumerate() {
        let of = |m: i64| {
            let row = took.iter().find(|r| r[..2] == [n as i64, m]);
            row.map(|r| r[2] as f64).ok_or_else(|| format!("{what} was not measured"))
        };
        let ms = (of(1)? - of(0)?) / 1000.0 / *times as f64;
        figures.push(Figure {
            what: format!("choosing a plan for {what}, ms"),
            figure: format!("{ms:.3}"),
            limit: format!("at most {limit}"),
            pass: ms <= *limit,
        });
    }
    Ok(figures)
}
