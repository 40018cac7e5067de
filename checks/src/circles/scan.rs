//! What one file says of names: the items of its modules, what they import, paths in their code.
//!
//! A file is one module, and one more for each `mod NAME { … }` in it. Code under `#[cfg(test)]` is
//! left out, with the modules and imports that it declares.

use crate::lex::{is_word, words};
use crate::survey::{Source, test_ranges};
use std::collections::BTreeSet;
use std::ops::Range;

/// One imported name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Import {
    pub(super) path: Vec<String>,
    /// The name it has here; none where all names are imported.
    pub(super) name: Option<String>,
    /// Others may name it here.
    pub(super) is_public: bool,
}

/// One module of a file.
#[derive(Debug, Default)]
pub(super) struct ScannedModule {
    /// The modules within the file that lead to it.
    pub(super) within: Vec<String>,
    pub(super) items: BTreeSet<String>,
    pub(super) imports: Vec<Import>,
    /// `a::b::C` in code, from its first name on.
    pub(super) paths: BTreeSet<Vec<String>>,
    /// Names that stand alone or begin a path.
    pub(super) words: BTreeSet<String>,
    /// Modules in files of their own that only tests have.
    pub(super) test_modules: BTreeSet<String>,
}

/// Words before the name of an item.
const ITEMS: [&str; 9] =
    ["fn", "struct", "enum", "union", "trait", "type", "const", "static", "macro_rules"];

pub(super) fn scan(source: &Source) -> Vec<ScannedModule> {
    let code = source.lexed.code.as_str();
    let tests = test_ranges(code);
    let tokens = tokens(code);
    let mut scanner = Scanner {
        code,
        tests: &tests,
        tokens: &tokens,
        at: 0,
        braces: Vec::new(),
        modules: vec![ScannedModule::default()],
    };
    while scanner.at < tokens.len() {
        scanner.step();
    }
    scanner.modules
}

/// Words, `::` and single characters, each with its place.
fn tokens(code: &str) -> Vec<(usize, &str)> {
    let mut tokens: Vec<(usize, &str)> = words(code).collect();
    let mut marks = code.char_indices().peekable();
    while let Some((at, mark)) = marks.next() {
        if mark == ':' && marks.peek().is_some_and(|(_, next)| *next == ':') {
            marks.next();
            tokens.push((at, "::"));
        } else if mark.is_ascii() && !mark.is_whitespace() && !is_word(code.as_bytes()[at]) {
            tokens.push((at, &code[at..=at]));
        }
    }
    tokens.sort_unstable();
    tokens
}

struct Scanner<'a> {
    code: &'a str,
    tests: &'a [Range<usize>],
    tokens: &'a [(usize, &'a str)],
    at: usize,
    /// Open braces: the module that they enclose, or none where it is anything else.
    braces: Vec<Option<usize>>,
    modules: Vec<ScannedModule>,
}

impl Scanner<'_> {
    fn token(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |(_, token)| token)
    }

    fn is_name(&self, at: usize) -> bool {
        self.token(at).bytes().next().is_some_and(|b| is_word(b) && !b.is_ascii_digit())
    }

    /// The module that the scanner is in.
    fn module(&mut self) -> &mut ScannedModule {
        let own = self.braces.iter().rev().find_map(|brace| *brace).unwrap_or(0);
        &mut self.modules[own]
    }

    fn step(&mut self) {
        let place = self.tokens[self.at].0;
        if let Some(test) = self.tests.iter().find(|range| range.contains(&place)) {
            while self.tokens.get(self.at).is_some_and(|(place, _)| *place < test.end) {
                self.at += 1;
            }
            return;
        }
        match self.token(self.at) {
            "{" => self.braces.push(None),
            "}" => drop(self.braces.pop()),
            "use" if self.is_name(self.at + 1) || self.token(self.at + 1) == "{" => {
                return self.import();
            }
            "mod" if self.is_name(self.at + 1) => return self.declare(),
            _ if self.is_name(self.at) => return self.word(),
            _ => {}
        }
        self.at += 1;
    }

    /// Whether what begins at the token is public, and whether only tests have it.
    fn marks(&self, at: usize) -> (bool, bool) {
        let mut first = at;
        if first > 0 && self.token(first - 1) == ")" {
            while first > 0 && self.token(first) != "(" {
                first -= 1;
            }
        }
        let is_public = first > 0 && self.token(first - 1) == "pub";
        let first = if is_public { first - 1 } else { at };
        let before = self.code[..self.tokens[first].0].trim_end();
        // The range of a test item without a body ends within its attribute's bracket.
        let is_test = self.tests.iter().any(|range| range.end + 1 == before.len());
        (is_public, is_test)
    }

    fn import(&mut self) {
        let (is_public, is_test) = self.marks(self.at);
        self.at += 1;
        let mut imports = Vec::new();
        self.tree(&mut Vec::new(), is_public, &mut imports);
        if !is_test {
            self.module().imports.append(&mut imports);
        }
    }

    /// One tree of an import, `path::{more, of::them}`, up to its end.
    fn tree(&mut self, path: &mut Vec<String>, is_public: bool, into: &mut Vec<Import>) {
        let depth = path.len();
        let mut name = None;
        let mut is_whole = true;
        while !matches!(self.token(self.at), "" | ";" | "," | "}") {
            match self.token(self.at) {
                "::" => {}
                "*" => {
                    into.push(Import { path: path.clone(), name: None, is_public });
                    is_whole = false;
                }
                "{" => {
                    self.at += 1;
                    while !matches!(self.token(self.at), "" | ";" | "}") {
                        self.tree(path, is_public, into);
                        self.at += usize::from(self.token(self.at) == ",");
                    }
                    is_whole = false;
                }
                "as" => {
                    self.at += 1;
                    name = Some(self.token(self.at).to_owned());
                }
                "self" if !path.is_empty() => {}
                word => path.push(word.to_owned()),
            }
            self.at += 1;
        }
        if is_whole && let Some(last) = path.last() {
            let name = name.or_else(|| Some(last.clone()));
            into.push(Import { path: path.clone(), name, is_public });
        }
        path.truncate(depth);
    }

    /// `mod NAME;` or `mod NAME {`.
    fn declare(&mut self) {
        let (_, is_test) = self.marks(self.at);
        let name = self.token(self.at + 1).to_owned();
        if self.token(self.at + 2) == "{" {
            let mut within = self.module().within.clone();
            within.push(name);
            self.braces.push(Some(self.modules.len()));
            self.modules.push(ScannedModule { within, ..ScannedModule::default() });
        } else if is_test {
            self.module().test_modules.insert(name);
        }
        self.at += 3;
    }

    /// The name of an item, or one in code with the path that it begins.
    fn word(&mut self) {
        let start = self.at;
        let word = self.token(start).to_owned();
        self.at += 1;
        if ITEMS.contains(&word.as_str()) && self.braces.iter().all(Option::is_some) {
            let name = start + 1 + usize::from(matches!(self.token(start + 1), "!" | "mut"));
            if self.is_name(name) && !ITEMS.contains(&self.token(name)) {
                let name = self.token(name).to_owned();
                self.module().items.insert(name);
                self.at = start + 2;
            }
            return;
        }
        let before = start.checked_sub(1).map_or("", |before| self.token(before));
        if matches!(before, "::" | "." | "'") {
            return;
        }
        let mut path = vec![word.clone()];
        while self.token(self.at) == "::" && self.is_name(self.at + 1) {
            path.push(self.token(self.at + 1).to_owned());
            self.at += 2;
        }
        let module = self.module();
        module.words.insert(word);
        if path.len() > 1 {
            module.paths.insert(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanned(text: &str) -> Vec<ScannedModule> {
        scan(&Source::new("crates/x/src/a.rs".to_owned(), text.to_owned()))
    }

    /// An import is parted into its names, whatever its form.
    #[test]
    fn imports_of_each_form() {
        let text =
            "use a::b; pub use c::{d as e, f::{self, G}}; pub(crate) use h::*; use {i, j::k};";
        let found = &scanned(text)[0].imports;
        let told: Vec<String> = found
            .iter()
            .map(|import| {
                let name = import.name.as_deref().unwrap_or("*");
                format!(
                    "{}{} {name}",
                    if import.is_public { "+" } else { "" },
                    import.path.join("/")
                )
            })
            .collect();
        let expected =
            ["a/b b", "+c/d e", "+c/f f", "+c/f/G G", "+h *", "i i", "j/k k"].map(str::to_owned);
        assert_eq!(told, expected);
    }

    /// Items of modules count, those within functions and types do not; tests are left out.
    #[test]
    fn items_and_paths() {
        let text = "pub struct A { b: c::D } const fn e() { fn inner() {} f::g::<H>(); x.i::<J>() }\n\
            mod k { static mut L: u8 = 0; } macro_rules! m { () => { $crate::n::o() } }\n\
            #[cfg(test)]\nmod tests { use p::q; fn r() { s::t() } }\n\
            #[cfg(test)]\npub(crate) mod later;\n#[cfg(test)]\nuse u::v;\n";
        let found = scanned(text);
        let items: Vec<&str> = found[0].items.iter().map(String::as_str).collect();
        assert_eq!(items, ["A", "e", "m"]);
        assert!(found[1].within == ["k"] && found[1].items.contains("L"));
        let paths: Vec<String> = found[0].paths.iter().map(|path| path.join("::")).collect();
        assert_eq!(paths, ["c::D", "crate::n::o", "f::g"]);
        assert_eq!(found[0].imports, []);
        assert!(found[0].test_modules.contains("later"));
    }
}
