//! Wall clock of the agent; the only module that reads it.

use std::time::{SystemTime, UNIX_EPOCH};

use stoker_model::Micros;

pub(crate) fn now() -> Micros {
    #[expect(clippy::disallowed_methods, reason = "the shell reads the clock, here and nowhere else")]
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
