//! Checks that the clocks are synchronized.

use stoker_client::RestRequest;

use crate::commands::doctor::check_result::CheckResult;
use crate::commands::doctor::clocks;
use crate::remote::Remote;

pub(super) fn check(remote: &mut Remote<'_>) -> Vec<CheckResult> {
    let response = remote.try_send(&RestRequest::get("version")).ok();
    let date = response.and_then(|response| clocks::parse_http_date(response.date.as_deref()?));
    // HTTP dates have a resolution of one second.
    date.map(|at| clocks::compare("clock", "the server", at, clocks::SECOND_MICROS)).into_iter().collect()
}
