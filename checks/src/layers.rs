//! `layers`: the crates' dependencies against layers.toml; against ratchet.toml circles of files in
//! each crate (`circles`), files that name a physical operator (`operators`), and types that only
//! their owner names (`border`).
//!
//! Rules
//!  1. Each crate stands on one floor; a crate of the workspace that is not listed fails.
//!  2. The file itself is ordered: a crate may name only crates listed before it.
//!  3. Normal and build dependencies name only what `may_name` allows. Tests may in addition
//!     name `sim` and anything on their own floor or below.
//!  4. `must_not_reach` holds over every path, of the edges allowed and of those that exist.
//!
//! A crate that is listed and does not exist yet is fine.

use crate::border::{self, NamingFiles};
use crate::circles::{self, Circles};
use crate::count::Count;
use crate::operators::{self, Operators};
use crate::process;
use crate::ratchet::Ratchet;
use crate::survey::Survey;
use crate::workspace::{Outcome, Violation, Workspace, report};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What `cargo xtask layers` can be told.
#[derive(clap::Args, Default)]
pub struct Options {
    /// Name all files of each large circle, and whom of it each names
    #[arg(long)]
    circles: bool,
    /// Name the files that name a type beyond its owner
    #[arg(long)]
    border: bool,
}

type Edges = BTreeMap<String, Vec<String>>;

/// layers.toml.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Layers {
    floors: BTreeMap<String, Vec<String>>,
    may_name: Edges,
    must_not_reach: Edges,
    exempt: Exemption,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exemption {
    crates: Vec<String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
}

impl Layers {
    pub(crate) fn read(workspace: &Workspace) -> Outcome<Layers> {
        let text = workspace.read("layers.toml")?;
        Layers::parse(&text).map_err(|e| format!("layers.toml: {e}"))
    }

    fn parse(text: &str) -> Outcome<Layers> {
        let layers: Layers = toml::from_str(text).map_err(|e| e.to_string())?;
        match layers.floors.keys().find(|floor| floor.parse::<u32>().is_err()) {
            Some(floor) => Err(format!("floor '{floor}' is not a number")),
            None => Ok(layers),
        }
    }

    /// Every listed crate with its floor, in the file's order from the ground up.
    fn listed(&self) -> Vec<(u32, &str)> {
        let mut floors: Vec<(u32, &Vec<String>)> = Vec::new();
        for (floor, crates) in &self.floors {
            floors.push((floor.parse().unwrap_or(u32::MAX), crates));
        }
        floors.sort();
        floors
            .iter()
            .flat_map(|(floor, names)| names.iter().map(|n| (*floor, n.as_str())))
            .collect()
    }

    /// The floor a crate stands on; none for exempt and unknown ones.
    pub(crate) fn floor_of(&self, name: &str) -> Option<u32> {
        self.listed().iter().find(|(_, listed)| *listed == name).map(|(floor, _)| *floor)
    }
}

/// Compares and prints; true where nothing is violated.
///
/// # Errors
/// layers.toml or cargo's metadata cannot be read.
pub fn run(workspace: &Workspace, options: &Options) -> Outcome<bool> {
    let layers = Layers::read(workspace)?;
    let packages = metadata(workspace)?;
    let files = Files::of(workspace, &packages)?;
    circles::print(&files.circles, options.circles);
    operators::print(&files.operators);
    border::print(&files.named, options.border);
    let mut violations = check(workspace, &layers, &packages);
    violations.extend(files.check(&Ratchet::read(workspace)?));
    let passed = format!("{} crates stand where layers.toml puts them", packages.len());
    Ok(report(violations, &passed))
}

/// Every violation of the whole workspace, for the proofs.
pub(crate) fn violations(workspace: &Workspace) -> Outcome<Vec<Violation>> {
    let layers = Layers::read(workspace)?;
    let packages = metadata(workspace)?;
    let mut violations = check(workspace, &layers, &packages);
    let files = Files::of(workspace, &packages)?;
    violations.extend(files.check(&Ratchet::read(workspace)?));
    Ok(violations)
}

/// Counts of circles and operators, for a proof.
pub(crate) fn counts(workspace: &Workspace) -> Outcome<Vec<Count>> {
    let files = Files::of(workspace, &metadata(workspace)?)?;
    let (crates, largest) = circles::counts(&files.circles);
    Ok(vec![
        Count::of("files that name the most named physical operator", files.operators.most()),
        Count::of("crates with a circle of more than 8 files", crates),
        Count::of("files in the largest circle", largest),
    ])
}

/// What files of the workspace name of each other.
struct Files {
    circles: Vec<Circles>,
    operators: Operators,
    named: Vec<NamingFiles>,
}

impl Files {
    fn of(workspace: &Workspace, packages: &[Package]) -> Outcome<Files> {
        let survey = Survey::take(workspace)?;
        let of = |package: &Package| {
            let folder = Path::new(&package.manifest_path).parent().unwrap_or(Path::new(""));
            let folder = folder.strip_prefix(&workspace.root).unwrap_or(folder);
            Circles::of(&package.name, &folder.display().to_string(), &survey.sources)
        };
        let circles = packages.iter().map(of).collect();
        let operators = Operators::of(&survey.sources);
        Ok(Files { circles, operators, named: border::named(&survey.sources) })
    }

    fn check(&self, ratchet: &Ratchet) -> Vec<Violation> {
        let mut violations = circles::check(&self.circles, &ratchet.circle_files);
        violations.extend(operators::check(&self.operators, &ratchet.operator_files));
        violations.extend(border::check(&self.named, &ratchet.named_beyond));
        violations
    }
}

fn metadata(workspace: &Workspace) -> Outcome<Vec<Package>> {
    let arguments = ["metadata", "--format-version", "1", "--no-deps"];
    let output = process::cargo(workspace, &arguments)
        .output()
        .map_err(|e| format!("start cargo metadata: {e}"))?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        return Err(format!("cargo metadata failed:\n{complaint}"));
    }
    let metadata: Metadata = serde_json::from_slice(&output.stdout)
        .map_err(|e| format!("read cargo metadata's answer: {e}"))?;
    Ok(metadata.packages)
}

fn check(workspace: &Workspace, layers: &Layers, packages: &[Package]) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut complain = |path: &str, line: usize, text: String| {
        violations.push(Violation::new(path, line, "layers", text));
    };
    for text in contradictions(layers) {
        complain("layers.toml", 1, text);
    }
    for package in packages {
        let manifest = Path::new(&package.manifest_path);
        let path = manifest.strip_prefix(&workspace.root).unwrap_or(manifest).display().to_string();
        let source = workspace.read(&path).unwrap_or_default();
        for (name, text) in trespasses(layers, package, packages) {
            let line = source.lines().position(|line| line.starts_with(&name)).unwrap_or(0) + 1;
            complain(&path, line, text);
        }
    }
    let actual = edges(packages);
    for (from, to, path) in breaches(&layers.must_not_reach, &actual) {
        complain("layers.toml", 1, format!("{from} must not reach {to}, and does: {path}"));
    }
    violations
}

/// What is wrong with layers.toml alone.
fn contradictions(layers: &Layers) -> Vec<String> {
    let mut found = Vec::new();
    let listed = layers.listed();
    let names: Vec<&str> = listed.iter().map(|(_, name)| *name).collect();
    let place = |name: &str| names.iter().position(|listed| *listed == name);
    for (index, name) in names.iter().enumerate() {
        if place(name) != Some(index) {
            found.push(format!("{name} stands on two floors"));
        }
        if !layers.may_name.contains_key(*name) {
            found.push(format!("{name} has no line in [may_name]"));
        }
    }
    for (name, allowed) in &layers.may_name {
        let Some(own) = place(name) else {
            found.push(format!("[may_name] has a line for {name}, which is on no floor"));
            continue;
        };
        for other in allowed {
            match place(other) {
                None => found.push(format!("{name} may name {other}, which is on no floor")),
                Some(theirs) if theirs >= own => {
                    found.push(format!("{name} may name {other}, which is not below it"));
                }
                Some(_) => {}
            }
        }
    }
    for (name, forbidden) in &layers.must_not_reach {
        for unknown in forbidden.iter().chain([name]).filter(|other| place(other).is_none()) {
            found.push(format!("[must_not_reach] speaks of {unknown}, which is on no floor"));
        }
    }
    for (from, to, path) in breaches(&layers.must_not_reach, &layers.may_name) {
        found.push(format!("{from} must not reach {to}, but [may_name] allows {path}"));
    }
    found
}

/// What one crate names without leave: the name, and the complaint.
fn trespasses(layers: &Layers, package: &Package, all: &[Package]) -> Vec<(String, String)> {
    let name = &package.name;
    if layers.exempt.crates.contains(name) {
        return Vec::new();
    }
    let Some(floor) = layers.floor_of(name) else {
        return vec![("name".to_owned(), format!("{name} is on no floor of layers.toml"))];
    };
    let nothing = Vec::new();
    let allowed = layers.may_name.get(name).unwrap_or(&nothing);
    let mut found = Vec::new();
    for dependency in &package.dependencies {
        let other = &dependency.name;
        let foreign = !all.iter().any(|package| package.name == *other);
        if foreign || allowed.contains(other) {
            continue;
        }
        if dependency.kind.as_deref() == Some("dev") {
            let within = layers.floor_of(other).is_some_and(|theirs| theirs <= floor);
            if !within && other != "sim" {
                found.push((other.clone(), format!("{name}'s tests name {other} from above")));
            }
        } else {
            found.push((other.clone(), format!("{name} names {other}, which it may not")));
        }
    }
    found
}

/// Who names whom in the code that ships.
fn edges(packages: &[Package]) -> Edges {
    let members: BTreeSet<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    let mut edges = Edges::new();
    for package in packages {
        let shipped = package.dependencies.iter().filter(|d| d.kind.as_deref() != Some("dev"));
        let ours = shipped.filter(|d| members.contains(d.name.as_str()));
        edges.insert(package.name.clone(), ours.map(|d| d.name.clone()).collect());
    }
    edges
}

/// Each forbidden pair that `edges` connects, with one path as evidence.
fn breaches(forbidden: &Edges, edges: &Edges) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    for (from, targets) in forbidden {
        let paths = paths_from(from, edges);
        for target in targets {
            if let Some(path) = paths.get(target) {
                found.push((from.clone(), target.clone(), path.clone()));
            }
        }
    }
    found
}

/// Every crate that `from` reaches, with the path that led there.
fn paths_from(from: &str, edges: &Edges) -> BTreeMap<String, String> {
    let mut paths = BTreeMap::new();
    let mut open = vec![(from.to_owned(), from.to_owned())];
    while let Some((name, path)) = open.pop() {
        for next in edges.get(&name).into_iter().flatten() {
            if !paths.contains_key(next) {
                let longer = format!("{path} -> {next}");
                paths.insert(next.clone(), longer.clone());
                open.push((next.clone(), longer));
            }
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "[floors]\n0 = ['base']\n1 = ['page', 'tree']\n2 = ['top']\n\
        [may_name]\nbase = []\npage = ['base']\ntree = ['base', 'page']\ntop = ['tree']\n\
        [must_not_reach]\n[exempt]\ncrates = ['xtask']\n";

    fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Package {
        let dependencies = dependencies.iter().map(|(name, kind)| Dependency {
            name: (*name).to_owned(),
            kind: kind.map(str::to_owned),
        });
        let dependencies = dependencies.collect();
        Package { name: name.to_owned(), manifest_path: String::new(), dependencies }
    }

    /// What a crate may name, in code and in tests; foreign crates are nobody's floor.
    #[test]
    fn trespassing() {
        let layers = Layers::parse(FILE).expect("the file above is well formed");
        let all = ["base", "page", "tree", "top", "xtask", "sim", "stray"];
        let all: Vec<Package> = all.iter().map(|name| package(name, &[])).collect();
        let cases = [
            (package("tree", &[("page", None), ("serde", None)]), 0),
            (package("page", &[("tree", None)]), 1),
            (package("page", &[("tree", Some("build"))]), 1),
            (package("page", &[("tree", Some("dev")), ("sim", Some("dev"))]), 0),
            (package("page", &[("top", Some("dev"))]), 1),
            (package("top", &[("base", None)]), 1),
            (package("stray", &[]), 1),
            (package("xtask", &[("top", None)]), 0),
        ];
        for (package, count) in cases {
            let found = trespasses(&layers, &package, &all);
            assert_eq!(found.len(), count, "{}: {found:?}", package.name);
        }
    }

    /// The file cannot contradict itself.
    #[test]
    fn a_contradictory_file() {
        let cases = [
            (("", ""), ""),
            (("page = ['base']", "page = ['tree']"), "page may name tree, which is not below it"),
            (("page = ['base']\n", ""), "page has no line in [may_name]"),
            (("2 = ['top']", "2 = ['top', 'base']"), "base stands on two floors"),
            (("['tree']\n", "['gone']\n"), "top may name gone, which is on no floor"),
            (
                ("[must_not_reach]", "[must_not_reach]\ntop = ['base']"),
                "top must not reach base, but [may_name] allows top -> tree -> base",
            ),
        ];
        for ((old, new), complaint) in cases {
            let layers = Layers::parse(&FILE.replace(old, new)).expect("still well formed");
            let found = contradictions(&layers);
            if complaint.is_empty() {
                assert_eq!(found, Vec::<String>::new());
            } else {
                assert!(found.iter().any(|text| text == complaint), "{complaint}: {found:?}");
            }
        }
    }

    /// A forbidden crate is found at the end of a long path.
    #[test]
    fn reaching_by_a_detour() {
        let packages = [
            package("top", &[("tree", None)]),
            package("tree", &[("page", None)]),
            package("page", &[("base", Some("dev"))]),
        ];
        let forbidden = |target: &str| Edges::from([("top".to_owned(), vec![target.to_owned()])]);
        assert_eq!(breaches(&forbidden("page"), &edges(&packages)).len(), 1);
        assert_eq!(breaches(&forbidden("base"), &edges(&packages)).len(), 0);
    }
}
