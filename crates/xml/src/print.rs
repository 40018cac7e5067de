//! Nodes as SQL Server prints them: `<a/>` for what is empty, attributes in double quotes, and
//! only those characters as references that could not stand there else.
//!
//! A node taken from the middle of a document loses the declarations around it. Where it needs
//! one, the namespace is bound anew: to the prefix that the query has for it, else to `p1`, `p2`
//! and so on, which no node in sight has.

use crate::tree::{Name, NodeId, NodeKind, Tree, XML_URI};

/// Appends a node's text; of a document that of its children, of an attribute its value.
pub fn print(tree: &Tree, id: NodeId, out: &mut String) {
    print_bound(tree, id, &[], out);
}

/// The same with prefixes for namespaces that are not declared where they are used, best first.
pub(crate) fn print_bound(
    tree: &Tree,
    id: NodeId,
    bindings: &[(Box<str>, Box<str>)],
    out: &mut String,
) {
    Printer { tree, bindings, scope: Vec::new(), generated: 0, out }.node(id);
}

struct Printer<'a> {
    tree: &'a Tree,
    bindings: &'a [(Box<str>, Box<str>)],
    /// Prefixes with their namespaces, innermost last.
    scope: Vec<(String, &'a str)>,
    /// How many prefixes were made up.
    generated: u32,
    out: &'a mut String,
}

impl<'a> Printer<'a> {
    /// Recursion is as deep as elements nest: invariant 2 of the crate.
    fn node(&mut self, id: NodeId) {
        let tree = self.tree;
        match tree.kind(id) {
            NodeKind::Document => tree.children(id).for_each(|c| self.node(c)),
            NodeKind::Element => self.element(id),
            NodeKind::Text => escape_text(tree.text(id), self.out),
            NodeKind::Comment => {
                self.out.push_str("<!--");
                self.out.push_str(tree.text(id));
                self.out.push_str("-->");
            }
            NodeKind::Instruction => {
                self.out.push_str("<?");
                self.out.push_str(tree.name(id).map_or("", |n| &n.local));
                if !tree.text(id).is_empty() {
                    self.out.push(' ');
                    self.out.push_str(tree.text(id));
                }
                self.out.push_str("?>");
            }
            NodeKind::Attribute | NodeKind::Namespace => {
                escape_attribute(tree.text(id), self.out);
            }
        }
    }

    fn element(&mut self, id: NodeId) {
        let tree = self.tree;
        let Some(name) = tree.name(id) else { return };
        let around = self.scope.len();
        for n in tree.namespaces(id) {
            let prefix = tree.name(n).map_or("", |name| &*name.local);
            self.scope.push((prefix.to_owned(), tree.text(n)));
        }
        let declared = self.scope.len();
        let prefix = self.prefix_of(name, true);
        let bound = self.scope.len();
        self.out.push('<');
        self.qualified(&prefix, &name.local);
        self.declare(around, declared);
        self.declare(declared, bound);
        // All declarations come before all attributes, as they do when the text is read again.
        let named = |a: NodeId| tree.name(a).map(|name| (a, name));
        let attributes: Vec<(NodeId, String, &Name)> = tree
            .attributes(id)
            .filter_map(named)
            .map(|(a, name)| (a, self.prefix_of(name, false), name))
            .collect();
        self.declare(bound, self.scope.len());
        for (a, prefix, name) in attributes {
            self.out.push(' ');
            self.qualified(&prefix, &name.local);
            self.out.push_str("=\"");
            escape_attribute(tree.text(a), self.out);
            self.out.push('"');
        }
        if tree.first_child(id).is_none() {
            self.out.push_str("/>");
        } else {
            self.out.push('>');
            tree.children(id).for_each(|c| self.node(c));
            self.out.push_str("</");
            self.qualified(&prefix, &name.local);
            self.out.push('>');
        }
        self.scope.truncate(around);
    }

    fn qualified(&mut self, prefix: &str, local: &str) {
        if !prefix.is_empty() {
            self.out.push_str(prefix);
            self.out.push(':');
        }
        self.out.push_str(local);
    }

    /// Writes declarations of the scope.
    fn declare(&mut self, from: usize, to: usize) {
        for (prefix, uri) in self.scope.get(from..to).unwrap_or_default() {
            self.out.push_str(if prefix.is_empty() { " xmlns" } else { " xmlns:" });
            self.out.push_str(prefix);
            self.out.push_str("=\"");
            escape_attribute(uri, self.out);
            self.out.push('"');
        }
    }

    fn bound(&self, prefix: &str) -> Option<&'a str> {
        self.scope.iter().rev().find(|(p, _)| p == prefix).map(|(_, uri)| *uri)
    }

    /// The prefix under which a name is written; where it needs a declaration, the scope has it.
    fn prefix_of(&mut self, name: &'a Name, element: bool) -> String {
        let (own, uri) = (&*name.prefix, &*name.uri);
        if uri.is_empty() {
            if element && self.bound("").is_some_and(|default| !default.is_empty()) {
                self.scope.push((String::new(), ""));
            }
            return String::new();
        }
        if uri == XML_URI {
            return "xml".to_owned();
        }
        if (element || !own.is_empty()) && self.bound(own) == Some(uri) {
            return own.to_owned();
        }
        let known =
            self.scope.iter().rev().find(|(p, u)| {
                *u == uri && (element || !p.is_empty()) && self.bound(p) == Some(uri)
            });
        if let Some((prefix, _)) = known {
            return prefix.clone();
        }
        let chosen = self.bindings.iter().find(|(prefix, u)| {
            **u == *uri && (element || !prefix.is_empty()) && self.bound(prefix).is_none()
        });
        let prefix = match chosen {
            Some((prefix, _)) => prefix.to_string(),
            None => self.generate(),
        };
        self.scope.push((prefix.clone(), uri));
        prefix
    }

    /// A prefix that nothing in sight has.
    fn generate(&mut self) -> String {
        loop {
            self.generated += 1;
            let prefix = format!("p{}", self.generated);
            if self.bound(&prefix).is_none() {
                return prefix;
            }
        }
    }
}

/// Appends characters as they stand between tags. At the very beginning, U+FEFF would be taken for
/// the mark of an encoding by whoever reads the text.
pub fn escape_text(text: &str, out: &mut String) {
    let text = match text.strip_prefix('\u{FEFF}').filter(|_| out.is_empty()) {
        Some(rest) => {
            out.push_str("&#xFEFF;");
            rest
        }
        None => text,
    };
    escape(text, out, |c| match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '\r' => Some("&#x0D;"),
        _ => None,
    });
}

/// Appends characters as they stand in an attribute's quotes.
pub fn escape_attribute(text: &str, out: &mut String) {
    escape(text, out, |c| match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '"' => Some("&quot;"),
        '\r' => Some("&#x0D;"),
        '\n' => Some("&#x0A;"),
        '\t' => Some("&#x09;"),
        _ => None,
    });
}

fn escape(text: &str, out: &mut String, special: fn(char) -> Option<&'static str>) {
    let mut from = 0;
    for (at, c) in text.char_indices() {
        if let Some(reference) = special(c) {
            out.push_str(&text[from..at]);
            out.push_str(reference);
            from = at + c.len_utf8();
        }
    }
    out.push_str(&text[from..]);
}
