//! What releases, clusters and plugins are made of: read in one way wherever it comes from.

pub(crate) mod catalog;
pub(crate) mod components;
pub(crate) mod conflicts;
pub(crate) mod enabling;
pub(crate) mod graphs;
pub(crate) mod holder;
pub(crate) mod links;
pub(crate) mod metadata;
pub(crate) mod models;
pub(crate) mod plugin_files;
pub(crate) mod wizard;
