//! Runs of the judge of answers, and the numbers of its last line.

use crate::ground::figure::Figure;
use checks::Outcome;
use std::collections::BTreeMap;
use std::process::Command;

/// Runs the judge and reads its last line; what it found and what was refused is printed.
pub(crate) fn report(mut command: Command) -> Outcome<BTreeMap<String, u64>> {
    let done = command.output().map_err(|e| format!("run the judge: {e}"))?;
    let said = String::from_utf8_lossy(&done.stdout);
    let Some((before, last)) = said.trim_end().rsplit_once('\n').or(Some(("", said.trim_end())))
    else {
        return Err("the judge says nothing".to_owned());
    };
    before.lines().for_each(|line| println!("        {line}"));
    let mut numbers = BTreeMap::new();
    let mut name = String::new();
    for word in last.split(' ') {
        match word.parse() {
            Ok(n) => {
                numbers.insert(std::mem::take(&mut name), n);
            }
            Err(_) if name.is_empty() => word.clone_into(&mut name),
            Err(_) => name = format!("{name} {word}"),
        }
    }
    if !numbers.contains_key("findings") {
        let trouble = String::from_utf8_lossy(&done.stderr);
        return Err(format!("{last}\n{trouble}"));
    }
    Ok(numbers)
}

/// A number of the judge's last line, judged.
pub(crate) fn figure(
    what: &str,
    said: &BTreeMap<String, u64>,
    name: &str,
    holds: impl Fn(u64) -> bool,
    limit: &str,
) -> Figure {
    let n = said.get(name).copied();
    Figure {
        what: what.to_owned(),
        figure: n.map_or("not said".to_owned(), |n| n.to_string()),
        limit: limit.to_owned(),
        pass: n.is_some_and(holds),
    }
}
