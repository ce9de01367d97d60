use serde_json::{Map, Value as Json};
use stoker_client::Method;

use super::fields::Fields;
use crate::environment;
use crate::exit::Outcome;
use crate::remote::{Format, Remote};

/// Make a webhook
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Messages are signed with a secret that the receiver checks. It is taken from STOKER_WEBHOOK_SECRET; without that one
is made up. It is shown once, here.

Examples:
  stoker webhook create chat https://chat.example/hooks/stoker --topic run.failed --topic node.lost
  stoker webhook create shop https://shop.example/hook --env 1")]
pub(super) struct Args {
    /// How it is called
    #[arg(value_name = "NAME")]
    name: String,

    /// Where messages are sent to
    #[arg(value_name = "URL")]
    url: String,

    #[command(flatten)]
    fields: Fields,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let mut webhook = Map::new();
    webhook.insert("name".to_owned(), args.name.clone().into());
    webhook.insert("url".to_owned(), args.url.clone().into());
    webhook.extend(environment::webhook_secret().map(|secret| ("secret".to_owned(), Json::from(secret))));
    args.fields.lay(&mut webhook);
    let made = remote.send_json(Method::Post, "webhooks", &Json::Object(webhook))?;
    remote.made("made webhook", &made)?;
    if remote.format() == Format::Table
        && let Some(secret) = made["secret"].as_str()
    {
        remote.note(&format!("its secret, which is shown only once: {secret}"));
    }
    Ok(())
}
