//! Problems with the fields named as Adma names them.

use crate::problem::Problem;

/// The field of the native API, and that of Adma.
const NAMES: &[(&str, &str)] = &[("original_url", "originalUrl"), ("links", "urls")];

pub(super) fn problem(error: impl Into<Problem>) -> Problem {
    error.into().renaming(NAMES)
}
