//! `Xml`: one value of the type, or one node of one.
//!
//! Text and tree are shared by all copies of a value; the tree is made when a method first asks
//! for it and then serves every expression over that value. A row of `nodes()` is the value it
//! came from and a node's number: nothing is copied, and `..` leads out of the node.
//!
//! ```text
//! stored   0 · text in UTF-8                   a whole value: what columns hold
//!          1 · number (4) · text in UTF-8      a node: only in rows that a query keeps for itself
//! ```

use crate::parse::{ParseOptions, parse};
use crate::print::{print, print_bound};
use crate::text::Source;
use crate::tree::{NodeId, Tree};
use base::{SqlError, SqlResult, messages};
use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A value of type xml.
#[derive(Clone)]
pub struct Xml {
    shared: Arc<SharedValue>,
    node: NodeId,
}

struct SharedValue {
    text: Box<str>,
    tree: OnceLock<Tree>,
}

/// Stored bytes that are no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CorruptXml;

impl Xml {
    /// The value of some nodes.
    pub fn of(tree: Tree) -> Xml {
        let mut text = String::new();
        print(&tree, NodeId::DOCUMENT, &mut text);
        let shared = SharedValue { text: text.into(), tree: OnceLock::from(tree) };
        Xml { shared: Arc::new(shared), node: NodeId::DOCUMENT }
    }

    /// The value of nodes that may come from the middle of documents: namespaces that are not
    /// declared where they are used get prefixes of these, or new ones.
    pub fn of_parts(tree: &Tree, bindings: &[(Box<str>, Box<str>)]) -> Xml {
        let mut text = String::new();
        print_bound(tree, NodeId::DOCUMENT, bindings, &mut text);
        Xml::of_printed(&text)
    }

    /// The value of a text.
    ///
    /// # Errors
    /// As `parse`.
    pub fn parse(source: Source<'_>, options: ParseOptions) -> SqlResult<Xml> {
        parse(source, options).map(Xml::of)
    }

    /// The value of a text that `print` has made.
    pub fn of_printed(text: &str) -> Xml {
        let shared = SharedValue { text: text.into(), tree: OnceLock::new() };
        Xml { shared: Arc::new(shared), node: NodeId::DOCUMENT }
    }

    /// The same value, standing at a node.
    #[must_use]
    pub fn at(&self, node: NodeId) -> Xml {
        Xml { shared: Arc::clone(&self.shared), node }
    }

    /// Where the value stands.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// All nodes.
    ///
    /// # Errors
    /// 701 where memory has no room for them; an internal error when the stored text is not what
    /// was stored.
    pub fn tree(&self) -> SqlResult<&Tree> {
        if let Some(tree) = self.shared.tree.get() {
            return Ok(tree);
        }
        let options = ParseOptions { preserve: true, dtd: false };
        let tree = parse(Source::Wide(&self.shared.text), options).map_err(|e| {
            match e.number() == messages::OUT_OF_MEMORY.number {
                true => e,
                false => SqlError::new(messages::INTERNAL, &[&e.text()]),
            }
        })?;
        Ok(self.shared.tree.get_or_init(|| tree))
    }

    /// The text: of the whole value, or of its node.
    pub fn text(&self) -> Cow<'_, str> {
        if self.node == NodeId::DOCUMENT {
            return Cow::Borrowed(&self.shared.text);
        }
        let mut text = String::new();
        if let Ok(tree) = self.tree() {
            print(tree, self.node, &mut text);
        }
        Cow::Owned(text)
    }

    /// Heap bytes that the value keeps alive, for memory grants.
    pub fn heap_bytes(&self) -> usize {
        self.shared.text.len() + size_of::<SharedValue>()
    }

    /// Appends the stored form.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self.node {
            NodeId::DOCUMENT => out.push(0),
            NodeId(number) => {
                out.push(1);
                out.extend_from_slice(&number.to_le_bytes());
            }
        }
        out.extend_from_slice(self.shared.text.as_bytes());
    }

    /// Reads the stored form.
    ///
    /// # Errors
    /// The bytes are none.
    pub fn decode(bytes: &[u8]) -> Result<Xml, CorruptXml> {
        let (node, text) = match bytes.split_first() {
            Some((0, text)) => (NodeId::DOCUMENT, text),
            Some((1, rest)) => {
                let (number, text) = rest.split_first_chunk::<4>().ok_or(CorruptXml)?;
                (NodeId(u32::from_le_bytes(*number)), text)
            }
            _ => return Err(CorruptXml),
        };
        let text = std::str::from_utf8(text).map_err(|_| CorruptXml)?;
        Ok(Xml { node, ..Xml::of_printed(text) })
    }
}

/// The same text at the same node.
impl PartialEq for Xml {
    fn eq(&self, other: &Xml) -> bool {
        self.node == other.node && self.shared.text == other.shared.text
    }
}

impl Eq for Xml {}

impl fmt::Debug for Xml {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "xml({})", self.text())
    }
}
