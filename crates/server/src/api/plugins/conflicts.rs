//! Whether plugins can be installed beside what is there: nobody else provides their components, and their wizards mix
//! with those of the releases they fit.

use std::collections::BTreeSet;

use stoker_model::{Json, NewPlugin, NewRelease};
use stoker_registry::components::{ComponentName, Finding, PluginComponents, Registry, newest_fitting};
use stoker_registry::wizard::{PluginWizard, mix};

use crate::http::error::{ApiError, ApiResult, ErrorItem};

/// Refuses what is at odds afterwards and was not before. `before` and `after` are all plugins that are installed.
pub(super) fn require_none(
    releases: &[&NewRelease],
    before: &[&NewPlugin],
    after: &[&NewPlugin],
) -> ApiResult<()> {
    let mut items: Vec<ErrorItem> = Vec::new();
    for release in releases {
        let known: BTreeSet<Conflict> = found(release, before).into_iter().collect();
        let added = found(release, after).into_iter().filter(|conflict| !known.contains(conflict));
        items.extend(added.map(|conflict| {
            let message = format!("{}; in release `{}` {}", conflict.message, release.name, release.version);
            ErrorItem { code: Some(conflict.code), ..ErrorItem::new(conflict.path, message) }
        }));
    }
    if items.is_empty() { Ok(()) } else { Err(ApiError::in_the_way(items)) }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Conflict {
    code: &'static str,
    path: String,
    message: String,
}

fn found(release: &NewRelease, plugins: &[&NewPlugin]) -> Vec<Conflict> {
    let all: Vec<PluginComponents<'_>> = plugins.iter().map(|plugin| PluginComponents::of(plugin)).collect();
    let fitting = newest_fitting(&all, Some(release.fit_target(None)));
    let registry = Registry::new(&release.components_metadata, &fitting);
    let duplicates = registry.findings().iter().filter_map(|finding| match finding {
        Finding::Duplicate { component, .. } => Some(Conflict {
            code: "duplicate",
            path: component.to_string(),
            message: registry.explain(finding),
        }),
        _ => None,
    });
    let mut conflicts: Vec<Conflict> = duplicates.collect();
    let is_in_play = |plugin: &&&NewPlugin| {
        fitting.iter().any(|known| known.name == plugin.name && known.version == plugin.version)
    };
    const NOTHING: &Json = &Json::Null;
    let wizards: Vec<PluginWizard<'_>> = plugins
        .iter()
        .filter(is_in_play)
        .map(|plugin| PluginWizard {
            name: &plugin.name,
            version: &plugin.version,
            wizard: plugin.extra.get("wizard_metadata").unwrap_or(NOTHING),
            components: Vec::new(),
        })
        .collect();
    if let Err(found) = mix(&Json::Object(release.wizard_metadata.clone()), &wizards) {
        conflicts.extend(found.into_iter().map(|conflict| Conflict {
            code: conflict.kind,
            message: conflict.message(),
            path: conflict.path,
        }));
    }
    conflicts
}

/// Beyond this, nobody reads warnings about pairs.
const JUDGED_MAX: usize = 100;

/// What is odd about the components of one plugin, and yet allowed.
pub(super) fn oddities(plugin: &NewPlugin) -> Vec<String> {
    let own = PluginComponents::of(plugin);
    let registry = Registry::new(&[], &[&own]);
    let components = registry.components();
    let components = &components[..components.len().min(JUDGED_MAX)];
    let mut words = Vec::new();
    for (idx, one) in components.iter().enumerate() {
        for other in components[idx + 1..].iter().filter(|other| Registry::conflict(one, other)) {
            words.push(format!(
                "`{}` and `{}` of this plugin cannot be chosen together",
                one.name, other.name
            ));
        }
        for requirement in &one.requires {
            let refused = requirement.items.iter().filter(|item| {
                let is_refused = |name: &_| item.matches(name) && one.refuses(name);
                ComponentName::parse(&item.text).as_ref().is_some_and(is_refused)
            });
            words.extend(refused.map(|item| {
                format!("`{}` requires `{}` and is not compatible with it", one.name, item.text)
            }));
        }
    }
    words
}
