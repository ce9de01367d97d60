//! Plugins: which versions a release can use, whether they fit each other, the wizard they contribute to, and their files.

pub mod catalog;
pub mod condition_models;
pub mod conflicts;
pub mod enabling;
pub mod files;
pub mod links;
pub mod scripts;
pub mod wizard;
