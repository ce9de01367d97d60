//! Components: what a release or a plugin provides, and what goes together.
//!
//! A [`Registry`] holds the components of one release and of the plugins that fit it. It [decides](Registry::decide)
//! whether a selection works and why not, [lists](Registry::listing) what there is, and shows the whole as a
//! [matrix](Registry::matrix) of subtypes.
//!
//! Components speak in two ways. Those of `provides` say what they work with and refuse everything else; those of a
//! release and of `components.yaml` say what they do not work with and accept everything else. Whoever refuses wins, and
//! it does not matter which of the two speaks.

mod advice;
mod bind;
mod component;
mod decide;
mod enable;
mod finding;
mod listing;
mod matrix;
mod name;
mod read;
mod registry;
mod requires;

pub use advice::Advice;
pub use bind::{Binding, BoundModel, overwritten};
pub use component::{Component, Provider, Relation};
pub use decide::Selection;
pub use finding::{Decision, Finding, Invalid};
pub use matrix::{Cell, ComponentMatrix, Matrix, Subtype};
pub use name::{ComponentName, ComponentPattern, ComponentType, Token};
pub use registry::{PluginComponents, Registry, newest_fitting};
pub use requires::{Item, Predicate, Requirement};
