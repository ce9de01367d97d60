//! What plugins bring, and in which order: the rules, without files, stores or clusters.
//!
//! [`stages`] orders the tasks of all plugins of a cluster by stage and number, and makes graph tasks of them.
//!
//! [`package`] judges the files of a plugin and makes a plugin of them. [`components`] knows what releases
//! and plugins provide, and what of it goes together. [`wizard`] mixes what plugins add into the wizard of a release;
//! [`restrictions`] are read and applied alike there and in [`settings`]. [`contributions`]
//! are what enabled plugins add to a cluster besides tasks. [`patterns`] are what texts must look like. [`scripts`] brings what the tasks call to the nodes,
//! and [`sources`] the packages they install. [`cases`] asks all of them in documents.
//!
//! The crate computes over plugins that somebody else has read, and over releases that somebody else has stored.

mod build;
pub mod cases;
pub mod components;
pub mod contributions;
pub mod package;
pub mod patterns;
mod reach;
pub mod restrictions;
pub mod scripts;
pub mod settings;
pub mod sources;
pub mod stages;
pub mod wizard;
