use serde_json::{Map, Value as Json, json};
use stoker_client::Method;

use super::fields::Fields;
use super::find::webhook_path;
use crate::environment;
use crate::exit::{Failure, Outcome};
use crate::remote::Remote;

/// Update a webhook; omitted fields keep their values
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker webhook update chat --enabled false
  stoker webhook update chat --all-topics --all-envs
  STOKER_WEBHOOK_SECRET=… stoker webhook update chat --new-secret")]
pub(super) struct Args {
    /// Webhook ID or name
    #[arg(value_name = "WEBHOOK")]
    webhook: String,

    /// New name
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// New URL
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// Deliver all topics
    #[arg(long, conflicts_with = "topic")]
    all_topics: bool,

    /// Deliver events of all clusters
    #[arg(long, conflicts_with = "env")]
    all_envs: bool,

    /// Sign deliveries with a new secret, read from the environment variable `STOKER_WEBHOOK_SECRET`
    #[arg(long)]
    new_secret: bool,

    #[command(flatten)]
    fields: Fields,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let mut fields = Map::new();
    fields.extend(args.name.clone().map(|name| ("name".to_owned(), Json::from(name))));
    fields.extend(args.url.clone().map(|url| ("url".to_owned(), Json::from(url))));
    fields.extend(args.all_topics.then(|| ("topics".to_owned(), json!([]))));
    fields.extend(args.all_envs.then(|| ("cluster".to_owned(), Json::Null)));
    if args.new_secret {
        let secret = environment::webhook_secret()
            .ok_or_else(|| Failure::usage("`--new-secret` needs a secret", "set STOKER_WEBHOOK_SECRET"))?;
        fields.insert("secret".to_owned(), secret.into());
    }
    args.fields.apply_to(&mut fields);
    if fields.is_empty() {
        return Err(Failure::usage("no fields to update", "pass at least one, such as `--enabled false`"));
    }
    let path = webhook_path(remote, &args.webhook)?;
    let webhook = remote.send_json(Method::Put, path, &Json::Object(fields))?;
    remote.report_change("updated webhook", &webhook)
}
