//! Clusters: creation from a release, components and wizard answers; changes; assignment of nodes.

mod assignment;
mod choice;
mod create;
mod members;
mod node_roles;
mod release_change;
mod update;
mod wizard;

pub use assignment::{AssignedNodes, Removal, nodes_assign, nodes_unassign};
pub use create::{ClusterRequest, cluster_create, cluster_create_in};
pub use node_roles::{deployed_conflicts, restricted_roles, role_problems};
pub use release_change::{
    GraphChange, PluginChange, PluginEffect, ReleaseChange, ReleasePreview, SettingChange, SettingEffect,
    TaskChange, release_preview,
};
pub use update::{
    ClusterUpdate, DeletedCluster, cluster_delete, cluster_reset, cluster_update, extensions_add,
    extensions_remove,
};
pub use wizard::{WizardState, wizard_evaluate};
