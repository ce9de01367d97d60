//! Notifications: a human-readable message and a JSON document.

use serde_json::json;
use stoker_model::{Cluster, Json, Micros, NewNotification, Node, Run, Topic, Webhook};

use crate::clock;

/// How the server learned that the machine of a node was replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// Another machine joined with a join token.
    Joined,
    /// The machine id differs from the one at the last connection.
    Connected,
    /// A user announced the replacement.
    Requested,
}

/// Returns the notification of a started or ended run.
pub fn run_news(topic: Topic, run: &Run, cluster: &Cluster, now: Micros) -> NewNotification {
    let what = match topic {
        Topic::RunStarted => "has started",
        Topic::RunSucceeded => "has succeeded",
        Topic::RunStopped => "was stopped",
        Topic::RunPartial => "has succeeded in part",
        _ => "has failed",
    };
    let mut message = format!("{} of `{}` (run {}) {what}", run.name, cluster.name, run.id);
    if let Some(why) = run.message.as_deref().filter(|_| topic != Topic::RunStopped) {
        message = format!("{message}: {why}");
    }
    let mut body = body_of(topic, now, &message);
    body["cluster"] = json!({"id": cluster.id.0, "name": cluster.name});
    body["run"] = json!({
        "id": run.id.0,
        "uuid": run.uuid,
        "name": run.name.as_str(),
        "status": run.status.as_str(),
        "message": run.message,
        "started_at": run.started_at.map(clock::zoned),
        "ended_at": run.ended_at.map(clock::zoned),
    });
    NewNotification {
        topic,
        message,
        cluster_id: Some(cluster.id),
        run_id: Some(run.id),
        node_id: None,
        body,
    }
}

/// Returns the notification of a connected or lost agent.
pub fn node_news(node: &Node, now: Micros) -> NewNotification {
    let (topic, what) = if node.online {
        (Topic::NodeBack, "is online again")
    } else {
        (Topic::NodeLost, "is offline: its agent sends no heartbeats")
    };
    let message = format!("node {} ({}) {what}", node.id, node.name);
    let mut body = body_of(topic, now, &message);
    body["node"] = node_of(node);
    body["cluster"] = node.cluster_id.map_or(Json::Null, |id| json!({"id": id.0}));
    NewNotification {
        topic,
        message,
        cluster_id: node.cluster_id,
        run_id: None,
        node_id: Some(node.id),
        body,
    }
}

/// Returns the notification of a replaced machine: of a node, or of the master if `node` is `None`.
pub fn replaced_news(node: Option<&Node>, how: Replacement, now: Micros) -> NewNotification {
    let topic = Topic::NodeReplaced;
    let who =
        node.map_or_else(|| "the master".to_owned(), |node| format!("node {} ({})", node.id, node.name));
    let what = match how {
        Replacement::Joined => "was replaced: another machine joined in its place",
        Replacement::Connected => "was replaced: its agent runs on a machine with another id",
        Replacement::Requested => "will be replaced: its agent was revoked",
    };
    let message = format!("{who} {what}; the next run executes all of its tasks");
    let cluster_id = node.and_then(|node| node.cluster_id);
    let mut body = body_of(topic, now, &message);
    body["node"] = node.map_or(Json::Null, node_of);
    body["cluster"] = cluster_id.map_or(Json::Null, |id| json!({"id": id.0}));
    NewNotification { topic, message, cluster_id, run_id: None, node_id: node.map(|node| node.id), body }
}

fn node_of(node: &Node) -> Json {
    json!({"id": node.id.0, "name": node.name, "hostname": node.hostname})
}

/// Returns the document of a test delivery.
pub fn test_message(webhook: &Webhook, now: Micros) -> Json {
    let mut body = body_of(Topic::WebhookTest, now, "this is a test");
    body["webhook"] = json!({"id": webhook.id.0, "name": webhook.body.name});
    body
}

fn body_of(topic: Topic, now: Micros, message: &str) -> Json {
    json!({"topic": topic.as_str(), "at": clock::zoned(now), "message": message})
}
