//! `TreeBuilder`: a tree made node by node, in document order.
//!
//! What it is given has been checked: names are names, characters are allowed. Adjacent texts
//! become one node, and an empty text none.

use crate::tree::{NO_NAME, Name, Node, NodeId, NodeKind, Tree};
use base::{SqlError, SqlResult, messages};
use hashbrown::{Equivalent, HashMap};
use os::room::Room as _;
use os::values::Charge;

/// How deep elements may nest.
pub const DEPTH_MAX: usize = 128;
/// What the characters of a value may take: what any large value may.
const BYTES_MAX: usize = i32::MAX as usize;

/// A tree in the making.
pub struct TreeBuilder {
    tree: Tree,
    open: Vec<u32>,
    /// The number of a name by its parts.
    known: HashMap<Name, u32>,
}

/// The parts of a name, hashed as `Name` is.
#[derive(Hash)]
struct Parts<'a>(&'a str, &'a str, &'a str);

impl Equivalent<Name> for Parts<'_> {
    fn equivalent(&self, name: &Name) -> bool {
        *name.local == *self.1 && *name.prefix == *self.0 && *name.uri == *self.2
    }
}

/// Nodes between two looks at whether the request is to end.
const LOOK_NODES: u32 = 4096;

impl Default for TreeBuilder {
    fn default() -> Self {
        TreeBuilder::new()
    }
}

impl TreeBuilder {
    /// Nothing but a document.
    pub fn new() -> TreeBuilder {
        let document =
            Node { kind: NodeKind::Document, name: NO_NAME, parent: 0, end: 0, from: 0, to: 0 };
        let (names, buffer, charge) = (Vec::new(), String::new(), Charge::default());
        let tree = Tree { nodes: vec![document], names, buffer, charge };
        TreeBuilder { tree, open: vec![0], known: HashMap::new() }
    }

    /// The tree, whose open elements end here.
    pub fn finish(mut self) -> Tree {
        while !self.open.is_empty() {
            self.close();
        }
        self.tree.nodes.shrink_to_fit();
        self.tree
    }

    /// The node that is open.
    pub fn current(&self) -> NodeId {
        NodeId(self.open.last().copied().unwrap_or(0))
    }

    /// How many elements are open.
    pub fn depth(&self) -> usize {
        self.open.len().saturating_sub(1)
    }

    /// What stands so far.
    pub fn so_far(&self) -> &Tree {
        &self.tree
    }

    fn name(&mut self, prefix: &str, local: &str, uri: &str) -> SqlResult<u32> {
        if let Some(number) = self.known.get(&Parts(prefix, local, uri)) {
            return Ok(*number);
        }
        self.room_for_name()?;
        let number = self.tree.names.len() as u32;
        let name = Name { prefix: prefix.into(), local: local.into(), uri: uri.into() };
        self.tree.names.push(name.clone());
        self.known.insert(name, number);
        Ok(number)
    }

    fn room_for_name(&mut self) -> SqlResult<()> {
        self.tree.names.make_room(1)?;
        let known = self.known.len();
        if known < self.known.capacity() {
            return Ok(());
        }
        os::values::room(2 * (known + 1) * size_of::<(Name, u32)>())?;
        self.known.try_reserve(known + 1).map_err(|_| os::values::exhausted())
    }

    fn push(&mut self, kind: NodeKind, name: u32, text: &str) -> SqlResult<()> {
        let from = self.tree.buffer.len();
        let whole = from.saturating_add(text.len()).saturating_add(self.tree.nodes.len());
        if whole > BYTES_MAX {
            return Err(SqlError::new(messages::LOB_TOO_LONG, &[&BYTES_MAX]));
        }
        self.tree.buffer.make_room(text.len())?;
        self.tree.nodes.make_room(1)?;
        self.tree.buffer.push_str(text);
        let number = self.tree.nodes.len() as u32;
        let parent = self.current().0;
        let (from, to) = (from as u32, self.tree.buffer.len() as u32);
        self.tree.nodes.push(Node { kind, name, parent, end: number + 1, from, to });
        if number % LOOK_NODES == LOOK_NODES - 1 {
            os::values::look()?;
        }
        self.tree.cover()
    }

    /// Opens an element.
    ///
    /// # Errors
    /// 6335 for one too deep, 7119 for too much, 701 for what there is no room for.
    pub fn start(&mut self, prefix: &str, local: &str, uri: &str) -> SqlResult<()> {
        if self.depth() >= DEPTH_MAX {
            return Err(SqlError::new(messages::XML_TOO_DEEP, &[&DEPTH_MAX]));
        }
        let name = self.name(prefix, local, uri)?;
        let number = self.tree.nodes.len() as u32;
        self.push(NodeKind::Element, name, "")?;
        self.open.push(number);
        Ok(())
    }

    /// Closes the element that is open.
    pub fn close(&mut self) {
        let end = self.tree.nodes.len() as u32;
        if let Some(open) = self.open.pop()
            && let Some(node) = self.tree.nodes.get_mut(open as usize)
        {
            node.end = end;
        }
    }

    /// Declares a prefix, or with an empty one the default, on the element just opened.
    ///
    /// # Errors
    /// 7119
    pub fn namespace(&mut self, prefix: &str, uri: &str) -> SqlResult<()> {
        let name = self.name("", prefix, "")?;
        self.push(NodeKind::Namespace, name, uri)
    }

    /// An attribute of the element just opened, behind its namespaces.
    ///
    /// # Errors
    /// 7119
    pub fn attribute(
        &mut self,
        prefix: &str,
        local: &str,
        uri: &str,
        value: &str,
    ) -> SqlResult<()> {
        let name = self.name(prefix, local, uri)?;
        self.push(NodeKind::Attribute, name, value)
    }

    /// Characters.
    ///
    /// # Errors
    /// 7119
    pub fn text(&mut self, text: &str) -> SqlResult<()> {
        if text.is_empty() {
            return Ok(());
        }
        let parent = self.current().0;
        let bytes = self.tree.buffer.len() + text.len();
        if let Some(last) = self.tree.nodes.last_mut()
            && last.kind == NodeKind::Text
            && last.parent == parent
            && bytes <= BYTES_MAX
        {
            self.tree.buffer.make_room(text.len())?;
            self.tree.buffer.push_str(text);
            last.to = bytes as u32;
            return Ok(());
        }
        self.push(NodeKind::Text, NO_NAME, text)
    }

    /// A comment.
    ///
    /// # Errors
    /// 7119
    pub fn comment(&mut self, text: &str) -> SqlResult<()> {
        self.push(NodeKind::Comment, NO_NAME, text)
    }

    /// A processing instruction.
    ///
    /// # Errors
    /// 7119
    pub fn instruction(&mut self, target: &str, text: &str) -> SqlResult<()> {
        let name = self.name("", target, "")?;
        self.push(NodeKind::Instruction, name, text)
    }

    /// A node of another tree with all that is in it; of a document what is in it.
    ///
    /// # Errors
    /// 6335, 7119
    pub fn copy(&mut self, from: &Tree, id: NodeId) -> SqlResult<()> {
        let text = from.text(id);
        match from.kind(id) {
            NodeKind::Document => from.children(id).try_for_each(|c| self.copy(from, c)),
            NodeKind::Text => self.text(text),
            NodeKind::Comment => self.comment(text),
            kind => {
                let Some(name) = from.name(id) else { return Ok(()) };
                match kind {
                    NodeKind::Element => {
                        self.start(&name.prefix, &name.local, &name.uri)?;
                        self.belongings(from, id)?;
                        from.children(id).try_for_each(|c| self.copy(from, c))?;
                        self.close();
                        Ok(())
                    }
                    NodeKind::Namespace => self.namespace(&name.local, text),
                    NodeKind::Instruction => self.instruction(&name.local, text),
                    _ => self.attribute(&name.prefix, &name.local, &name.uri, text),
                }
            }
        }
    }

    /// The namespaces and attributes of an element of another tree.
    ///
    /// # Errors
    /// 7119
    pub fn belongings(&mut self, from: &Tree, id: NodeId) -> SqlResult<()> {
        from.namespaces(id).try_for_each(|n| self.copy(from, n))?;
        from.attributes(id).try_for_each(|a| self.copy(from, a))
    }
}
