use serde_json::{Map, Value as Json, json};
use stoker_client::Method;

use super::find::module_path;
use crate::exit::Outcome;
use crate::remote::Remote;

/// Apply a module again to nodes that have an older version
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Runs in the background. To see the progress, run `stoker module instances MODULE --count`.

Examples:
  stoker module reapply licence
  stoker module reapply licence --batch-size 10 --delay 30 --force")]
pub(super) struct Args {
    /// Module ID or name
    #[arg(value_name = "MODULE")]
    module: String,

    /// Filter by the MD5 checksum of the payload that nodes have
    #[arg(long, value_name = "MD5")]
    md5: Option<String>,

    /// Maximum number of nodes updated concurrently; only administrators can exceed the default [default: 50]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    batch_size: Option<u32>,

    /// Delay between batches in seconds [default: 0]
    #[arg(long, value_name = "SECONDS")]
    delay: Option<u32>,

    /// Include nodes that already have the current version
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let mut reapply = Map::new();
    reapply.insert("force".to_owned(), args.force.into());
    reapply.extend(args.md5.clone().map(|md5| ("md5".to_owned(), Json::from(md5))));
    reapply.extend(args.batch_size.map(|size| ("batch_size".to_owned(), Json::from(size))));
    reapply.extend(args.delay.map(|delay| ("batch_delay".to_owned(), Json::from(delay))));
    let path = module_path(remote, &args.module)?;
    remote.send_json(Method::Put, format!("{path}/instances"), &json!({"reapply": reapply}))?;
    remote.note(&format!("reapplying module {}", args.module));
    Ok(())
}
