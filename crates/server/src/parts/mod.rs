//! What releases, clusters and plugins are made of: read in one way wherever it comes from.

pub(crate) mod components;
pub(crate) mod graphs;
pub(crate) mod holder;
pub(crate) mod metadata;
