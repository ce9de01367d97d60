//! Modules and nodes by their ids or names.

use serde_json::Value as Json;
use stoker_client::segment;

use super::{INSTANCES, MODULES};
use crate::exit::{Failure, Outcome};
use crate::remote::Remote;

/// The id of a module.
pub(super) fn module(remote: &mut Remote<'_>, name: &str) -> Outcome<String> {
    let listed = remote.get(MODULES)?;
    one(&listed["modules"], name, "module")
}

/// The id of an instance; that of a node of another tenant is taken as it is.
pub(super) fn instance(remote: &mut Remote<'_>, name: &str) -> Outcome<String> {
    if name.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(name.to_owned());
    }
    let mut marker = String::new();
    let mut all = Vec::new();
    loop {
        let page = remote.get(format!("{INSTANCES}{marker}"))?;
        all.extend(page["instances"].as_array().cloned().unwrap_or_default());
        match page["links"][0]["href"].as_str().and_then(|href| href.split_once('?')) {
            Some((_, query)) => marker = format!("?{query}"),
            None => break,
        }
    }
    one(&Json::from(all), name, "node")
}

fn one(things: &Json, name: &str, what: &str) -> Outcome<String> {
    let things = things.as_array().map(Vec::as_slice).unwrap_or_default();
    let ids = |key: &str| -> Vec<String> {
        let found = things.iter().filter(|thing| thing[key] == name);
        found.filter_map(|thing| thing["id"].as_str()).map(str::to_owned).collect()
    };
    let by_id = ids("id");
    match if by_id.is_empty() { ids("name") } else { by_id }.as_slice() {
        [id] => Ok(id.clone()),
        [] => Err(Failure::failed(format!("there is no {what} `{name}`"))),
        several => {
            let told = several.join(", ");
            Err(Failure::failed(format!("several are called `{name}`; say which by its id: {told}")))
        }
    }
}

/// The path of a module.
pub(super) fn module_path(remote: &mut Remote<'_>, name: &str) -> Outcome<String> {
    Ok(format!("{MODULES}/{}", segment(&module(remote, name)?)))
}

/// The path of the modules of an instance.
pub(super) fn carried_path(remote: &mut Remote<'_>, name: &str) -> Outcome<String> {
    Ok(format!("{INSTANCES}/{}/modules", segment(&instance(remote, name)?)))
}
