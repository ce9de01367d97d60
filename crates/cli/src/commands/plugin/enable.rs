use serde_json::{Value as Json, json};
use stoker_client::{Body, Method, RestRequest};

use super::find::{display_name, find, releases};
use crate::exit::{Failure, Outcome};
use crate::remote::{Remote, SharedOptions};

/// Enable a plugin in a cluster
#[derive(Debug, clap::Args)]
#[command(after_help = "\
If another version of the plugin is enabled in the cluster, it is disabled. The command fails if components are
incompatible, if another plugin defines the same roles or tasks, or if the plugin does not support the release.

Examples:
  stoker plugin enable gridnet --env 1
  stoker plugin enable gridnet==1.0.0 --env 1 --force")]
pub(super) struct Args {
    /// Plugin ID, name or `NAME==VERSION`
    #[arg(value_name = "PLUGIN")]
    plugin: String,

    /// Cluster ID
    #[arg(long, value_name = "CLUSTER")]
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
    let plugin = find(remote, plugin)?;
    let name = plugin["name"].as_str().unwrap_or_default();
    let metadata = json!({"class": "plugin", "enabled": enabled, "chosen_id": plugin["id"]});
    let body = json!({"editable": {name: {"metadata": metadata}}});
    let request = RestRequest::new(Method::Put, format!("clusters/{cluster}/attributes"));
    let request = request.query_opt("force", force.then_some(1)).body(Body::Json(&body));
    remote.send(&request).map_err(|failure| with_cli_hints(failure, &plugin, cluster))?;
    let action = if enabled { "enabled" } else { "disabled" };
    remote.note(&format!("{action} {} in cluster {cluster}", display_name(&plugin)));
    Ok(())
}

/// Rewrites server messages about query parameters and fields into hints about command-line options. The server
/// reports a plugin for other releases as missing; here its releases are known.
fn with_cli_hints(mut failure: Failure, plugin: &Json, cluster: i64) -> Failure {
    for diagnostic in &mut failure.diagnostics {
        if let Some((reason, _)) = diagnostic.message.split_once("; force=1") {
            diagnostic.message = reason.to_owned();
            diagnostic.help = Some("pass `--force` to override".to_owned());
        } else if diagnostic.message.contains("`common.propagate_task_deploy` is off") {
            let command = format!("stoker settings set --env {cluster} common.propagate_task_deploy=true");
            diagnostic.help = Some(format!("run `{command}` to enable it"));
        } else if diagnostic.message.contains("no such plugin") || diagnostic.message.contains(".chosen_id: ")
        {
            diagnostic.message =
                format!("{} does not support the release of cluster {cluster}", display_name(plugin));
            diagnostic.notes = vec![format!("supported releases: {}", releases(plugin).join(", ")).into()];
            diagnostic.help =
                Some(format!("run `stoker env show {cluster}` to see the release of the cluster"));
        }
    }
    failure
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;
    use stoker_diagnostics::Diagnostic;

    #[test]
    fn errors_have_cli_hints() {
        let plugin = json!({"id": 4, "name": "gridnet", "version": "1.0.0",
                            "releases": [{"os": "ubuntu", "version": "mitaka-9.0"}]});
        let hint = |message: &str| {
            let failure = Failure::new(Exit::Failed, Diagnostic::plain(message.to_owned()));
            let diagnostic = with_cli_hints(failure, &plugin, 7).diagnostics.remove(0);
            (diagnostic.message, diagnostic.help.unwrap_or_default())
        };
        let (message, help) = hint("plugin `gridnet` is not hot-pluggable: no; force=1 overrides this");
        assert_eq!(message, "plugin `gridnet` is not hot-pluggable: no");
        assert_eq!(help, "pass `--force` to override");
        let (_, help) = hint("it has tasks, and `common.propagate_task_deploy` is off in this cluster");
        assert_eq!(help, "run `stoker settings set --env 7 common.propagate_task_deploy=true` to enable it");
        let (message, _) = hint("editable.gridnet.metadata.chosen_id: no such plugin");
        assert_eq!(message, "plugin 4 `gridnet` 1.0.0 does not support the release of cluster 7");
        assert_eq!(hint("another reason"), ("another reason".to_owned(), String::new()));
    }
}
