//! Resolves the components and wizard answers of a new cluster into its mode, settings and enabled plugins.

use std::collections::{BTreeMap, BTreeSet};

use stoker_diagnostics::Diagnostic;
use stoker_model::{Cluster, ClusterPlugin, Json, JsonMap, Plugin, Release};
use stoker_registry::components::{Binding, BoundModel, ComponentName, Registry, overwritten_bindings};
use stoker_registry::wizard::WizardResult;
use stoker_store::{Session, WriteTransaction};

use super::create::ClusterRequest;
use crate::cluster_settings::Defaults;
use crate::error::{ServiceError, ServiceResult};
use crate::metadata::modes;
use crate::plugins::catalog::{Catalog, conflict_diagnostic, conflicts_json};
use crate::plugins::enabling::{Enabling, has_legacy_tasks, runs_legacy_tasks};
use crate::plugins::wizard::{Wizard, bound_mode, decide};

/// Resolved selection for a new cluster.
#[derive(Default)]
pub(super) struct Choice {
    pub(super) mode: String,
    pub(super) components: Vec<String>,
    pub(super) net_provider: Option<String>,
    pub(super) net_segment_type: Option<String>,
    /// Values by dotted path in the settings, in order of assignment; later values override earlier ones.
    settings: Vec<(String, Json)>,
    /// Plugins to enable, by name, each with values by dotted path in the settings of the plugin.
    plugins: BTreeMap<String, (Plugin, Vec<(String, Json)>)>,
    /// Whether one of these plugins has legacy tasks.
    has_legacy_tasks: bool,
    /// Binds that cannot be stored.
    pub(super) problems: Vec<Diagnostic>,
}

impl Choice {
    /// Returns the selection without components or wizard answers.
    pub(super) fn plain(release: &Release) -> ServiceResult<Self> {
        Ok(Self { mode: modes::choose(&release.body, None)?, ..Self::default() })
    }

    /// Validates and resolves the request. Without components and wizard answers, only the mode is set.
    pub(super) async fn read(
        session: &mut Session,
        release: &Release,
        request: &ClusterRequest,
    ) -> ServiceResult<Self> {
        let mode = modes::choose(&release.body, request.mode.as_deref())?;
        if request.components.is_none() && request.wizard.is_none() {
            return Ok(Self { mode, ..Self::default() });
        }
        let (mut choice, answers) = Self::resolve(session, release, request, mode).await?;
        // The set of compatible plugins depends on the mode, and a wizard answer may set the mode: resolve
        // again in that mode.
        if let Some(bound) =
            bound_mode(&answers).filter(|bound| request.mode.is_none() && *bound != choice.mode)
        {
            let mode = modes::choose(&release.body, Some(bound))?;
            choice = Self::resolve(session, release, request, mode).await?.0;
        }
        choice.propagate_legacy_tasks(session).await?;
        Ok(choice)
    }

    /// Returns the selection of wizard answers, without checking whether its components are compatible.
    pub(super) async fn of_answers(
        session: &mut Session,
        catalog: &Catalog,
        registry: &Registry,
        answers: &WizardResult,
        mode: String,
    ) -> ServiceResult<Self> {
        let mut choice =
            Self { mode, components: canonical_names(answers.components.iter()), ..Self::default() };
        choice.bind(catalog, registry, answers);
        choice.propagate_legacy_tasks(session).await?;
        Ok(choice)
    }

    async fn resolve(
        session: &mut Session,
        release: &Release,
        request: &ClusterRequest,
        mode: String,
    ) -> ServiceResult<(Self, WizardResult)> {
        let catalog = Catalog::read(session, release.clone(), Some(&mode)).await?;
        let registry = catalog.registry();
        let mut is_selection = request.components.is_some();
        // Conflicts have the labels that the wizard displays.
        let mut labeled = registry.clone();
        let answers = match &request.wizard {
            Some(document) => {
                let wizard = Wizard::new(&catalog, &registry, &mode)?;
                is_selection |= wizard.is_generated();
                labeled = wizard.registry(&registry);
                wizard.choose(document).map_err(|problems| {
                    let names = wizard.named_components(document);
                    let conflicts = decide(&catalog, &registry, &canonical_names(names.iter())).conflicts;
                    wizard_error(problems).with_conflicts(conflicts_json(&labeled, &conflicts))
                })?
            }
            None => WizardResult::default(),
        };
        let names = request.components.iter().flatten().chain(&answers.components);
        let mut choice = Self { mode, components: canonical_names(names), ..Self::default() };
        // A written wizard without components selects none. This differs from an empty selection, which must satisfy
        // requirements.
        if is_selection || !choice.components.is_empty() {
            require_compatible(&catalog, &labeled, &choice.components)?;
        }
        choice.bind(&catalog, &registry, &answers);
        if !choice.problems.is_empty() {
            return Err(ServiceError::refused(choice.problems));
        }
        Ok((choice, answers))
    }

    /// Collects the values that components set, overridden by the values that wizard answers set.
    fn bind(&mut self, catalog: &Catalog, registry: &Registry, answers: &WizardResult) {
        let names: Vec<&str> = self.components.iter().map(String::as_str).collect();
        let mut bindings = registry.bindings(&names);
        bindings.extend(answers.bindings.iter().cloned());
        for binding in overwritten_bindings(&bindings) {
            let (model, path) = (binding.model.as_str(), binding.path.as_str());
            tracing::warn!(model, path, "setting is bound more than once; the last value wins");
        }
        let mut enabled: BTreeSet<String> = answers.plugins.clone();
        let selection: Vec<ComponentName> =
            names.iter().filter_map(|name| ComponentName::parse(name)).collect();
        enabled.extend(registry.plugins_for(&selection).into_iter().map(str::to_owned));
        enabled.extend(
            bindings.iter().filter_map(|binding| enabled_plugin(catalog, binding)).map(str::to_owned),
        );
        for name in enabled {
            if let Some(plugin) = catalog.plugin(&name) {
                self.plugins.insert(name, (plugin.clone(), Vec::new()));
            }
        }
        for binding in bindings {
            self.write(catalog, binding);
        }
    }

    fn write(&mut self, catalog: &Catalog, binding: Binding) {
        let Binding { model, path, value } = binding;
        match (model, value) {
            (BoundModel::Cluster, Json::String(value)) if path == "net_provider" => {
                self.net_provider = Some(value);
            }
            (BoundModel::Cluster, Json::String(value)) if path == "net_segment_type" => {
                self.net_segment_type = Some(value);
            }
            (BoundModel::Cluster, value)
                if !value.is_string() && Binding::CLUSTER_FIELDS.contains(&&*path) =>
            {
                let message = format!("a bind sets `cluster:{path}` to {value}, but it must be text");
                let help = "bind it in an option: `{\"cluster:net_segment_type\": tun}`";
                self.problems.push(Diagnostic::plain(message).path("wizard").help(help));
            }
            // The mode is resolved earlier. Other fields cannot be bound, of which the check of a wizard warns.
            (BoundModel::Cluster, _) => {}
            (BoundModel::Settings, value) => match path.split_once('.') {
                Some((section, rest)) if catalog.plugin(section).is_some() => {
                    let own = self.plugins.get_mut(section).filter(|_| !is_switch(rest));
                    if let Some((_, own)) = own {
                        own.push((rest.to_owned(), value));
                    }
                }
                _ => self.settings.push((path, value)),
            },
        }
    }

    /// Writes the values into the default settings of the release.
    pub(super) fn apply(&self, editable: &mut JsonMap) {
        for (path, value) in &self.settings {
            set(editable, path, value.clone());
        }
        if self.has_legacy_tasks && !runs_legacy_tasks(editable) {
            set(editable, "common.propagate_task_deploy.value", Json::Bool(true));
        }
    }

    /// Enables the selected plugins in the new cluster, if they are compatible.
    pub(super) async fn enable(
        &self,
        writing: &mut WriteTransaction,
        cluster: &Cluster,
        release: &Release,
        defaults: &Defaults<'_>,
    ) -> ServiceResult<()> {
        for (plugin, own) in self.plugins.values() {
            let mut settings = plugin.body.attributes_metadata.clone();
            settings.shift_remove("metadata");
            for (path, value) in own {
                set(&mut settings, path, value.clone());
            }
            let attributes = defaults.of_plugin(&settings, None)?;
            let link = ClusterPlugin { plugin_id: plugin.id, enabled: true, attributes };
            writing.cluster_plugin_set(cluster.id, &link).await?;
        }
        let reasons = self.plugin_problems(writing, release, &cluster.editable).await?;
        if reasons.is_empty() { Ok(()) } else { Err(ServiceError::refused(reasons)) }
    }

    /// Returns the reasons why a new cluster with these settings cannot enable the selected plugins.
    pub(super) async fn plugin_problems(
        &self,
        session: &mut Session,
        release: &Release,
        settings: &JsonMap,
    ) -> ServiceResult<Vec<Diagnostic>> {
        let enabling = Enabling {
            settings,
            components: &self.components,
            release,
            plugins: self.plugins.values().map(|(plugin, _)| plugin).collect(),
            fresh: self.plugins.keys().map(String::as_str).collect(),
        };
        enabling.problems(session, |_| "components".to_owned()).await
    }

    /// Returns the names of the plugins to enable.
    pub(super) fn plugin_names(&self) -> impl Iterator<Item = &String> {
        self.plugins.keys()
    }

    /// Switches on the propagation of legacy tasks if a selected plugin has such tasks: a new cluster has no other way to
    /// enable it.
    async fn propagate_legacy_tasks(&mut self, session: &mut Session) -> ServiceResult<()> {
        for (plugin, _) in self.plugins.values() {
            if has_legacy_tasks(session, plugin).await? {
                self.has_legacy_tasks = true;
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Returns the plugin that a binding enables.
fn enabled_plugin<'b>(catalog: &Catalog, binding: &'b Binding) -> Option<&'b str> {
    let (section, rest) = binding.path.split_once('.')?;
    let is_on = binding.model == BoundModel::Settings && is_switch(rest) && binding.value == Json::Bool(true);
    Some(section).filter(|section| is_on && catalog.plugin(section).is_some())
}

/// Reports whether the path within a plugin section enables the plugin; both spellings are accepted.
fn is_switch(path: &str) -> bool {
    matches!(path, "value" | "metadata.enabled")
}

/// Returns canonical component names without duplicates. Invalid names are retained, so that they are
/// reported later.
fn canonical_names<'n>(names: impl Iterator<Item = &'n String>) -> Vec<String> {
    let mut unique = BTreeSet::new();
    let spelled =
        names.map(|name| ComponentName::parse(name).map_or_else(|| name.clone(), |name| name.to_string()));
    spelled.filter(|name| unique.insert(name.clone())).collect()
}

fn require_compatible(catalog: &Catalog, registry: &Registry, components: &[String]) -> ServiceResult<()> {
    let decision = decide(catalog, registry, components);
    if decision.is_compatible() {
        return Ok(());
    }
    let item = |finding| conflict_diagnostic(registry, finding, "components");
    let items = decision.conflicts.iter().map(item).collect();
    Err(ServiceError::refused(items).with_conflicts(conflicts_json(registry, &decision.conflicts)))
}

fn wizard_error(problems: Vec<Diagnostic>) -> ServiceError {
    let item = |problem: Diagnostic| {
        let path = format!("wizard.{}", problem.location.path);
        Diagnostic { message: format!("{path}: {}", problem.message), ..problem }.path(path)
    };
    ServiceError::refused(problems.into_iter().map(item).collect())
}

/// Sets a value at a dotted path. If the path leads to a setting, only its `value` is replaced.
fn set(settings: &mut JsonMap, path: &str, value: Json) {
    let mut keys: Vec<&str> = path.split('.').collect();
    let Some(last) = keys.pop() else { return };
    let mut map = settings;
    for key in keys {
        let inner = map.entry(key).or_insert_with(|| Json::Object(JsonMap::new()));
        if !inner.is_object() {
            *inner = Json::Object(JsonMap::new());
        }
        let Json::Object(inner) = inner else { return };
        map = inner;
    }
    match map.get_mut(last) {
        Some(Json::Object(setting)) if setting.contains_key("value") && !value.is_object() => {
            setting.insert("value".to_owned(), value);
        }
        _ => _ = map.insert(last.to_owned(), value),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_set_at_dotted_paths() {
        let mut settings = JsonMap::new();
        settings
            .insert("common".to_owned(), json!({"debug": {"type": "checkbox", "value": false}, "odd": 5}));
        set(&mut settings, "common.debug.value", json!(true));
        set(&mut settings, "common.odd.value", json!(1));
        set(&mut settings, "new.deep.value", json!("x"));
        set(&mut settings, "flat", json!(2));
        let expected = json!({
            "common": {"debug": {"type": "checkbox", "value": true}, "odd": {"value": 1}},
            "new": {"deep": {"value": "x"}},
            "flat": 2,
        });
        assert_eq!(Json::Object(settings.clone()), expected);
        // A path that ends at a setting addresses its `value`.
        set(&mut settings, "common.debug", json!(false));
        assert_eq!(settings["common"]["debug"], json!({"type": "checkbox", "value": false}));
    }

    #[test]
    fn component_names_are_canonicalized() {
        let names = ["networking:a".to_owned(), "network:a".to_owned(), "odd".to_owned()];
        assert_eq!(canonical_names(names.iter()), ["network:a", "odd"]);
    }
}
