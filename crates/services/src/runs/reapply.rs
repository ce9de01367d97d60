//! Parameters and progress of a reapplication, and their stored encoding.

use serde_json::json;
use stoker_model::{Json, NodeId, RunId};

/// Key of the parameters in the options of a run.
pub(super) const KEY: &str = "reapply";

/// Remaining work, stored in the options of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reapply {
    /// UUID of the module.
    pub module: String,
    pub batches: Vec<Vec<NodeId>>,
    /// Delay between two batches.
    pub delay_s: u64,
}

/// Progress, stored in the result of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Number of dispatched batches.
    pub n_sent: usize,
    /// Module runs of the latest batch.
    pub lists: Vec<RunId>,
}

impl Reapply {
    pub(super) fn encode(&self) -> Json {
        let batches: Vec<Vec<i64>> =
            self.batches.iter().map(|batch| batch.iter().map(|node| node.0).collect()).collect();
        json!({"version": 1, KEY: {"module": self.module, "delay_s": self.delay_s, "batches": batches}})
    }

    pub(super) fn decode(options: &Json) -> Option<Self> {
        let options = options.get(KEY)?;
        let batch = |batch: &Json| {
            let ids = batch.as_array()?.iter().map(|id| id.as_i64().map(NodeId));
            ids.collect::<Option<Vec<NodeId>>>()
        };
        Some(Self {
            module: options.get("module")?.as_str()?.to_owned(),
            batches: options.get("batches")?.as_array()?.iter().map(batch).collect::<Option<_>>()?,
            delay_s: options.get("delay_s")?.as_u64()?,
        })
    }
}

impl Progress {
    pub fn encode(&self, reapply: &Reapply) -> Json {
        let lists: Vec<i64> = self.lists.iter().map(|run| run.0).collect();
        json!({
            "action": KEY, "module": reapply.module, "n_batches": reapply.batches.len(), "n_sent": self.n_sent,
            "lists": lists,
        })
    }

    pub fn decode(result: &Json) -> Self {
        let n_sent = result.get("n_sent").and_then(Json::as_u64).unwrap_or(0);
        let lists = result.get("lists").and_then(Json::as_array).into_iter().flatten();
        Self {
            n_sent: usize::try_from(n_sent).unwrap_or(usize::MAX),
            lists: lists.filter_map(Json::as_i64).map(RunId).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_form_round_trips() {
        let reapply = Reapply {
            module: "m".to_owned(),
            batches: vec![vec![NodeId(1), NodeId(2)], vec![NodeId(3)]],
            delay_s: 7,
        };
        assert_eq!(Reapply::decode(&reapply.encode()), Some(reapply.clone()));
        let progress = Progress { n_sent: 1, lists: vec![RunId(4), RunId(5)] };
        assert_eq!(Progress::decode(&progress.encode(&reapply)), progress);
    }

    #[test]
    fn other_options_are_ignored() {
        for strange in [
            json!({}),
            json!({"version": 1}),
            json!({KEY: {"module": 1}}),
            json!({KEY: {"batches": [["x"]]}}),
        ] {
            assert_eq!(Reapply::decode(&strange), None, "{strange}");
        }
        assert_eq!(Progress::decode(&Json::Null), Progress::default());
    }
}
