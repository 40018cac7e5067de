//! Runs a workload of `bench/` and takes over its figures.

use crate::ground::figure::{Figure, failed};
use crate::ground::program::Ground;
use checks::{Outcome, process};

/// Builds `bench` and runs it on the binary under proof; what it measured is printed as it comes.
pub(crate) fn figures(ground: &Ground<'_>, workload: &[&str]) -> Outcome<Vec<Figure>> {
    let binary = ground.binary()?;
    let folder = ground.folder("bench")?;
    let mut command = process::cargo(
        ground.workspace,
        &["run", "--quiet", "--locked", "--release", "--package", "bench", "--"],
    );
    command.arg("--binary").arg(binary).arg("--folder").arg(folder).args(workload);
    let done = command.output().map_err(|e| format!("run bench: {e}"))?;
    let said = String::from_utf8_lossy(&done.stdout);
    let (figures, measured): (Vec<&str>, Vec<&str>) =
        said.lines().partition(|line| line.starts_with("figure\t"));
    measured.iter().for_each(|line| println!("        {line}"));
    if !done.status.success() {
        return Err(String::from_utf8_lossy(&done.stderr).trim().to_owned());
    }
    figures.into_iter().map(parse).collect()
}

/// The same; a workload that could not be measured is a figure that fails, so that others are told.
pub(crate) fn figures_or_why(ground: &Ground<'_>, workload: &[&str]) -> Vec<Figure> {
    figures(ground, workload).unwrap_or_else(|why| vec![failed(&workload.join(" "), why)])
}

/// `figure, verdict, what, figure, limit`, parted by tabulators.
fn parse(line: &str) -> Outcome<Figure> {
    let parts: Vec<&str> = line.split('\t').collect();
    let [_, verdict, what, figure, limit] = parts[..] else {
        return Err(format!("bench says {line}"));
    };
    Ok(Figure {
        what: what.to_owned(),
        figure: figure.to_owned(),
        limit: limit.to_owned(),
        pass: verdict == "pass",
    })
}

#[cfg(test)]
mod tests {
    /// A line that is cut is no figure, and only `pass` passes.
    #[test]
    fn figures_are_read_whole() {
        let figure = super::parse("figure\tpass\twork\t1.80\tat least 1.7").expect("a figure");
        assert!(figure.pass && figure.what == "work" && figure.limit == "at least 1.7");
        assert!(!super::parse("figure\tFAIL\twork\t1.2\t1.7").expect("a figure").pass);
        assert!(super::parse("figure\tpass\twork").is_err());
    }
}
