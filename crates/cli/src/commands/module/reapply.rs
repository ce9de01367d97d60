use serde_json::{Map, Value as Json, json};
use stoker_client::Method;

use super::find::module_path;
use crate::exit::Outcome;
use crate::remote::Remote;

/// Apply a module again to the nodes that carry an older version of it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
It goes on behind; `stoker module instances MODULE --count` tells how far it is.

Examples:
  stoker module reapply licence
  stoker module reapply licence --batch-size 10 --delay 30 --force")]
pub(super) struct Args {
    /// Id or name of the module
    #[arg(value_name = "MODULE")]
    module: String,

    /// Only to nodes that carry it with this sum of its contents
    #[arg(long, value_name = "MD5")]
    md5: Option<String>,

    /// Nodes at a time; users other than admins cannot exceed the server's limit
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    batch_size: Option<u32>,

    /// Seconds between two batches
    #[arg(long, value_name = "SECONDS")]
    delay: Option<u32>,

    /// Also to nodes that have the present version
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
    remote.note(&format!("module {} is being applied again", args.module));
    Ok(())
}
