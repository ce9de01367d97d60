use serde_json::{Map, Value as Json, json};
use stoker_client::Method;

use super::fields::Fields;
use super::find::webhook_path;
use crate::environment;
use crate::exit::{Failure, Outcome};
use crate::remote::Remote;

/// Change a webhook; what is not given stays
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Another secret is taken from STOKER_WEBHOOK_SECRET, with `--new-secret`.

Examples:
  stoker webhook update chat --enabled false
  stoker webhook update chat --all-topics --all-envs
  STOKER_WEBHOOK_SECRET=… stoker webhook update chat --new-secret")]
pub(super) struct Args {
    /// Id or name of the webhook
    #[arg(value_name = "WEBHOOK")]
    webhook: String,

    /// Another name
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Another address
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// Told of everything from now on
    #[arg(long, conflicts_with = "topic")]
    all_topics: bool,

    /// Told of all clusters from now on
    #[arg(long, conflicts_with = "env")]
    all_envs: bool,

    /// Sign with the secret of the environment from now on
    #[arg(long)]
    new_secret: bool,

    #[command(flatten)]
    fields: Fields,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let mut webhook = Map::new();
    webhook.extend(args.name.clone().map(|name| ("name".to_owned(), Json::from(name))));
    webhook.extend(args.url.clone().map(|url| ("url".to_owned(), Json::from(url))));
    webhook.extend(args.all_topics.then(|| ("topics".to_owned(), json!([]))));
    webhook.extend(args.all_envs.then(|| ("cluster".to_owned(), Json::Null)));
    if args.new_secret {
        let secret = environment::webhook_secret()
            .ok_or_else(|| Failure::usage("there is no new secret", "put it into STOKER_WEBHOOK_SECRET"))?;
        webhook.insert("secret".to_owned(), secret.into());
    }
    args.fields.lay(&mut webhook);
    if webhook.is_empty() {
        return Err(Failure::usage("nothing to change", "say what, for example `--enabled false`"));
    }
    let path = webhook_path(remote, &args.webhook)?;
    let changed = remote.send_json(Method::Put, path, &Json::Object(webhook))?;
    remote.made("changed webhook", &changed)
}
