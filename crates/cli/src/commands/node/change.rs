use serde_json::{Map, Value as Json, json};
use stoker_client::{Method, RestRequest};

use crate::exit::{Failure, Outcome};
use crate::remote::Remote;

/// Create a node
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Nodes with an agent register themselves. Use this command for nodes without an agent.

Examples:
  stoker node create --mac 52:54:00:12:34:56 --name first
  stoker node create --mac 52:54:00:12:34:57 --ip 10.20.0.7 --label rack=7")]
pub(super) struct CreateArgs {
    /// MAC address
    #[arg(long, value_name = "MAC", value_parser = crate::input::mac)]
    mac: String,

    /// Node name
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// IP address
    #[arg(long, value_name = "IP")]
    ip: Option<String>,

    /// Label to set; can be repeated
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label)]
    labels: Vec<(String, String)>,
}

/// Update a node; omitted fields keep their values
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker node update 1 --name first --label rack=7 --label row=3
  stoker node update 1 --hostname db-1 --remove-label row")]
pub(super) struct UpdateArgs {
    /// Node ID
    #[arg(value_name = "NODE")]
    node: i64,

    /// New name
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// New host name; cannot be changed after deployment
    #[arg(long, value_name = "NAME")]
    hostname: Option<String>,

    /// Label to set; can be repeated
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label)]
    labels: Vec<(String, String)>,

    /// Label to remove; can be repeated
    #[arg(long = "remove-label", value_name = "KEY")]
    removed: Vec<String>,
}

/// Delete nodes from the inventory
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker node delete 1
  stoker node delete 1 2 3")]
pub(super) struct DeleteArgs {
    /// Node IDs
    #[arg(value_name = "NODE", required = true, value_delimiter = ',')]
    nodes: Vec<i64>,
}

fn label(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
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
    remote.report_change("created node", &node)
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
        // The API replaces all labels, so merge with the current ones.
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
        return Err(Failure::usage(
            "no fields to update",
            "pass at least one, such as `--name` or `--label`",
        ));
    }
    let node = remote.send_json(Method::Put, path, &body)?;
    remote.report_change("updated node", &node)
}

pub(super) fn delete(args: &DeleteArgs, remote: &mut Remote<'_>) -> Outcome {
    let ids = args.nodes.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    remote.send(&RestRequest::new(Method::Delete, "nodes").query("ids", &ids))?;
    remote.note(&format!("deleted node {ids}"));
    Ok(())
}
