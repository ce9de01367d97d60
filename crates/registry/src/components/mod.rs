//! Components of releases and plugins, and their compatibility.
//!
//! A [`Registry`] contains the components of a release and of the plugins that support it. It
//! [checks](Registry::check_selection) a selection, [lists](Registry::listing) the components, and derives a
//! compatibility [matrix](Registry::matrix).
//!
//! There are two declaration formats. Entries of `provides` list compatible components and refuse all others;
//! entries of a release and of `components.yaml` list incompatible components and accept all others. A
//! refusal by either component is a conflict.

mod advice;
mod bind;
mod component;
mod conflict;
mod decide;
mod enable;
mod listing;
mod matrix;
mod name;
mod read;
mod registry;
mod requires;

pub use advice::Advice;
pub use bind::{Binding, BoundModel, overwritten_bindings};
pub use component::{Component, Provider, Relation};
pub use conflict::{ComponentConflict, InvalidReason, SelectionCheck};
pub use decide::Selection;
pub use matrix::{Cell, ComponentMatrix, Matrix, Subtype};
pub use name::{ComponentName, ComponentPattern, ComponentType, NameToken};
pub use registry::{PluginComponents, Registry, newest_supported};
pub use requires::{Item, Predicate, Requirement};
