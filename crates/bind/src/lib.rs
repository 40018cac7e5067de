//! AST and catalog view to logical tree: names, types, scopes.

#![forbid(unsafe_code)]
