use serde_json::{Value as Json, json};
use stoker_client::{Body, Method, Request};

use super::find::{find, releases, shown};
use crate::exit::{Failure, Outcome};
use crate::remote::{Remote, Shared};

/// Enable a plugin in a cluster
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Another version of the plugin that is enabled there is disabled. What speaks against it is told: components that do not
go together, roles or tasks that another plugin has, a release that it was not made for.

Examples:
  stoker plugin enable gridnet --env 1
  stoker plugin enable gridnet==1.0.0 --env 1 --force")]
pub(super) struct Args {
    /// Id or name of the plugin
    #[arg(value_name = "PLUGIN")]
    plugin: String,

    /// Id of the cluster
    #[arg(long, value_name = "CLUSTER")]
    env: i64,

    /// Even if the cluster is deployed and the plugin is not hot-pluggable
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    pub(super) options: Shared,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    switch(remote, Switch { plugin: &args.plugin, cluster: args.env, force: args.force, enabled: true })
}

/// What is to be switched, and where.
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
    let request = Request::new(Method::Put, format!("clusters/{cluster}/attributes"));
    let request = request.maybe("force", force.then_some(1)).body(Body::Json(&body));
    remote.send(&request).map_err(|failure| taught(failure, &plugin, cluster))?;
    let done = if enabled { "enabled" } else { "disabled" };
    remote.note(&format!("{done} {} in cluster {cluster}", shown(&plugin)));
    Ok(())
}

/// What the server says of requests, in words of commands. Of a plugin that is for other releases it says that it is not there; here
/// it is known for which it is.
fn taught(mut failure: Failure, plugin: &Json, cluster: i64) -> Failure {
    for diagnostic in &mut failure.diagnostics {
        if let Some((reason, _)) = diagnostic.message.split_once("; force=1") {
            diagnostic.message = reason.to_owned();
            diagnostic.help = Some("`--force` does it all the same".to_owned());
        } else if diagnostic.message.contains("`common.propagate_task_deploy` is off") {
            let command = format!("stoker settings set --env {cluster} common.propagate_task_deploy=true");
            diagnostic.help = Some(format!("`{command}` switches it on"));
        } else if diagnostic.message.contains("no such plugin") || diagnostic.message.contains(".chosen_id: ")
        {
            diagnostic.message = format!("{} is not for the release of cluster {cluster}", shown(plugin));
            diagnostic.notes = vec![format!("it is for {}", releases(plugin).join(", "))];
            diagnostic.help = Some(format!("`stoker env show {cluster}` tells the release of the cluster"));
        }
    }
    failure
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Diagnostic;
    use crate::exit::Exit;

    #[test]
    fn refusals_say_what_to_type() {
        let plugin = json!({"id": 4, "name": "gridnet", "version": "1.0.0",
                            "releases": [{"os": "ubuntu", "version": "mitaka-9.0"}]});
        let told = |message: &str| {
            let failure = Failure::new(Exit::Failed, Diagnostic::error(message.to_owned()));
            let told = taught(failure, &plugin, 7).diagnostics.remove(0);
            (told.message, told.help.unwrap_or_default())
        };
        let (message, help) = told("plugin `gridnet` is not hot-pluggable: no; force=1 does it all the same");
        assert_eq!(message, "plugin `gridnet` is not hot-pluggable: no");
        assert_eq!(help, "`--force` does it all the same");
        let (_, help) = told("it has tasks, and `common.propagate_task_deploy` is off in this environment");
        assert_eq!(help, "`stoker settings set --env 7 common.propagate_task_deploy=true` switches it on");
        let (message, _) = told("editable.gridnet.metadata.chosen_id: no such plugin");
        assert_eq!(message, "plugin 4 `gridnet` 1.0.0 is not for the release of cluster 7");
        assert_eq!(told("another reason"), ("another reason".to_owned(), String::new()));
    }
}
