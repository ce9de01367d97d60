//! Whether the clocks agree.

use stoker_client::Request;

use crate::commands::doctor::finding::Finding;
use crate::commands::doctor::times;
use crate::remote::Remote;

pub(super) fn check(remote: &mut Remote<'_>) -> Vec<Finding> {
    let answer = remote.try_send(&Request::get("version")).ok();
    let date = answer.and_then(|answer| times::of_http(answer.date.as_deref()?));
    // Answers are dated to the second.
    date.map(|at| times::compare("clock", "the server", at, times::SECOND)).into_iter().collect()
}
