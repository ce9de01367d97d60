//! Tasks that resemble a real deployment.

use stoker_model::Json;

/// An optional real graph next to the clone.
const REAL_GRAPH: &str = "../shared/data/fuel-library/default-graph.yaml";
pub(crate) const N_TASKS: usize = 204;

/// Returns the real tasks if available, else synthetic ones of the same number and similar size.
pub(crate) fn tasks() -> Vec<Json> {
    let real = std::fs::read_to_string(REAL_GRAPH).ok().and_then(|text| {
        let node = stoker_manifest::parse(&text, stoker_manifest::Format::Yaml).ok()?;
        stoker_manifest::reader::json(&node, &mut stoker_diagnostics::Diagnostics::default())
    });
    let list = match real {
        Some(Json::Object(mut graph)) => graph.remove("tasks"),
        other => other,
    };
    match list {
        Some(Json::Array(tasks)) => tasks,
        _ => (0..N_TASKS).map(|index| synthetic("task", index)).collect(),
    }
}

/// Returns synthetic tasks with unique names.
pub(crate) fn many(prefix: &str, n_tasks: usize) -> Vec<Json> {
    (0..n_tasks).map(|index| synthetic(prefix, index)).collect()
}

fn synthetic(prefix: &str, index: usize) -> Json {
    serde_json::json!({
        "id": format!("{prefix}-{index}"),
        "type": "puppet",
        "version": "2.1.0",
        "tags": ["primary-controller", "controller", "compute"],
        "requires": [format!("{prefix}-{}", index.saturating_sub(1)), "deploy_start"],
        "required_for": ["deploy_end"],
        "cross-depends": [{"name": format!("/^(primary-)?{prefix}-{}$/", index.saturating_sub(2)), "role": "self"}],
        "condition": {"yaql_exp": format!(
            "changedAny($.network_metadata, $.get('{prefix}_{index}'), $.network_scheme, $.puppet_debug)"
        )},
        "parameters": {
            "puppet_manifest": format!("/etc/puppet/modules/osnailyfacter/modular/{prefix}/{prefix}-{index}.pp"),
            "puppet_modules": "/etc/puppet/modules",
            "timeout": 3600,
            "strategy": {"type": "parallel", "amount": 10},
        },
        "test_pre": {"cmd": format!("ruby /etc/puppet/modules/osnailyfacter/modular/{prefix}/{prefix}_pre.rb")},
        "test_post": {"cmd": format!("ruby /etc/puppet/modules/osnailyfacter/modular/{prefix}/{prefix}_post.rb")},
    })
}
