//! Roles, tags, volumes and graphs in the documents of releases, clusters and plugins.

pub mod embedded_graphs;
pub mod holder;
pub mod modes;
pub mod named;
pub mod sections;
