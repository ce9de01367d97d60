use serde_json::json;
use stoker_client::Method;

use super::find::find;
use crate::exit::Outcome;
use crate::remote::{Remote, Shared};

/// Have the server read files of installed plugins again
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without names, everything below the server's folder of plugins is read: what is new there is registered, and plugins
whose files are gone are removed unless a cluster uses them. A plugin is named by its id, as `gridnet`
(its newest version), or as `gridnet==1.0.0`.

Examples:
  stoker plugin sync
  stoker plugin sync gridnet 4")]
pub(super) struct Args {
    /// Ids or names of plugins
    #[arg(value_name = "PLUGIN")]
    plugins: Vec<String>,

    #[command(flatten)]
    pub(super) options: Shared,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let mut ids = Vec::new();
    for name in &args.plugins {
        ids.push(find(remote, name)?["id"].clone());
    }
    let body = if ids.is_empty() { json!({}) } else { json!({"ids": ids}) };
    let answer = remote.send_json(Method::Post, "plugins/sync", &body)?;
    for warning in answer["warnings"].as_array().into_iter().flatten().filter_map(|text| text.as_str()) {
        remote.note(&format!("warning: {warning}"));
    }
    remote.note("files of plugins were read again");
    Ok(())
}
