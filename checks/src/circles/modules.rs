//! The modules of one crate, and which file a path leads to.
//!
//! A module that only passes a name on is passed through: `pub use a::B` in `lib.rs` makes
//! `crate::B` a name of the file `a.rs`. A name that nobody is seen to define (a macro makes it)
//! belongs to the file of the module in which it is looked for.

use super::scan::{Import, ScannedModule, scan};
use crate::survey::Source;
use std::collections::{BTreeMap, BTreeSet};

/// The names from the crate's root to a module.
type Place = Vec<String>;

/// What has been looked for on the way: a name in a module, as a module or as an item.
type SearchHistory = BTreeSet<(Place, String, bool)>;

struct Module {
    file: usize,
    scanned: ScannedModule,
    /// Modules of which it imports all names, and whether it passes them on.
    whole: Vec<(Place, bool)>,
}

/// The files of a crate and its modules.
pub(super) struct Modules {
    pub(super) files: Vec<String>,
    modules: BTreeMap<Place, Module>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum NameMatch {
    Module(Place),
    /// The file that defines the item.
    File(usize),
    /// Nobody is seen to define it: the file of the module that should.
    Guess(usize),
}

/// What is looked for in a module.
#[derive(Clone, Copy)]
struct NameSearch<'a> {
    name: &'a str,
    /// A path goes on behind it, so it is a module or a type.
    leads_on: bool,
    /// The module that names it.
    from: &'a Place,
}

/// The module that a file of `src/` is: `a/b.rs` and `a/b/mod.rs` are a::b.
fn place_of(file: &str) -> Place {
    let stem = file.trim_end_matches(".rs");
    let mut place: Place = stem.split('/').map(str::to_owned).collect();
    let is_root = place.len() == 1 && (stem == "lib" || stem == "main");
    if is_root || place.last().is_some_and(|last| last == "mod") {
        place.pop();
    }
    place
}

impl Modules {
    /// Of sources below the folder `src`, tests left out; the root is `lib.rs` where there is one.
    pub(super) fn of<'a>(src: &str, sources: impl Iterator<Item = &'a Source>) -> Modules {
        let mut found = Modules { files: Vec::new(), modules: BTreeMap::new() };
        let mut tests = Vec::new();
        for source in sources.filter(|source| !source.is_test) {
            let Some(file) = source.path.strip_prefix(src) else { continue };
            let place = place_of(file);
            if place.is_empty() && file == "main.rs" && found.modules.contains_key(&place) {
                continue;
            }
            for scanned in scan(source) {
                let place = [&place[..], &scanned.within].concat();
                tests.extend(scanned.test_modules.iter().map(|name| child(&place, name)));
                found
                    .modules
                    .insert(place, Module { file: found.files.len(), scanned, whole: Vec::new() });
            }
            found.files.push(file.to_owned());
        }
        found.modules.retain(|place, _| !tests.iter().any(|test| place.starts_with(test)));
        found.import_whole_modules();
        found
    }

    /// Resolves `use a::*`; that `a` itself comes by another of these is not seen.
    fn import_whole_modules(&mut self) {
        let whole = |(place, module): (&Place, &Module)| {
            let globs = module.scanned.imports.iter().filter(|import| import.name.is_none());
            let target =
                |import: &Import| match self.find(place, &import.path, &mut SearchHistory::new()) {
                    Some(NameMatch::Module(target)) => Some((target, import.is_public)),
                    _ => None,
                };
            globs.filter_map(target).collect()
        };
        let all: Vec<Vec<(Place, bool)>> = self.modules.iter().map(whole).collect();
        for (module, whole) in self.modules.values_mut().zip(all) {
            module.whole = whole;
        }
    }

    /// For each file the files whose items it names.
    pub(super) fn edges(&self) -> Vec<BTreeSet<usize>> {
        let mut edges = vec![BTreeSet::new(); self.files.len()];
        for (place, module) in &self.modules {
            let mut name = |found: Option<NameMatch>| {
                if let Some(NameMatch::File(file) | NameMatch::Guess(file)) = found
                    && file != module.file
                {
                    edges[module.file].insert(file);
                }
            };
            let ScannedModule { imports, paths, words, .. } = &module.scanned;
            for path in paths {
                name(self.find(place, path, &mut SearchHistory::new()));
            }
            for import in imports {
                // A file that only passes a name on does not use it.
                let used = import.name.as_ref().is_some_and(|name| words.contains(name));
                if used || (!import.is_public && import.name.is_some()) {
                    name(self.find(place, &import.path, &mut SearchHistory::new()));
                }
            }
            if !module.whole.is_empty() {
                for word in words {
                    let sought = NameSearch { name: word, leads_on: false, from: place };
                    name(self.look(place, sought, &mut SearchHistory::new()));
                }
            }
        }
        edges
    }

    /// Where a path of a module leads; none where it leads out of the crate.
    fn find(&self, from: &Place, path: &[String], asked: &mut SearchHistory) -> Option<NameMatch> {
        let mut place = from.clone();
        let mut rest = path;
        while let Some((first, more)) = rest.split_first() {
            match first.as_str() {
                "crate" => place = Place::new(),
                "self" => {}
                "super" => drop(place.pop()),
                _ => break,
            }
            rest = more;
        }
        let is_anchored = rest.len() < path.len();
        let mut found = NameMatch::Module(place);
        for (index, name) in rest.iter().enumerate() {
            let NameMatch::Module(place) = &found else { break };
            let sought = NameSearch { name, leads_on: index + 1 < rest.len(), from };
            found = match self.look(place, sought, asked) {
                Some(next) => next,
                None if index == 0 && !is_anchored => return None,
                None => NameMatch::Guess(self.modules.get(place)?.file),
            };
        }
        Some(found)
    }

    /// A name within a module; none also where that is what is being looked for.
    fn look(
        &self,
        at: &Place,
        sought: NameSearch<'_>,
        asked: &mut SearchHistory,
    ) -> Option<NameMatch> {
        let key = (at.clone(), sought.name.to_owned(), sought.leads_on);
        if !asked.insert(key.clone()) {
            return None;
        }
        let found = self.look_once(at, sought, asked);
        asked.remove(&key);
        found
    }

    /// The module's own item, a name that it imports, or a module below it.
    fn look_once(
        &self,
        at: &Place,
        sought: NameSearch<'_>,
        asked: &mut SearchHistory,
    ) -> Option<NameMatch> {
        let below = child(at, sought.name);
        let below = self.modules.contains_key(&below).then_some(NameMatch::Module(below));
        if sought.leads_on && below.is_some() {
            return below;
        }
        let module = self.modules.get(at)?;
        if module.scanned.items.contains(sought.name) {
            return Some(NameMatch::File(module.file));
        }
        // A file outside the module sees only what the module passes on.
        let is_inside = sought.from.starts_with(at);
        let visible = module.scanned.imports.iter().filter(|import| is_inside || import.is_public);
        let mut weaker = below;
        for import in visible.filter(|i| i.name.as_deref() == Some(sought.name)) {
            match self.find(at, &import.path, asked) {
                Some(NameMatch::File(file)) => return Some(NameMatch::File(file)),
                other => weaker = weaker.or(other),
            }
        }
        for (whole, _) in module.whole.iter().filter(|(_, is_public)| is_inside || *is_public) {
            match self.look(whole, NameSearch { from: at, ..sought }, asked) {
                Some(NameMatch::File(file)) => return Some(NameMatch::File(file)),
                other => weaker = weaker.or(other),
            }
        }
        weaker
    }
}

fn child(place: &[String], name: &str) -> Place {
    let mut place = place.to_vec();
    place.push(name.to_owned());
    place
}
