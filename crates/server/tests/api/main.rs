//! End-to-end tests of the HTTP API, without a socket. They run on SQLite; `STOKER_TEST_ENGINE=postgres`
//! selects PostgreSQL.
#![expect(
    clippy::needless_pass_by_value,
    clippy::unwrap_used,
    reason = "tests fail by panicking, and helpers take request bodies by value"
)]

mod access;
mod agent;
mod agents;
mod applied_states;
mod assignment;
mod attributes;
mod beginnings;
mod clusters;
mod compatibility;
mod component_fixtures;
mod computed_fields;
mod contract;
mod drift;
mod facts;
mod fairness;
mod fixtures;
mod graphs;
mod handlers;
mod identity;
mod input;
mod isolation;
mod limits;
mod links;
mod machines;
mod merged;
mod module_apply;
mod module_instances;
mod modules;
mod nodes;
mod notifications;
mod overrides;
mod owners;
mod packages;
mod plan_differences;
mod plan_guarantees;
mod plan_inputs;
mod plan_pictures;
mod plans;
mod plugin_enabling;
mod plugin_order;
mod plugin_scripts;
mod plugins;
mod published_fields;
mod real_choices;
mod real_plans;
mod receiver;
mod release_move;
mod releases;
mod removal;
mod repositories;
mod restrictions;
mod role_limits;
mod roles;
mod run_course;
mod run_faults;
mod runs;
mod sequences;
mod servers;
mod specifications;
mod state;
mod stored_validation;
mod support;
mod traces;
mod transactions;
mod unknown_fields;
mod unknown_input;
mod users;
mod web_ui;
mod webhooks;
mod wizard;
mod wizard_binds;
