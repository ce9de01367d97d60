//! Module and node lookup by ID or name.

use serde::Deserialize;
use serde_json::Value as Json;
use stoker_api_types::modules::{CarrierPage, ModuleCollection, PageLink};
use stoker_client::encode_segment;

use super::{INSTANCES, MODULES};
use crate::exit::{Failure, Outcome};
use crate::remote::Remote;

/// Modules, or their results on a node.
#[derive(Deserialize)]
pub(super) struct ModuleList {
    pub(super) modules: Vec<Json>,
}

#[derive(Deserialize)]
pub(super) struct SingleModule {
    pub(super) module: Json,
}

/// Page of nodes; the last page has no link to a next page.
#[derive(Deserialize)]
pub(super) struct InstancePage {
    pub(super) instances: Vec<Json>,
    #[serde(default)]
    pub(super) links: Vec<PageLink>,
}

/// Returns the query of the next page, with its question mark.
pub(super) fn next_query(links: &[PageLink]) -> Option<String> {
    let (_, query) = links.first()?.href.split_once('?')?;
    Some(format!("?{query}"))
}

/// Returns the ID of a module.
pub(super) fn module_id(remote: &mut Remote<'_>, name: &str) -> Outcome<String> {
    let ModuleCollection { modules } = remote.read(MODULES)?;
    find_unique(modules.into_iter().map(|module| (module.id, module.name)).collect(), name, "module")
}

/// Returns the ID of a node. A numeric ID is not looked up, because nodes of other tenants are not listed.
pub(super) fn node_id(remote: &mut Remote<'_>, name: &str) -> Outcome<String> {
    if name.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(name.to_owned());
    }
    let mut marker = String::new();
    let mut nodes = Vec::new();
    loop {
        let page: CarrierPage = remote.read(format!("{INSTANCES}{marker}"))?;
        nodes.extend(page.instances.into_iter().map(|node| (node.id, node.name)));
        match next_query(&page.links) {
            Some(query) => marker = query,
            None => break,
        }
    }
    find_unique(nodes, name, "node")
}

/// Finds a resource by its ID or its name, in a list of IDs and names.
fn find_unique(resources: Vec<(String, String)>, name: &str, noun: &str) -> Outcome<String> {
    if resources.iter().any(|(id, _)| id == name) {
        return Ok(name.to_owned());
    }
    let matching = resources.into_iter().filter(|(_, other)| other == name);
    match matching.map(|(id, _)| id).collect::<Vec<_>>().as_slice() {
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
