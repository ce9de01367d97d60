//! Registry evaluations as JSON documents, for checking plugins without a server.
//!
//! | kind | input | result |
//! |---|---|---|
//! | `decision` | `components`, `plugins`, `selection`, `required_types`, `release` | `{compatible, conflicts}` |
//! | `wizard_mix` | `release_wizard`, `plugin_wizards` | the wizard, or a list of conflicts as error |
//! | `stage_order` | `plugins` with their `tasks` | `[[plugin, index], …]`, or a list of errors as error |
//! | `restriction_gen` | `wizard`, `components`, `plugins` | restrictions by `Pane.control[data]` |
//!
//! Missing input is empty. Input of the wrong type is an error. Results can be much larger than inputs, so
//! input sizes are bounded, far above those of real releases.

use stoker_model::{CompatibilityTarget, Json, JsonMap};

use crate::components::{PluginComponents, Registry, Selection, newest_supported};
use crate::stages::{OrderedTask, StageError, StagePlugin, order_tasks};
use crate::wizard::{PluginWizard, WizardConflict, generated_restrictions, merge_wizards};

/// Evaluates a case; returns `{"id", "result"}` or `{"id", "error"}`.
pub fn evaluate_case(case: &Json) -> Json {
    let (key, value) = match evaluate(case) {
        Ok(result) => ("result", result),
        Err(error) => ("error", error),
    };
    let id = case.get("id").cloned().unwrap_or_default();
    object([("id", id), (key, value)])
}

fn evaluate(case: &Json) -> Result<Json, Json> {
    match case.get("kind").and_then(Json::as_str) {
        Some("decision") => decision(case),
        Some("wizard_mix") => wizard_mix(case),
        Some("stage_order") => stage_order(case),
        Some("restriction_gen") => restriction_gen(case),
        _ => Err(Json::from("`kind` must be `decision`, `wizard_mix`, `stage_order` or `restriction_gen`")),
    }
}

/// Maximum number of components, because evaluation is quadratic in their number.
const COMPONENTS_MAX: usize = 2000;
/// Maximum number of choices, because evaluation is cubic in their number.
const CHOICES_MAX: usize = 250;

fn decision(case: &Json) -> Result<Json, Json> {
    let target = target(case)?;
    let plugins = plugins(case)?;
    check_limit(list(case, "selection")?.len(), "names in `selection`", COMPONENTS_MAX)?;
    let registry = Registry::new(list(case, "components")?, &newest_supported(&plugins, target));
    let (components, required_types) = (texts(case, "selection")?, texts(case, "required_types")?);
    let selection = Selection { components: &components, required_types: &required_types };
    Ok(registry.check_selection(selection).to_json())
}

fn wizard_mix(case: &Json) -> Result<Json, Json> {
    let null = Json::Null;
    let mut wizards = Vec::new();
    for entry in list(case, "plugin_wizards")? {
        wizards.push(PluginWizard {
            name: text(entry, "plugin")?.ok_or("`plugin` is missing")?,
            version: text(entry, "version")?.unwrap_or_default(),
            wizard: entry.get("wizard").unwrap_or(&null),
            components: Vec::new(),
        });
    }
    let mixed = merge_wizards(case.get("release_wizard").unwrap_or(&null), &wizards);
    mixed.map(|mixed| Json::Object(mixed.wizard)).map_err(|conflicts| {
        let mut documents: Vec<Json> = conflicts.iter().map(conflict_json).collect();
        // Conflicts that differ only in the earlier plugin have the same form here.
        documents.dedup();
        Json::Array(documents)
    })
}

fn conflict_json(conflict: &WizardConflict) -> Json {
    object([
        ("path", Json::from(&*conflict.path)),
        ("kind", Json::from(conflict.kind)),
        ("plugin", Json::from(&*conflict.plugin)),
    ])
}

/// Default for packages without a version: the first version that supports numbers in stages.
const PACKAGE_VERSION_DEFAULT: &str = "2.0.0";

fn stage_order(case: &Json) -> Result<Json, Json> {
    let mut plugins = Vec::new();
    for entry in list(case, "plugins")? {
        plugins.push(StagePlugin {
            name: text(entry, "name")?.ok_or("`name` of a plugin is missing")?,
            version: text(entry, "version")?.unwrap_or_default(),
            package_version: text(entry, "package_version")?.unwrap_or(PACKAGE_VERSION_DEFAULT),
            tasks: list(entry, "tasks")?,
            graph_tasks: &[],
        });
    }
    let pair = |task: &OrderedTask<'_>| Json::from(vec![Json::from(task.plugin), Json::from(task.task_idx)]);
    match order_tasks(&plugins) {
        Ok(ordered) => Ok(ordered.iter().map(pair).collect()),
        Err(errors) => Err(errors.iter().map(stage_error).collect()),
    }
}

fn stage_error(error: &StageError) -> Json {
    object([
        ("plugin", Json::from(&*error.plugin)),
        ("task", error.task_idx.map_or(Json::Null, Json::from)),
        ("code", Json::from(error.code)),
    ])
}

fn restriction_gen(case: &Json) -> Result<Json, Json> {
    let plugins = plugins(case)?;
    let registry = Registry::new(list(case, "components")?, &newest_supported(&plugins, None));
    let empty = JsonMap::new();
    let wizard = match case.get("wizard") {
        None | Some(Json::Null) => &empty,
        Some(Json::Object(wizard)) => wizard,
        Some(_) => return Err(Json::from("`wizard` must be a map")),
    };
    let panes = wizard.values().filter_map(Json::as_object);
    let n_choices = panes
        .flat_map(JsonMap::values)
        .map(|control| control.get("values").and_then(Json::as_array).map_or(1, Vec::len));
    check_limit(n_choices.sum(), "choices in `wizard`", CHOICES_MAX)?;
    let generated = generated_restrictions(wizard, &registry).into_iter();
    let documents = generated.map(|(target, restrictions)| {
        (target, restrictions.iter().map(crate::restrictions::Restriction::to_json).collect())
    });
    Ok(Json::Object(documents.collect()))
}

/// Returns the release that plugins have to support, if given.
fn target(case: &Json) -> Result<Option<CompatibilityTarget<'_>>, Json> {
    let Some(release) = case.get("release").filter(|release| !release.is_null()) else { return Ok(None) };
    let operating_system = text(release, "operating_system")?.or(text(release, "os")?);
    Ok(Some(CompatibilityTarget {
        operating_system: operating_system.unwrap_or_default(),
        version: text(release, "version")?.unwrap_or_default(),
        mode: text(release, "mode")?,
    }))
}

fn plugins(case: &Json) -> Result<Vec<PluginComponents<'_>>, Json> {
    let mut plugins = Vec::new();
    for entry in list(case, "plugins")? {
        let has_releases = entry.get("releases").is_some_and(|releases| !releases.is_null());
        plugins.push(PluginComponents {
            name: text(entry, "name")?.ok_or("`name` of a plugin is missing")?,
            version: text(entry, "version")?.unwrap_or_default(),
            releases: if has_releases { Some(list(entry, "releases")?) } else { None },
            provides: list(entry, "provides")?,
            components: list(entry, "components")?,
        });
    }
    let n_plugin_components: usize =
        plugins.iter().map(|plugin| plugin.provides.len() + plugin.components.len()).sum();
    let n_components = list(case, "components")?.len() + n_plugin_components;
    check_limit(n_components, "components", COMPONENTS_MAX)?;
    Ok(plugins)
}

fn check_limit(n: usize, subject: &str, n_max: usize) -> Result<(), Json> {
    if n <= n_max {
        Ok(())
    } else {
        Err(Json::from(format!("too many {subject}: {n}, the limit is {n_max}")))
    }
}

fn list<'a>(document: &'a Json, key: &str) -> Result<&'a [Json], Json> {
    match document.get(key) {
        None | Some(Json::Null) => Ok(&[]),
        Some(Json::Array(items)) => Ok(items),
        Some(_) => Err(Json::from(format!("`{key}` must be a list"))),
    }
}

fn texts<'a>(document: &'a Json, key: &str) -> Result<Vec<&'a str>, Json> {
    let texts: Option<Vec<&str>> = list(document, key)?.iter().map(Json::as_str).collect();
    texts.ok_or_else(|| Json::from(format!("`{key}` must be a list of strings")))
}

fn text<'a>(document: &'a Json, key: &str) -> Result<Option<&'a str>, Json> {
    match document.get(key) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => Ok(Some(text)),
        Some(_) => Err(Json::from(format!("`{key}` must be text"))),
    }
}

fn object<const N: usize>(entries: [(&str, Json); N]) -> Json {
    Json::Object(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}
