//! A webhook by its id or its name.

use stoker_client::Request;

use crate::exit::{Failure, Outcome};
use crate::remote::{Remote, cell};

/// The path of the webhook that is meant.
pub(super) fn webhook_path(remote: &mut Remote<'_>, wanted: &str) -> Outcome<String> {
    if wanted.parse::<i64>().is_ok() {
        return Ok(format!("webhooks/{wanted}"));
    }
    let all = remote.get_list(&Request::get("webhooks"))?;
    if let Some(webhook) = all.iter().find(|webhook| webhook["name"] == wanted) {
        return Ok(format!("webhooks/{}", cell(&webhook["id"])));
    }
    let mut failure = Failure::failed(format!("there is no webhook `{wanted}`"));
    failure.diagnostics[0].help = Some("`stoker webhook list` shows those there are".to_owned());
    Err(failure)
}
