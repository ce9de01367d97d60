//! External programs that the checks need: looked up, or installed where that is allowed.

pub(crate) mod ansible;
pub(crate) mod debian;
pub(crate) mod deny;
pub(crate) mod fuel2;
pub(crate) mod nats;
pub(crate) mod node;
pub(crate) mod oracle;
pub(crate) mod postgres;
pub(crate) mod puppet;
pub(crate) mod python;
pub(crate) mod schemathesis;
pub(crate) mod trove;
