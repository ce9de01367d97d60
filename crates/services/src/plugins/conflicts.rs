//! Conflicts between stored releases and plugins: components provided twice, and wizards that cannot be mixed.

use std::collections::BTreeSet;

use stoker_diagnostics::Diagnostic;
use stoker_model::{NewPlugin, NewRelease};
use stoker_registry::components::{ComponentConflict, ComponentName, PluginComponents, Registry};
use stoker_registry::package::{describe_other_product, releases_of_other_products};

use crate::error::{ServiceError, ServiceResult};

use super::catalog::{conflict_diagnostic, in_play, mixed, registry};

/// A release and the installed plugins, before and after a change.
pub struct Pairing<'a> {
    /// State before the change; `None` for a new release.
    pub before: Option<(&'a NewRelease, &'a [&'a NewPlugin])>,
    pub after: (&'a NewRelease, &'a [&'a NewPlugin]),
}

/// Rejects conflicts that the change introduces; existing conflicts are tolerated.
pub fn require_no_conflicts<'a>(pairings: impl Iterator<Item = Pairing<'a>>) -> ServiceResult<()> {
    let mut items: Vec<Diagnostic> = Vec::new();
    for Pairing { before, after: (release, plugins) } in pairings {
        let earlier = before.map(|(release, plugins)| conflicts_of(release, plugins)).unwrap_or_default();
        let earlier: BTreeSet<Conflict> = earlier.into_iter().collect();
        let added = conflicts_of(release, plugins).into_iter().filter(|conflict| !earlier.contains(conflict));
        items.extend(added.map(|conflict| {
            let message = format!("{}; in release `{}` {}", conflict.message, release.name, release.version);
            Diagnostic::error(conflict.code, message).path(conflict.path)
        }));
    }
    if items.is_empty() { Ok(()) } else { Err(ServiceError::conflicting(items)) }
}

/// Rejects a release that declares invalid components.
pub fn validate_release(release: &NewRelease) -> ServiceResult<()> {
    let registry = Registry::new(&release.components_metadata, &[]);
    let invalid = registry.findings().iter();
    let mut diagnostics: Vec<Diagnostic> =
        invalid.map(|conflict| conflict_diagnostic(&registry, conflict, "components_metadata")).collect();
    let mut names = BTreeSet::new();
    for name in release.components_metadata.iter().filter_map(|component| component.get("name")?.as_str()) {
        if !names.insert(name) {
            let message = format!("duplicate component `{name}`");
            diagnostics.push(Diagnostic::plain(message).path("components_metadata"));
        }
    }
    if diagnostics.is_empty() { Ok(()) } else { Err(ServiceError::refused(diagnostics)) }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Conflict {
    code: &'static str,
    path: String,
    message: String,
}

fn conflicts_of(release: &NewRelease, plugins: &[&NewPlugin]) -> Vec<Conflict> {
    let fitting = in_play(release, None, plugins);
    let registry = registry(release, fitting.values().copied());
    let duplicates = registry.findings().iter().filter_map(|finding| match finding {
        ComponentConflict::Duplicate { component, .. } => Some(Conflict {
            code: "duplicate",
            path: component.to_string(),
            message: registry.explain(finding),
        }),
        _ => None,
    });
    let mut conflicts: Vec<Conflict> = duplicates.collect();
    if let Err(mix_conflicts) = mixed(release, fitting.values().copied(), &registry) {
        conflicts.extend(mix_conflicts.into_iter().map(|conflict| Conflict {
            code: conflict.kind,
            message: conflict.message(),
            path: conflict.path,
        }));
    }
    conflicts
}

/// Number of components checked pairwise for warnings.
const CHECKED_MAX: usize = 100;

/// Returns warnings about the components and supported releases of a plugin without a package.
pub fn plugin_warnings(plugin: &NewPlugin) -> Vec<String> {
    let fuel_versions: Vec<&str> = plugin.fuel_version.iter().map(String::as_str).collect();
    let releases = plugin.releases.iter().filter_map(|release| release.get("version")?.as_str());
    let others = releases_of_other_products(&fuel_versions, releases);
    let mut warnings: Vec<String> =
        others.into_iter().map(|release| describe_other_product(release, &fuel_versions)).collect();
    warnings.extend(component_warnings(plugin));
    warnings
}

/// Returns warnings about the components of one plugin.
pub fn component_warnings(plugin: &NewPlugin) -> Vec<String> {
    let own = PluginComponents::from_plugin(plugin);
    let registry = Registry::new(&[], &[&own]);
    let components = registry.components();
    let components = &components[..components.len().min(CHECKED_MAX)];
    let mut warnings = Vec::new();
    for (idx, one) in components.iter().enumerate() {
        for other in components[idx + 1..].iter().filter(|other| Registry::conflict(one, other)) {
            warnings.push(format!(
                "`{}` and `{}` of this plugin cannot be chosen together",
                one.name, other.name
            ));
        }
        for requirement in &one.requires {
            let refused = requirement.items.iter().filter(|item| {
                let is_refused = |name: &_| item.matches(name) && one.refuses(name);
                ComponentName::parse(&item.text).as_ref().is_some_and(is_refused)
            });
            warnings.extend(refused.map(|item| {
                format!("`{}` requires `{}` and is not compatible with it", one.name, item.text)
            }));
        }
    }
    warnings
}
