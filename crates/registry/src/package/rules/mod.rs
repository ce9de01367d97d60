//! Validation rules of each file of a package.

mod components;
mod graph_tasks;
mod interfaces;
mod metadata;
mod nodes;
mod parameters;
mod provides;
mod settings;
mod stage_tasks;
mod wizard;

pub(super) use components::components;
pub(super) use graph_tasks::{graph_tasks, refine};
pub(super) use interfaces::{interface_attributes, node_attributes};
pub(super) use metadata::metadata;
pub(super) use nodes::{network_roles, node_roles, volumes};
pub(super) use settings::settings;
pub(super) use stage_tasks::stage_tasks;
pub use wizard::check_wizard;
pub(super) use wizard::wizard;
