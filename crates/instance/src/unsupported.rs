//! The error of a feature that is not there yet.

use base::{SqlError, messages};

/// 40517 with the feature's name.
pub(crate) fn unsupported(feature: &str) -> SqlError {
    SqlError::new(messages::FEATURE_NOT_SUPPORTED, &[&feature])
}
