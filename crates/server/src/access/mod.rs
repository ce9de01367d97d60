//! Authentication and authorization: passwords, tokens, rate limits, redaction.

pub(crate) mod caller;
pub(crate) mod control;
pub(crate) mod first_start;
pub(crate) mod limiter;
pub(crate) mod login;
pub(crate) mod mask;
pub(crate) mod password;
pub(crate) mod token;
