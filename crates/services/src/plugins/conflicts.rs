//! Conflicts between stored releases and plugins: components provided twice, and wizards that cannot be mixed.

use std::collections::BTreeSet;

use stoker_diagnostics::Diagnostic;
use stoker_model::{NewPlugin, NewRelease};
use stoker_registry::components::{ComponentConflict, ComponentName, PluginComponents, Registry};

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

/// Returns warnings about the components and supported versions of one plugin.
pub fn plugin_warnings(plugin: &NewPlugin) -> Vec<String> {
    let own = PluginComponents::from_plugin(plugin);
    let registry = Registry::new(&[], &[&own]);
    let components = registry.components();
    let components = &components[..components.len().min(CHECKED_MAX)];
    let mut warnings = other_products(plugin);
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

/// Returns a warning for each supported release of a product version that `fuel_version` does not name.
fn other_products(plugin: &NewPlugin) -> Vec<String> {
    // One of them covers the other in whole parts: 9.0 and 9.0.2.
    let covers = |product: &str, fuel_version: &str| {
        product.split('.').zip(fuel_version.split('.')).all(|(one, other)| one == other)
    };
    let versions = plugin.releases.iter().filter_map(|release| release.get("version")?.as_str());
    let products = versions.filter_map(|version| Some((version, version.rsplit_once('-')?.1)));
    let is_other =
        |product: &str| !plugin.fuel_version.iter().any(|fuel_version| covers(product, fuel_version));
    let others: BTreeSet<&str> =
        products.filter(|(_, product)| is_other(product)).map(|(version, _)| version).collect();
    let warning = |version: &str| {
        let declared = plugin.fuel_version.join(", ");
        format!("the plugin supports release `{version}`, but its `fuel_version` names only {declared}")
    };
    if plugin.fuel_version.is_empty() { Vec::new() } else { others.into_iter().map(warning).collect() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fuel_version_is_compared_with_releases() {
        let plugin = |fuel_version: &str, release: &str| NewPlugin {
            fuel_version: vec!["8.0".to_owned(), fuel_version.to_owned()],
            releases: vec![json!({"os": "ubuntu", "version": release})],
            ..NewPlugin::default()
        };
        for (fuel_version, release) in
            [("9.0", "mitaka-9.0"), ("9.0", "mitaka-9.0.2"), ("9.0", "mitaka-9"), ("9.0", "odd")]
        {
            assert_eq!(plugin_warnings(&plugin(fuel_version, release)), Vec::<String>::new(), "{release}");
        }
        assert_eq!(
            plugin_warnings(&plugin("9.0", "mitaka-9.1")),
            ["the plugin supports release `mitaka-9.1`, but its `fuel_version` names only 8.0, 9.0"]
        );
    }
}
