use serde_json::json;
use stoker_api_types::plugins::PluginView;
use stoker_client::{Body, Method, RestRequest};
use stoker_model::codes;

use super::find::{display_name, find, releases};
use crate::exit::{Failure, Outcome};
use crate::remote::{Remote, SharedOptions, typed, with_force_hint};

/// Enable a plugin in a cluster
#[derive(Debug, clap::Args)]
#[command(after_help = "\
If another version of the plugin is enabled in the cluster, that version is disabled. The command fails if components are
incompatible, if another plugin defines the same roles or tasks, or if the plugin does not support the release.

Examples:
  stoker plugin enable gridnet --env 1
  stoker plugin enable gridnet==1.0.0 --env 1 --force")]
pub(super) struct Args {
    /// Plugin ID, name (newest version) or `NAME==VERSION`
    #[arg(value_name = "PLUGIN")]
    plugin: String,

    /// Cluster ID
    #[arg(long, short, value_name = "ID", visible_aliases = ["env-id", "cluster"])]
    env: i64,

    /// Enable even if the cluster is deployed and the plugin is not hot-pluggable
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    pub(super) options: SharedOptions,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    switch(remote, Switch { plugin: &args.plugin, cluster: args.env, force: args.force, enabled: true })
}

/// Request to enable or disable a plugin in a cluster.
#[derive(Clone, Copy)]
pub(super) struct Switch<'a> {
    pub(super) plugin: &'a str,
    pub(super) cluster: i64,
    pub(super) force: bool,
    pub(super) enabled: bool,
}

pub(super) fn switch(remote: &mut Remote<'_>, switch: Switch<'_>) -> Outcome {
    let Switch { plugin, cluster, force, enabled } = switch;
    let plugin: PluginView = typed(&find(remote, plugin)?)?;
    let metadata = json!({"class": "plugin", "enabled": enabled, "chosen_id": plugin.id});
    let body = json!({"editable": {&plugin.name: {"metadata": metadata}}});
    let request = RestRequest::new(Method::Put, format!("clusters/{cluster}/attributes"));
    let request = request.query_opt("force", force.then_some(1)).body(Body::Json(&body));
    remote.send(&request).map_err(|failure| with_cli_hints(failure, &plugin, cluster))?;
    let action = if enabled { "enabled" } else { "disabled" };
    remote.note(&format!("{action} {} in cluster {cluster}", display_name(&plugin)));
    Ok(())
}

/// Adds hints about command-line options to rejections, which are recognized by their code. The server reports a plugin for
/// other releases as missing; here its releases are known.
fn with_cli_hints(failure: Failure, plugin: &PluginView, cluster: i64) -> Failure {
    let mut failure = with_force_hint(failure);
    for diagnostic in &mut failure.diagnostics {
        match &*diagnostic.code {
            codes::LEGACY_TASKS => {
                let command =
                    format!("stoker settings set --env {cluster} common.propagate_task_deploy=true");
                diagnostic.help = Some(format!("run `{command}` to enable it"));
            }
            codes::PLUGIN_UNSUPPORTED | codes::PLUGIN_VERSION => {
                diagnostic.message =
                    format!("{} does not support the release of cluster {cluster}", display_name(plugin));
                diagnostic.notes =
                    vec![format!("supported releases: {}", releases(plugin).join(", ")).into()];
                diagnostic.help =
                    Some(format!("run `stoker env show {cluster}` to see the release of the cluster"));
            }
            _ => {}
        }
    }
    failure
}

#[cfg(test)]
mod tests {
    use stoker_diagnostics::Diagnostic;

    use super::*;
    use crate::exit::Exit;

    #[test]
    fn errors_have_cli_hints() {
        let plugin = PluginView {
            id: 4,
            name: "gridnet".to_owned(),
            title: String::new(),
            version: "1.0.0".to_owned(),
            package_version: "5.0.0".to_owned(),
            description: None,
            homepage: None,
            is_hotpluggable: false,
            fuel_version: Vec::new(),
            groups: Vec::new(),
            authors: Vec::new(),
            licenses: Vec::new(),
            releases: vec![json!({"os": "ubuntu", "version": "mitaka-9.0"})],
            warnings: None,
        };
        let hint = |code: &str| {
            let failure = Failure::new(Exit::Failed, Diagnostic::error(code.to_owned(), "any text"));
            let diagnostic = with_cli_hints(failure, &plugin, 7).diagnostics.remove(0);
            (diagnostic.message, diagnostic.help.unwrap_or_default())
        };
        for code in ["cluster-locked", "plugin-not-hot-pluggable"] {
            assert_eq!(hint(code), ("any text".to_owned(), "pass `--force` to override".to_owned()));
        }
        let (_, help) = hint("plugin-legacy-tasks");
        assert_eq!(help, "run `stoker settings set --env 7 common.propagate_task_deploy=true` to enable it");
        for code in ["plugin-unsupported", "plugin-version"] {
            let (message, _) = hint(code);
            assert_eq!(message, "plugin 4 `gridnet` 1.0.0 does not support the release of cluster 7");
        }
        assert_eq!(hint("another-code"), ("any text".to_owned(), String::new()));
    }
}
