//! What people and scripts do with `fuel2`, command by command.

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
