//! XML values: well-formed documents and fragments, as text and as nodes.
//!
//! ```text
//! text.rs     bytes of an encoding to characters
//! parse.rs    characters to nodes: the tokens are quick-xml's, what stands in them is checked here
//!   tag.rs      names and attributes of a start tag
//!   entity.rs   references, and the entities that a DTD declares
//!   place.rs    an error's line and character
//! build.rs    nodes one after the other; makes a tree
//! tree.rs     the nodes of a value in document order, and ways through them
//! print.rs    nodes to the text that SQL Server prints
//! value.rs    `Xml`: what a column, a variable or a row of nodes() holds
//! ```
//!
//! Invariants
//!  1. The text of a value is what `print` gives for its nodes, and parses again to the same.
//!  2. Elements nest at most `DEPTH_MAX` deep (6335): recursion over a tree is bounded by it.
//!  3. Nodes stand in document order: a node's number is its place in that order.
//!
//! Not here: XQuery, which reads trees and builds new ones.

#![forbid(unsafe_code)]

mod build;
mod entity;
mod name;
mod parse;
mod place;
mod print;
mod tag;
mod text;
mod tree;
mod value;

pub use build::{DEPTH_MAX, TreeBuilder};
pub use name::{is_name, is_name_char, is_name_start, is_xml_char};
pub use parse::{ParseOptions, parse};
pub use print::{escape_attribute, escape_text, print};
pub use text::{Source, names_encoding};
pub use tree::{Name, NodeId, NodeKind, Tree};
pub use value::{CorruptXml, Xml};
