//! Scenarios for all commands of `fuel2`.

mod coverage;
mod envs;
mod facts;
mod graph_errors;
mod graphs;
mod login;
mod nodes;
mod plugins;
mod releases;
mod roles;
mod runs;
mod sequences;
mod tasks;
mod unknown;
