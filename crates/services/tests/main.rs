//! Use cases on an embedded database, without HTTP.

mod clusters;
mod nodes;
mod plugins;
mod support;
