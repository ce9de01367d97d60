//! Module and node lookup by ID or name.

use serde::Deserialize;
use serde_json::Value as Json;
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
    links: Vec<PageLink>,
}

#[derive(Deserialize)]
struct PageLink {
    href: String,
}

impl InstancePage {
    /// Returns the query of the next page, with its question mark.
    pub(super) fn next_query(&self) -> Option<String> {
        let (_, query) = self.links.first()?.href.split_once('?')?;
        Some(format!("?{query}"))
    }
}

/// Returns the ID of a module.
pub(super) fn module_id(remote: &mut Remote<'_>, name: &str) -> Outcome<String> {
    let listed: ModuleList = remote.read(MODULES)?;
    find_unique(&listed.modules, name, "module")
}

/// Returns the ID of a node. A numeric ID is not looked up, because nodes of other tenants are not listed.
pub(super) fn node_id(remote: &mut Remote<'_>, name: &str) -> Outcome<String> {
    if name.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(name.to_owned());
    }
    let mut marker = String::new();
    let mut nodes = Vec::new();
    loop {
        let page: InstancePage = remote.read(format!("{INSTANCES}{marker}"))?;
        let next = page.next_query();
        nodes.extend(page.instances);
        match next {
            Some(query) => marker = query,
            None => break,
        }
    }
    find_unique(&nodes, name, "node")
}

fn find_unique(resources: &[Json], name: &str, noun: &str) -> Outcome<String> {
    let ids = |key: &str| -> Vec<String> {
        let matching = resources.iter().filter(|resource| resource.get(key).is_some_and(|id| id == name));
        matching.filter_map(|resource| resource.get("id")?.as_str()).map(str::to_owned).collect()
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
