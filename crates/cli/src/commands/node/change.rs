use serde_json::{Map, Value as Json, json};
use stoker_client::{Method, Request};

use crate::exit::{Failure, Outcome};
use crate::remote::Remote;

/// Make a node known
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Nodes with an agent make themselves known; this is for those that have none yet.

Examples:
  stoker node create --mac 52:54:00:12:34:56 --name first
  stoker node create --mac 52:54:00:12:34:57 --ip 10.20.0.7 --label rack=7")]
pub(super) struct CreateArgs {
    /// Its hardware address
    #[arg(long, value_name = "MAC", value_parser = crate::input::mac)]
    mac: String,

    /// What it is called
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Its address
    #[arg(long, value_name = "IP")]
    ip: Option<String>,

    /// A label
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label)]
    labels: Vec<(String, String)>,
}

/// Change a node
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker node update 1 --name first --label rack=7 --label row=3
  stoker node update 1 --hostname db-1 --remove-label row")]
pub(super) struct UpdateArgs {
    /// Id of the node
    #[arg(value_name = "NODE")]
    node: i64,

    /// What it is called
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Its host name, before it is deployed
    #[arg(long, value_name = "NAME")]
    hostname: Option<String>,

    /// A label to set
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label)]
    labels: Vec<(String, String)>,

    /// A label to take away
    #[arg(long = "remove-label", value_name = "KEY")]
    removed: Vec<String>,
}

/// Forget nodes
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker node delete 1
  stoker node delete 1 2 3")]
pub(super) struct DeleteArgs {
    /// Ids of the nodes
    #[arg(value_name = "NODE", required = true, value_delimiter = ',')]
    nodes: Vec<i64>,
}

fn label(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("must be KEY=VALUE")?;
    if key.is_empty() { Err("the key is empty".to_owned()) } else { Ok((key.to_owned(), value.to_owned())) }
}

pub(super) fn create(args: &CreateArgs, remote: &mut Remote<'_>) -> Outcome {
    let mut body = json!({"mac": args.mac, "status": "discover"});
    for (key, value) in [("name", &args.name), ("ip", &args.ip)] {
        if let Some(value) = value {
            body[key] = json!(value);
        }
    }
    if !args.labels.is_empty() {
        let labels: Map<String, Json> =
            args.labels.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
        body["labels"] = Json::Object(labels);
    }
    let node = remote.send_json(Method::Post, "nodes", &body)?;
    remote.made("made node", &node)
}

pub(super) fn update(args: &UpdateArgs, remote: &mut Remote<'_>) -> Outcome {
    let path = format!("nodes/{}", args.node);
    let mut body = json!({});
    for (key, value) in [("name", &args.name), ("hostname", &args.hostname)] {
        if let Some(value) = value {
            body[key] = json!(value);
        }
    }
    if !args.labels.is_empty() || !args.removed.is_empty() {
        // Labels are written as a whole.
        let mut labels = remote.get(path.clone())?["labels"].as_object().cloned().unwrap_or_default();
        for key in &args.removed {
            labels.shift_remove(key);
        }
        for (key, value) in &args.labels {
            labels.insert(key.clone(), json!(value));
        }
        body["labels"] = Json::Object(labels);
    }
    if body == json!({}) {
        return Err(Failure::usage("nothing is to be changed", "add `--name` or `--label`, or see `--help`"));
    }
    let node = remote.send_json(Method::Put, path, &body)?;
    remote.made("changed node", &node)
}

pub(super) fn delete(args: &DeleteArgs, remote: &mut Remote<'_>) -> Outcome {
    let ids = args.nodes.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    remote.send(&Request::new(Method::Delete, "nodes").query("ids", &ids))?;
    remote.note(&format!("forgot node {ids}"));
    Ok(())
}
