//! The sizes that formats and the language fix. Units are in the names.

/// A page.
pub const PAGE_BYTES: usize = 8192;
/// Pages of an extent.
pub const EXTENT_PAGES: u32 = 8;
/// The page header.
pub const PAGE_HEADER_BYTES: usize = 96;
/// Records and slot array together.
pub const PAGE_BODY_BYTES: usize = PAGE_BYTES - PAGE_HEADER_BYTES;
/// The longest record within a page, all its overhead included.
pub const RECORD_BYTES_MAX: usize = 8060;
/// The 14-byte version tag at the end of a record.
pub const VERSION_TAG_BYTES: usize = 14;
/// Key columns of a clustered index together.
pub const CLUSTERED_KEY_BYTES_MAX: usize = 900;
/// Key columns of a nonclustered index together.
pub const NONCLUSTERED_KEY_BYTES_MAX: usize = 1700;
/// Columns of an index key.
pub const KEY_COLUMNS_MAX: usize = 32;
/// Columns of a table.
pub const TABLE_COLUMNS_MAX: usize = 1024;
/// Characters of an identifier.
pub const IDENTIFIER_CHARS_MAX: usize = 128;
/// Nesting of procedures, functions and triggers (error 217).
pub const NEST_LEVEL_MAX: u32 = 32;
/// Depth of expressions and blocks that parser, binder and evaluation accept (error 191).
pub const EXPRESSION_DEPTH_MAX: usize = 256;
/// Operators of one level that follow each other, `a + b + …`, along one path of an expression:
/// each makes its tree higher, but takes no level of parser or binder (error 191).
pub const EXPRESSION_LINKS_MAX: usize = 4096;
/// Operators of a query's tree, one in the other, that are descended by calls (error 191).
pub const TREE_HEIGHT_MAX: usize = 1000;
/// A log block.
pub const LOG_BLOCK_BYTES_MAX: usize = 60 * 1024;
/// The unit of log I/O.
pub const LOG_SECTOR_BYTES: usize = 512;
