//! Completeness of the scenarios.

use crate::harness::Fuel;

const SCENARIOS: &[&str] = &[
    include_str!("envs.rs"),
    include_str!("facts.rs"),
    include_str!("graph_errors.rs"),
    include_str!("graphs.rs"),
    include_str!("login.rs"),
    include_str!("nodes.rs"),
    include_str!("plugins.rs"),
    include_str!("releases.rs"),
    include_str!("roles.rs"),
    include_str!("runs.rs"),
    include_str!("sequences.rs"),
    include_str!("tasks.rs"),
    include_str!("unknown.rs"),
];

/// Commands of the CLI framework, not of Fuel.
const FRAMEWORK: [&str; 2] = ["complete", "help"];

#[test]
fn every_command_of_the_client_is_in_a_scenario() {
    let fuel = Fuel::new();
    let help = fuel.ok("help");
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let commands: Vec<&str> = commands
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.trim().split("  ").next())
        .collect();
    assert!(commands.len() > 90, "{help}");
    let is_covered = |command: &&str| SCENARIOS.iter().any(|text| text.contains(*command));
    let missing: Vec<&str> = commands
        .into_iter()
        .filter(|name| !FRAMEWORK.contains(name))
        .filter(|name| !is_covered(name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
