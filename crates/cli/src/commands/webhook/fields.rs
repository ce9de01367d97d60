//! What can be said of a webhook when it is made and when it is changed.

use serde_json::{Map, Value as Json};

#[derive(Debug, clap::Args)]
pub(super) struct Fields {
    /// What it is told of, as run.failed; can be given several times, everything if not given
    #[arg(long, value_name = "TOPIC")]
    topic: Vec<String>,

    /// The cluster it is told of; all if not given
    #[arg(long, short, value_name = "ID", visible_alias = "cluster")]
    env: Option<i64>,

    /// Whether it is told anything at all
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    enabled: Option<bool>,
}

impl Fields {
    /// Those that were given.
    pub(super) fn lay(&self, webhook: &mut Map<String, Json>) {
        if !self.topic.is_empty() {
            webhook.insert("topics".to_owned(), Json::from(self.topic.clone()));
        }
        webhook.extend(self.env.map(|id| ("cluster".to_owned(), Json::from(id))));
        webhook.extend(self.enabled.map(|enabled| ("enabled".to_owned(), Json::from(enabled))));
    }
}
