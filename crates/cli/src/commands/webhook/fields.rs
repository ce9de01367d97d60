//! Fields shared by `webhook create` and `webhook update`.

use serde_json::{Map, Value as Json};

#[derive(Debug, clap::Args)]
pub(super) struct Fields {
    /// Event topic to deliver, such as `run.failed`; can be repeated [default for new webhooks: all topics]
    #[arg(long, value_name = "TOPIC")]
    topic: Vec<String>,

    /// Cluster ID; delivers only events of this cluster [default for new webhooks: all clusters]
    #[arg(long, short, value_name = "ID", visible_aliases = ["env-id", "cluster"])]
    env: Option<i64>,

    /// Send deliveries; `false` disables the webhook [default for new webhooks: true]
    #[arg(long, value_name = "true|false", hide_possible_values = true, num_args = 0..=1, default_missing_value = "true")]
    enabled: Option<bool>,
}

impl Fields {
    /// Inserts the fields that were passed.
    pub(super) fn apply_to(&self, webhook: &mut Map<String, Json>) {
        if !self.topic.is_empty() {
            webhook.insert("topics".to_owned(), Json::from(self.topic.clone()));
        }
        webhook.extend(self.env.map(|id| ("cluster".to_owned(), Json::from(id))));
        webhook.extend(self.enabled.map(|enabled| ("enabled".to_owned(), Json::from(enabled))));
    }
}
