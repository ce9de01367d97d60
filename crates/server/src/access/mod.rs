//! Who may use the server: passwords, tokens, and what stands between a request and its operation.

pub(crate) mod caller;
pub(crate) mod control;
pub(crate) mod first_start;
pub(crate) mod limiter;
pub(crate) mod login;
pub(crate) mod mask;
pub(crate) mod password;
pub(crate) mod token;
