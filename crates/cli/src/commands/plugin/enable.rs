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
    remote.send(&request).map_err(|failure| unfit(failure, &plugin, cluster))?;
    let done = if enabled { "enabled" } else { "disabled" };
    remote.note(&format!("{done} {} in cluster {cluster}", shown(&plugin)));
    Ok(())
}

/// Of a plugin that is for other releases the server says that it is not there; here it is known for which it is.
fn unfit(mut failure: Failure, plugin: &Json, cluster: i64) -> Failure {
    for diagnostic in &mut failure.diagnostics {
        if diagnostic.message.contains("no such plugin") || diagnostic.message.contains(".chosen_id: ") {
            diagnostic.message = format!("{} is not for the release of cluster {cluster}", shown(plugin));
            diagnostic.notes = vec![format!("it is for {}", releases(plugin).join(", "))];
            diagnostic.help = Some(format!("`stoker env show {cluster}` tells the release of the cluster"));
        }
    }
    failure
}
