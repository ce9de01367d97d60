use serde_json::json;
use stoker_api_types::plugins::{PluginView, SyncView};
use stoker_client::Method;

use super::find::find;
use crate::exit::Outcome;
use crate::remote::{Remote, SharedOptions, typed};

/// Synchronize registered plugins with the plugin files on the server
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without arguments, the server scans its whole plugin directory: changed files are reloaded, new plugins are registered,
and plugins without files are removed unless a cluster uses them.

Examples:
  stoker plugin sync
  stoker plugin sync gridnet 4")]
pub(super) struct Args {
    /// Plugins to reload: IDs, names (newest version) or `NAME==VERSION` [default: all, including new and removed plugins]
    #[arg(value_name = "PLUGIN")]
    plugins: Vec<String>,

    #[command(flatten)]
    pub(super) options: SharedOptions,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let mut ids = Vec::new();
    for name in &args.plugins {
        ids.push(typed::<PluginView>(&find(remote, name)?)?.id);
    }
    let body = if ids.is_empty() { json!({}) } else { json!({"ids": ids}) };
    let response: SyncView = typed(&remote.send_json(Method::Post, "plugins/sync", &body)?)?;
    for warning in response.warnings {
        remote.note(&format!("warning: {warning}"));
    }
    remote.note("reloaded plugin files");
    Ok(())
}
