//! Catalog of a release: the plugins and components available to a new cluster.

use std::collections::BTreeMap;

use crate::error::{ServiceError, ServiceResult};

use serde_json::json;
use stoker_diagnostics::Diagnostic;
use stoker_model::{Json, JsonMap, NewPlugin, NewRelease, Plugin, Release, compare_versions};
use stoker_registry::components::{ComponentConflict, PluginComponents, Provider, Registry};
use stoker_registry::wizard::{
    MergedWizard, PluginWizard, WizardConflict, complete_wizard, count_component_choices, relabeled,
    with_readable_texts, with_restrictions,
};
use stoker_state::json::merge;
use stoker_store::{List, Session};

/// Maximum number of component choices in a wizard; compatibility is checked pairwise.
const CHOICES_MAX: usize = 200;

/// A release and the newest version of each plugin that fits it.
pub struct Catalog {
    pub release: Release,
    /// Plugins by name.
    plugins: BTreeMap<String, Plugin>,
}

impl Catalog {
    /// Reads the plugins for a release. `mode` limits them to plugins that are compatible with clusters of
    /// that mode.
    pub async fn read(session: &mut Session, release: Release, mode: Option<&str>) -> ServiceResult<Self> {
        let all = session.plugin_list(&List::default()).await?.items;
        let bodies: Vec<&NewPlugin> = all.iter().map(|plugin| &plugin.body).collect();
        let versions = in_play(&release.body, mode, &bodies);
        let is_chosen = |body: &NewPlugin| {
            versions.get(body.name.as_str()).is_some_and(|versions| versions.version == body.version)
        };
        let versions: Vec<bool> = bodies.iter().map(|body| is_chosen(body)).collect();
        let plugins = all.into_iter().zip(versions).filter(|(_, is_chosen)| *is_chosen);
        let plugins = plugins.map(|(plugin, _)| (plugin.body.name.clone(), plugin)).collect();
        Ok(Self { release, plugins })
    }

    pub fn plugins(&self) -> impl Iterator<Item = &Plugin> {
        self.plugins.values()
    }

    pub fn plugin(&self, name: &str) -> Option<&Plugin> {
        self.plugins.get(name)
    }

    /// Returns the initial settings of a cluster, including sections of plugins.
    pub fn settings(&self) -> JsonMap {
        let editable = self.release.body.attributes_metadata.get("editable").and_then(Json::as_object);
        let mut settings = editable.cloned().unwrap_or_default();
        for (name, plugin) in &self.plugins {
            let mut section = plugin.body.attributes_metadata.clone();
            let off = json!({"metadata": {"class": "plugin", "enabled": false}, "value": false});
            merge(&mut section, off.as_object().cloned().unwrap_or_default());
            settings.insert(name.clone(), Json::Object(section));
        }
        settings
    }

    /// Returns the components as declared, with translation keys and without derived labels.
    pub fn declared_components(&self) -> Registry {
        let plugins: Vec<PluginComponents<'_>> =
            self.plugins.values().map(|plugin| PluginComponents::from_plugin(&plugin.body)).collect();
        Registry::new(&self.release.body.components_metadata, &plugins.iter().collect::<Vec<_>>())
    }

    pub fn registry(&self) -> Registry {
        registry(&self.release.body, self.plugins.values().map(|plugin| &plugin.body))
    }

    /// Returns the wizards of release and plugins mixed, with generated restrictions.
    pub fn wizard(&self, registry: &Registry) -> ServiceResult<MergedWizard> {
        let plugins = self.plugins.values().map(|plugin| &plugin.body);
        let mixed =
            mixed(&self.release.body, plugins, registry).map_err(|conflicts| mix_error(&conflicts))?;
        let n_choices = count_component_choices(&mixed.wizard, registry);
        if n_choices > CHOICES_MAX {
            return Err(ServiceError::invalid(format!(
                "the wizard has {n_choices} component choices; the maximum is {CHOICES_MAX}"
            )));
        }
        let registry = relabeled(&mixed.wizard, registry);
        let wizard = with_readable_texts(with_restrictions(mixed.wizard, &registry));
        Ok(MergedWizard { wizard, ..mixed })
    }
}

/// Returns the newest version of each plugin that fits a release, by name.
pub fn in_play<'p>(
    release: &NewRelease,
    mode: Option<&str>,
    plugins: &[&'p NewPlugin],
) -> BTreeMap<&'p str, &'p NewPlugin> {
    let target = release.compatibility_target(mode);
    let mut newest: BTreeMap<&str, &NewPlugin> = BTreeMap::new();
    for plugin in plugins.iter().filter(|plugin| plugin.is_compatible_with(target)) {
        let version = newest.entry(&plugin.name).or_insert(plugin);
        if compare_versions(&plugin.version, &version.version).is_gt() {
            *version = plugin;
        }
    }
    newest
}

/// Returns the components of a release and of plugins, with labels for messages; each plugin occurs in one version.
pub fn registry<'p>(release: &NewRelease, plugins: impl Iterator<Item = &'p NewPlugin>) -> Registry {
    let plugins: Vec<&NewPlugin> = plugins.collect();
    let titles = plugins.iter().map(|plugin| (plugin.name.as_str(), plugin.title.as_str())).collect();
    let components: Vec<PluginComponents<'_>> =
        plugins.into_iter().map(PluginComponents::from_plugin).collect();
    Registry::new(&release.components_metadata, &components.iter().collect::<Vec<_>>()).into_readable(&titles)
}

/// Mixes the wizards of a release and of plugins; each plugin occurs in one version. The wizard of a release without one
/// is generated from components.
pub fn mixed<'p>(
    release: &NewRelease,
    plugins: impl Iterator<Item = &'p NewPlugin>,
    registry: &Registry,
) -> Result<MergedWizard, Vec<WizardConflict>> {
    const NOTHING: &Json = &Json::Null;
    let wizards: Vec<PluginWizard<'_>> = plugins
        .map(|plugin| PluginWizard {
            name: &plugin.name,
            version: &plugin.version,
            wizard: plugin.extra.get("wizard_metadata").unwrap_or(NOTHING),
            components: provided(registry, &plugin.name),
        })
        .collect();
    complete_wizard(&release.wizard_metadata, &release.required_component_types, registry, &wizards)
}

fn provided(registry: &Registry, plugin: &str) -> Vec<stoker_registry::components::ComponentName> {
    let is_own = |provider: &Provider| provider.is_plugin() && provider.as_str() == plugin;
    let own = registry.components().iter().filter(|component| is_own(&component.provider));
    own.map(|component| component.name.clone()).collect()
}

fn mix_error(conflicts: &[WizardConflict]) -> ServiceError {
    let item = |conflict: &WizardConflict| {
        let item = Diagnostic::plain(conflict.message()).path(&conflict.path);
        item.kind(conflict.kind).plugin(&conflict.plugin)
    };
    ServiceError::conflicting(conflicts.iter().map(item).collect())
}

/// Conflicts of a component selection in the form of the compatibility report, with messages.
pub fn conflicts_json(registry: &Registry, conflicts: &[ComponentConflict]) -> Vec<Json> {
    let rendered = |conflict: &ComponentConflict| {
        let mut rendered = conflict.to_json();
        if let Json::Object(fields) = &mut rendered {
            fields.insert("message".to_owned(), Json::from(registry.explain(conflict)));
        }
        rendered
    };
    conflicts.iter().map(rendered).collect()
}

/// Returns a conflict of a component selection as a diagnostic.
pub fn conflict_diagnostic(registry: &Registry, conflict: &ComponentConflict, path: &str) -> Diagnostic {
    Diagnostic::plain(registry.explain(conflict)).path(path).kind(conflict.kind())
}
