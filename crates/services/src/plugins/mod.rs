//! Plugins: which versions a release can use, whether they fit each other, the wizard they contribute to, and their files.

pub mod catalog;
pub mod condition_models;
pub mod conflicts;
pub mod enabling;
pub mod files;
mod install;
pub mod links;
pub mod node_metadata;
mod records;
pub mod scripts;
mod sync;
pub mod wizard;

pub use install::Installation;
pub use records::{PluginError, PluginResult, Plugins, plugin_apply};
