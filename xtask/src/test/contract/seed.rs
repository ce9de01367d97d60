//! Seed data: several records of each resource, so that requests with small IDs find a record.

use serde_json::{Value, json};

use super::server::Server;
use crate::failure::Outcome;

/// Number of records per resource in each of three ranges: never deleted, parts deleted, deleted as a whole.
pub(super) const N_KEPT: u32 = 3;

pub(super) fn create(server: &Server) -> Outcome {
    for (path, body) in records() {
        server.send("POST", &format!("/api/v1/{path}"), &body)?;
    }
    Ok(())
}

fn records() -> Vec<(String, Value)> {
    let mut records = Vec::new();
    for number in 1..=3 * N_KEPT {
        records.push(("releases".to_owned(), release(number)));
        records.push(("plugins".to_owned(), plugin(number)));
        records.push((
            "clusters".to_owned(),
            json!({"name": format!("cluster {number}"), "release_id": number}),
        ));
        let mac = format!("52:54:00:00:00:{number:02}");
        records.push(("nodes".to_owned(), json!({"mac": mac, "status": "discover"})));
        let graphs = json!([{"type": "default"}, {"type": "deletion"}]);
        records.push(("sequences".to_owned(), json!({"release": number, "name": "all", "graphs": graphs})));
        let tenant = format!("tenant {number}");
        records.push(("tenants".to_owned(), json!({"name": tenant})));
        let name = format!("user {number}");
        records.push((
            "users".to_owned(),
            json!({"name": name, "password": "x", "tenant": tenant, "roles": ["member"]}),
        ));
    }
    for owner in ["releases", "clusters", "plugins"] {
        for number in 1..=2 * N_KEPT {
            let path = format!("{owner}/{number}/deployment_graphs/deletion");
            records.push((path, json!({"tasks": tasks()})));
        }
    }
    for number in 1..=2 * N_KEPT {
        let role = json!({"name": "own", "meta": {"name": "Own", "description": "A role of one cluster"}, "volumes_roles_mapping": []});
        records.push((format!("clusters/{number}/roles"), role));
        records.push((
            format!("clusters/{number}/tags"),
            json!({"name": "own", "meta": {"has_primary": false}}),
        ));
        records
            .push((format!("clusters/{number}/assignment"), json!([{"id": number, "roles": ["compute"]}])));
    }
    // The user of the examples in the OpenAPI document.
    records.push(("tenants".to_owned(), json!({"name": "demo"})));
    let user = json!({"name": "demo", "password": "secret", "tenant": "demo", "roles": ["member"]});
    records.push(("users".to_owned(), user));
    records
}

fn tasks() -> Value {
    json!([
        {"id": "prepare", "type": "shell", "role": "*", "parameters": {"cmd": "true"}},
        {"id": "deploy", "type": "puppet", "role": ["controller"], "requires": ["prepare"],
         "parameters": {"puppet_manifest": "site.pp", "puppet_modules": "modules", "timeout": 60},
         "condition": {"yaql_exp": "$.debug"}},
    ])
}

fn release(number: u32) -> Value {
    json!({
        "name": "Release", "version": format!("newton-{number}.0"), "operating_system": "Ubuntu",
        "state": "available", "modes_metadata": {"ha_compact": {}},
        "roles_metadata": {"controller": {"name": "Controller"}, "compute": {"name": "Compute"}},
        "tags_metadata": {"primary": {"has_primary": true}},
        "attributes_metadata": {
            "editable": {"common": {"metadata": {"label": "Common"}, "debug": {"type": "checkbox", "value": true}}},
            "generated": {"password": {"generator": "password"}},
        },
        "components_metadata": [{"name": "hypervisor:qemu", "label": "QEMU"}],
        "graphs": [{"type": "default", "tasks": tasks()}],
    })
}

fn plugin(number: u32) -> Value {
    json!({
        "name": format!("plugin-{number}"), "version": "1.0.0", "title": "Plugin", "package_version": "4.0.0", "fuel_version": ["10.0"],
        "releases": [{"os": "ubuntu", "version": format!("newton-{number}.0"), "mode": ["ha"],
                      "deployment_scripts_path": "scripts/", "repository_path": "repository"}],
        "attributes_metadata": {"metadata": {"label": "Plugin"}, "level": {"type": "text", "value": "high"}},
    })
}
