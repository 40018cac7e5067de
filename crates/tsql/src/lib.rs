//! Lexer, parser, AST with spans; never fails hard.

#![forbid(unsafe_code)]
