//! Tasks like those of a real deployment.

use stoker_model::Json;

/// A real graph that people may keep beside their clone.
const BESIDE: &str = "../shared/data/fuel-library/default-graph.yaml";
pub(crate) const N_TASKS: usize = 204;

/// The real tasks if they are there, else made-up ones of the same number and about the same size.
pub(crate) fn tasks() -> Vec<Json> {
    let real = std::fs::read_to_string(BESIDE).ok().and_then(|text| {
        let node = stoker_manifest::parse(&text, stoker_manifest::Format::Yaml).ok()?;
        stoker_manifest::reader::json(&node, &mut stoker_manifest::Problems::default())
    });
    let list = match real {
        Some(Json::Object(mut graph)) => graph.remove("tasks"),
        other => other,
    };
    match list {
        Some(Json::Array(tasks)) => tasks,
        _ => (0..N_TASKS).map(|index| made_up("task", index)).collect(),
    }
}

/// As many as wanted, all with names of their own.
pub(crate) fn many(prefix: &str, n_tasks: usize) -> Vec<Json> {
    (0..n_tasks).map(|index| made_up(prefix, index)).collect()
}

fn made_up(prefix: &str, index: usize) -> Json {
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
