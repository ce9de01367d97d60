//! Roles, tags, volumes, components and graphs as releases, clusters and plugins carry them: read in one way wherever they
//! come from.

pub mod components;
pub mod embedded_graphs;
pub mod holder;
pub mod sections;
