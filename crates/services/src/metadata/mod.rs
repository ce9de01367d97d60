//! Roles, tags, volumes, components and graphs in the documents of releases, clusters and plugins, with one reader for
//! each.

pub mod components;
pub mod embedded_graphs;
pub mod holder;
pub mod modes;
pub mod named;
pub mod sections;
