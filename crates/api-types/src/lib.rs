//! Request and response types of the REST API, one module per resource.
//!
//! Each type is declared once. `request!` declares a request with its schema and its reader, which
//! reports all problems with their source positions. A response is a struct that the server serializes and
//! commands deserialize; its schema is derived from the same struct.
//!
//! Readers of responses accept unknown fields, and fields with a closed set of values are strings: an older command
//! understands the responses of a newer server. A field that is added to an existing response is optional for the same reason: older
//! servers do not send it.

mod components;
mod embedded_graphs;
mod readers;
mod request;

pub mod agents;
pub mod assignment;
pub mod attributes;
pub mod audit;
pub mod clusters;
pub mod compatibility;
pub mod drift;
pub mod error;
pub mod execution;
pub mod extensions;
pub mod facts;
pub mod graphs;
pub mod health;
pub mod identity;
pub mod join_tokens;
pub mod links;
pub mod matrix;
pub mod metadata;
pub mod modules;
pub mod nodes;
pub mod notifications;
pub mod plans;
pub mod plugin_order;
pub mod plugins;
pub mod releases;
pub mod roles;
pub mod runs;
pub mod sequences;
pub mod servers;
pub mod tags;
pub mod tenants;
pub mod tokens;
pub mod transactions;
pub mod users;
pub mod version;
pub mod webhooks;
pub mod wizard;
pub mod yaql;

pub use request::Request;
