//! Programs that the checks need and cargo does not bring: found, or installed where that is allowed.

pub(crate) mod debian;
pub(crate) mod deny;
pub(crate) mod oracle;
