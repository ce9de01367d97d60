use serde_json::{Map, Value as Json};
use stoker_api_types::webhooks::WebhookView;
use stoker_client::Method;

use super::fields::Fields;
use crate::environment;
use crate::exit::Outcome;
use crate::remote::{Format, Remote, typed};

/// Create a webhook
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Deliveries are signed with a secret; the receiver verifies the signature. The secret is read from STOKER_WEBHOOK_SECRET; if that is
not set, the server generates one. The secret is printed only once, by this command.

Examples:
  stoker webhook create chat https://chat.example/hooks/stoker --topic run.failed --topic node.lost
  stoker webhook create shop https://shop.example/hook --env 1")]
pub(super) struct Args {
    /// Webhook name
    #[arg(value_name = "NAME")]
    name: String,

    /// URL to send deliveries to
    #[arg(value_name = "URL")]
    url: String,

    #[command(flatten)]
    fields: Fields,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let mut fields = Map::new();
    fields.insert("name".to_owned(), args.name.clone().into());
    fields.insert("url".to_owned(), args.url.clone().into());
    fields.extend(environment::webhook_secret().map(|secret| ("secret".to_owned(), Json::from(secret))));
    args.fields.apply_to(&mut fields);
    let webhook = remote.send_json(Method::Post, "webhooks", &Json::Object(fields))?;
    remote.report_change("created webhook", &webhook)?;
    if remote.format() == Format::Table
        && let Some(secret) = typed::<WebhookView>(&webhook)?.secret
    {
        remote.note(&format!("secret (shown only once): {secret}"));
    }
    Ok(())
}
