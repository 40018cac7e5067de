//! Queries: from the SELECT block to statements, common table expressions and documents.
//!
//! ```text
//!   query          statements and WITH
//!   select         one SELECT block
//!   source         tables, views, derived tables and joins of FROM
//!   row_function   functions of FROM that make rows of their arguments
//!   sample         TABLESAMPLE
//!   grouping       GROUP BY, ROLLUP, CUBE, GROUPING SETS
//!   order          ORDER BY, TOP, OFFSET
//!   set_operation  UNION, EXCEPT, INTERSECT
//!   recursion      common table expressions that name themselves
//!   pivot          PIVOT and UNPIVOT
//!   document       FOR XML and FOR JSON
//!   levels         levels of a document
//!   xml_names      names in FOR XML
//!   into           SELECT INTO
//!   option         OPTION (…)
//! ```

pub(crate) mod document;
pub(crate) mod grouping;
pub(crate) mod into;
pub(crate) mod levels;
pub(crate) mod option;
pub(crate) mod order;
pub(crate) mod pivot;
pub(crate) mod query;
pub(crate) mod recursion;
pub(crate) mod row_function;
pub(crate) mod sample;
pub(crate) mod select;
pub(crate) mod set_operation;
pub(crate) mod source;
pub(crate) mod xml_names;
