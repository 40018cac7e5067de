//! `Callout`: calls of functions that are written in T-SQL, from within a running statement.
//!
//! The session implements it. It runs a function's statements in the session's unit of work. So a
//! function sees what its caller's statement has done so far, and ends no transaction. A separate
//! unit of work of the session writes the function's table variables.

use access::TableSource;
use base::{SqlError, SqlResult, messages};
use plan::UserFunction;
use std::sync::Arc;
use types::Value;
use work::Work;

/// Calls functions of the user. Implemented by `session`.
pub trait Callout {
    /// The value of a scalar function, of its declared type. The arguments may be taken away.
    ///
    /// # Errors
    /// What its statements meet, within the function; 217.
    fn scalar(
        &self,
        function: UserFunction,
        arguments: &mut [Value],
        work: &mut Work,
    ) -> SqlResult<Value>;

    /// The rows of a multi-statement function.
    ///
    /// # Errors
    /// What its statements meet, within the function; 217.
    fn rows(
        &self,
        function: UserFunction,
        arguments: &mut [Value],
        work: &mut Work,
    ) -> SqlResult<Arc<dyn TableSource>>;
}

/// Where no session is: definitions are checked, rows made by DDL.
pub struct NoCallout;

impl NoCallout {
    fn refused() -> SqlError {
        let what = "a function of the user while a definition is applied to rows";
        SqlError::new(messages::FEATURE_NOT_SUPPORTED, &[&what])
    }
}

impl Callout for NoCallout {
    fn scalar(&self, _: UserFunction, _: &mut [Value], _: &mut Work) -> SqlResult<Value> {
        Err(NoCallout::refused())
    }

    fn rows(
        &self,
        _: UserFunction,
        _: &mut [Value],
        _: &mut Work,
    ) -> SqlResult<Arc<dyn TableSource>> {
        Err(NoCallout::refused())
    }
}
