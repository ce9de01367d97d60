//! Builds a registry from a release file and plugins.

use std::path::{Path, PathBuf};

use stoker_diagnostics::{Diagnostic, Diagnostics};
use stoker_manifest::{Format, ParseOptions, parse_with};
use stoker_model::{CompatibilityTarget, Json, JsonMap, NewPlugin};
use stoker_registry::components::{PluginComponents, Registry, newest_supported};

use crate::exit::{Exit, Failure, Outcome};
use crate::input::read_text;
use crate::package;
use crate::printer::Printer;

/// Input files of the registry.
#[derive(Debug, clap::Args)]
pub(super) struct Source {
    /// Release file (YAML or JSON) with `components_metadata`
    #[arg(long, value_name = "FILE")]
    release: PathBuf,

    /// Plugin directories or archives; plugins that do not support the release are ignored
    #[arg(long, value_name = "PATH", num_args = 1..)]
    plugin: Vec<PathBuf>,

    /// Deployment mode that plugins must support, such as `ha_compact` [default: any]
    #[arg(long, value_name = "MODE")]
    mode: Option<String>,
}

/// The registry and the component types that a selection must contain.
pub(super) struct Offline {
    pub(super) registry: Registry,
    pub(super) required_types: Vec<String>,
}

impl Source {
    pub(super) fn read(&self, printer: &mut Printer) -> Outcome<Offline> {
        let release = read_release(&self.release)?;
        let mut plugins: Vec<NewPlugin> = Vec::new();
        for path in &self.plugin {
            plugins.push(package::open(path)?.package()?.plugin);
        }
        let text = |key: &str| release.get(key).and_then(Json::as_str).unwrap_or_default();
        let target = CompatibilityTarget {
            operating_system: text("operating_system"),
            version: text("version"),
            mode: self.mode.as_deref(),
        };
        for plugin in plugins.iter().filter(|plugin| !plugin.is_compatible_with(target)) {
            let (name, version) = (&plugin.name, &plugin.version);
            printer.note(&format!(
                "note: plugin `{name}` {version} does not support the release and is ignored"
            ));
        }
        let titles = plugins.iter().map(|plugin| (plugin.name.as_str(), plugin.title.as_str())).collect();
        let plugins: Vec<PluginComponents<'_>> = plugins.iter().map(PluginComponents::from_plugin).collect();
        let components = self.list(&release, "components_metadata")?;
        let registry =
            Registry::new(components, &newest_supported(&plugins, Some(target))).into_readable(&titles);
        let types = self.list(&release, "required_component_types")?.iter().filter_map(Json::as_str);
        Ok(Offline { registry, required_types: types.map(str::to_owned).collect() })
    }

    fn list<'r>(&self, release: &'r JsonMap, key: &str) -> Outcome<&'r [Json]> {
        match release.get(key) {
            None | Some(Json::Null) => Ok(&[]),
            Some(Json::Array(items)) => Ok(items),
            Some(_) => {
                let file = self.release.display();
                Err(Failure::input(format!("`{key}` of `{file}` must be a list")))
            }
        }
    }
}

fn read_release(path: &Path) -> Outcome<JsonMap> {
    let text = read_text(path)?;
    // Existing releases may contain duplicate keys: earlier tools accepted them.
    let options = ParseOptions { strict_keys: false, ..ParseOptions::default() };
    let parsed = parse_with(&text.content, Format::Yaml, &options);
    let mut problems = Diagnostics::after(parsed.problems);
    let map = parsed.node.and_then(|node| stoker_manifest::reader::json_map(&node, &mut problems));
    let errors = problems.into_vec().into_iter().filter(Diagnostic::is_error);
    let diagnostics: Vec<Diagnostic> = errors.map(|error| text.attach(error.path(""))).collect();
    match map {
        Some(map) if diagnostics.is_empty() => Ok(map),
        _ => Err(Failure { exit: Exit::Input, diagnostics }),
    }
}
