//! The nodes of a value, in document order, in one array.
//!
//! ```text
//! 0 document   1 <a>   2 xmlns   3 @b   4 text   5 <c>   6 text   7 comment
//!              └ end = 8                 └ 5      └ 7
//! ```
//!
//! A node is followed by its namespace declarations, its attributes, its children; `end` is the
//! number behind its last descendant. So the children of a node are found by jumping from end to
//! end, its descendants by counting, and comparing numbers compares places in the document.
//! Characters stand in one string. No node owns memory of its own.

use base::SqlResult;
use os::values::Charge;

/// A node's number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The document, which holds the roots.
    pub const DOCUMENT: NodeId = NodeId(0);
}

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeKind {
    /// What holds the top level.
    Document,
    /// An element.
    Element,
    /// A declaration of a prefix, or of the default namespace: no axis leads here.
    Namespace,
    /// An attribute.
    Attribute,
    /// Characters.
    Text,
    /// A comment.
    Comment,
    /// A processing instruction; its target is its local name.
    Instruction,
}

/// A name with its namespace.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Name {
    /// As written; empty when there is none.
    pub prefix: Box<str>,
    /// Behind the colon.
    pub local: Box<str>,
    /// The namespace; empty when in none.
    pub uri: Box<str>,
}

pub(crate) const NO_NAME: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) name: u32,
    pub(crate) parent: u32,
    pub(crate) end: u32,
    pub(crate) from: u32,
    pub(crate) to: u32,
}

/// The nodes of one value.
#[derive(Debug)]
pub struct Tree {
    pub(crate) nodes: Vec<Node>,
    pub(crate) names: Vec<Name>,
    pub(crate) buffer: String,
    /// What nodes and characters are charged.
    pub(crate) charge: Charge,
}

impl Tree {
    /// Sees to it that the memory of its nodes and characters is charged.
    ///
    /// # Errors
    /// 701 when there is no room for them.
    pub(crate) fn cover(&mut self) -> SqlResult<()> {
        self.charge.cover(self.heap_bytes())
    }

    /// What it takes in memory, about: names beside the nodes and characters.
    pub fn heap_bytes(&self) -> usize {
        let names = self.names.len() * 2 * size_of::<Name>();
        let nodes = self.nodes.capacity() * size_of::<Node>();
        nodes + names + self.buffer.capacity()
    }

    fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.0 as usize)
    }

    /// What a node is; of a number that is none, the document.
    pub fn kind(&self, id: NodeId) -> NodeKind {
        self.node(id).map_or(NodeKind::Document, |n| n.kind)
    }

    /// How many nodes there are.
    pub fn len(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// Whether there is nothing but the document.
    pub fn is_empty(&self) -> bool {
        self.nodes.len() <= 1
    }

    /// The name of an element, attribute, namespace or instruction.
    pub fn name(&self, id: NodeId) -> Option<&Name> {
        self.names.get(self.node(id)?.name as usize)
    }

    /// The name's number: equal names of one tree have equal numbers.
    pub fn name_number(&self, id: NodeId) -> u32 {
        self.node(id).map_or(NO_NAME, |n| n.name)
    }

    /// All names, by number.
    pub fn names(&self) -> &[Name] {
        &self.names
    }

    /// The node around it; an attribute's is its element.
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        let node = self.node(id)?;
        (id != NodeId::DOCUMENT).then_some(NodeId(node.parent))
    }

    /// The number behind a node's last descendant.
    pub fn end(&self, id: NodeId) -> NodeId {
        NodeId(self.node(id).map_or(id.0 + 1, |n| n.end))
    }

    /// A node's own characters: none of an element.
    pub fn text(&self, id: NodeId) -> &str {
        let range = self.node(id).map(|n| n.from as usize..n.to as usize);
        range.and_then(|r| self.buffer.get(r)).unwrap_or("")
    }

    /// Its attributes.
    pub fn attributes(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.belonging(id).filter(|&n| self.kind(n) == NodeKind::Attribute)
    }

    /// Its declarations of namespaces.
    pub fn namespaces(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.belonging(id).filter(|&n| self.kind(n) == NodeKind::Namespace)
    }

    fn belonging(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let end = self.end(id).0;
        let own = |n: &NodeId| matches!(self.kind(*n), NodeKind::Attribute | NodeKind::Namespace);
        (id.0 + 1..end).map(NodeId).take_while(own)
    }

    /// Its first child.
    pub fn first_child(&self, id: NodeId) -> Option<NodeId> {
        if !matches!(self.kind(id), NodeKind::Document | NodeKind::Element) {
            return None;
        }
        let first = NodeId(id.0 + 1 + self.belonging(id).count() as u32);
        (first < self.end(id)).then_some(first)
    }

    /// Its children, in order.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let end = self.end(id);
        let next = move |&n: &NodeId| Some(self.end(n)).filter(|&n| n < end);
        std::iter::successors(self.first_child(id), next)
    }

    /// Its descendants in document order, without attributes.
    pub fn descendants(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let own = |n: &NodeId| matches!(self.kind(*n), NodeKind::Attribute | NodeKind::Namespace);
        (id.0 + 1..self.end(id).0).map(NodeId).filter(move |n| !own(n))
    }

    /// The characters within a node: those of the texts in an element, else its own.
    pub fn string_value(&self, id: NodeId) -> String {
        match self.kind(id) {
            NodeKind::Document | NodeKind::Element => {
                let mut out = String::new();
                let texts = self.descendants(id).filter(|&n| self.kind(n) == NodeKind::Text);
                texts.for_each(|n| out.push_str(self.text(n)));
                out
            }
            _ => self.text(id).to_owned(),
        }
    }

    /// The namespace that a prefix has at a node.
    pub fn namespace_of(&self, id: NodeId, prefix: &str) -> Option<&str> {
        if prefix == "xml" {
            return Some(XML_URI);
        }
        let mut at = Some(id);
        while let Some(node) = at {
            let declares = |&n: &NodeId| self.name(n).is_some_and(|name| &*name.local == prefix);
            if let Some(found) = self.namespaces(node).find(declares) {
                return Some(self.text(found));
            }
            at = self.parent(node);
        }
        None
    }
}

/// The namespace of the prefix `xml`.
pub(crate) const XML_URI: &str = "http://www.w3.org/XML/1998/namespace";
