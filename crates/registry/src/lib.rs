//! Plugin rules: validation, order and compatibility. Pure: reads no files and no store.
//!
//! [`stages`] orders the stage tasks of all plugins of a cluster and converts them to graph tasks.
//! [`package`] validates the files of a plugin. [`components`] checks the compatibility of the components of
//! releases and plugins. [`wizard`] merges plugin wizards into that of a release. [`restrictions`] are parsed
//! and evaluated for the wizard and for [`settings`]. [`contributions`] merges the additions of enabled
//! plugins to a cluster, other than tasks. [`patterns`] validates text values. [`scripts`] generates the task
//! that copies deployment scripts to nodes, and [`sources`] the tasks that configure package repositories.
//! [`cases`] exposes evaluations as JSON documents.
//!
//! Reading plugins from disk and storing releases belong to other crates.

mod build;
pub mod cases;
pub mod components;
pub mod contributions;
pub mod labels;
pub mod package;
pub mod patterns;
mod reach;
pub mod restrictions;
pub mod scripts;
pub mod settings;
pub mod sources;
pub mod stages;
pub mod wizard;
