use std::path::PathBuf;

use serde_json::{Map, json};
use stoker_client::Method;

use super::MODULES;
use super::fields::{Fields, contents};
use crate::exit::Outcome;
use crate::remote::Remote;

/// Make a module of a file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Contents are stored sealed and shown by nothing but the node that carries them.

Examples:
  stoker module create greeting --type ping --file message.txt
  stoker module create licence --type file --file licence.module --priority-apply --apply-order 0 --all-tenants")]
pub(super) struct Args {
    /// How it is called
    #[arg(value_name = "NAME")]
    name: String,

    /// The driver that applies it, as ping, file or script
    #[arg(long = "type", value_name = "TYPE")]
    module_type: String,

    /// Its contents; `-` is standard input
    #[arg(long, short, value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    fields: Fields,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let mut module = Map::new();
    module.insert("name".to_owned(), args.name.clone().into());
    module.insert("module_type".to_owned(), args.module_type.clone().into());
    module.insert("contents".to_owned(), contents(&args.file)?.into());
    args.fields.lay(&mut module);
    let made = remote.send_json(Method::Post, MODULES, &json!({"module": module}))?;
    remote.made("made module", &made["module"])
}
