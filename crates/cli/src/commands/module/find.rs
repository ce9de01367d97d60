//! Module and node lookup by ID or name.

use serde_json::Value as Json;
use stoker_client::encode_segment;

use super::{INSTANCES, MODULES};
use crate::exit::{Failure, Outcome};
use crate::remote::Remote;

/// Returns the ID of a module.
pub(super) fn module_id(remote: &mut Remote<'_>, name: &str) -> Outcome<String> {
    let listed = remote.get(MODULES)?;
    find_unique(&listed["modules"], name, "module")
}

/// Returns the ID of a node. A numeric ID is not looked up, because nodes of other tenants are not listed.
pub(super) fn node_id(remote: &mut Remote<'_>, name: &str) -> Outcome<String> {
    if name.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(name.to_owned());
    }
    let mut marker = String::new();
    let mut nodes = Vec::new();
    loop {
        let page = remote.get(format!("{INSTANCES}{marker}"))?;
        nodes.extend(page["instances"].as_array().cloned().unwrap_or_default());
        match page["links"][0]["href"].as_str().and_then(|href| href.split_once('?')) {
            Some((_, query)) => marker = format!("?{query}"),
            None => break,
        }
    }
    find_unique(&Json::from(nodes), name, "node")
}

fn find_unique(resources: &Json, name: &str, noun: &str) -> Outcome<String> {
    let resources = resources.as_array().map(Vec::as_slice).unwrap_or_default();
    let ids = |key: &str| -> Vec<String> {
        let matching = resources.iter().filter(|resource| resource[key] == name);
        matching.filter_map(|resource| resource["id"].as_str()).map(str::to_owned).collect()
    };
    let by_id = ids("id");
    match if by_id.is_empty() { ids("name") } else { by_id }.as_slice() {
        [id] => Ok(id.clone()),
        [] => Err(Failure::failed(format!("{noun} `{name}` not found"))),
        ids => {
            let list = ids.join(", ");
            Err(Failure::failed(format!("name `{name}` is ambiguous; use one of the IDs {list}")))
        }
    }
}

/// Returns the API path of a module.
pub(super) fn module_path(remote: &mut Remote<'_>, name: &str) -> Outcome<String> {
    Ok(format!("{MODULES}/{}", encode_segment(&module_id(remote, name)?)))
}

/// Returns the API path of the modules of a node.
pub(super) fn node_modules_path(remote: &mut Remote<'_>, name: &str) -> Outcome<String> {
    Ok(format!("{INSTANCES}/{}/modules", encode_segment(&node_id(remote, name)?)))
}
