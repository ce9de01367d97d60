//! Graphs of releases, clusters and plugins: stored as layers and merged per cluster.

mod check;
mod key;
mod layer_records;
mod layers;
mod planned;
mod plugin_task_cache;
mod store;
mod upload;

use std::sync::Arc;

use stoker_settings::Server;
use stoker_store::Store;
use stoker_yaql::Library;

pub use check::{CheckCache, GraphCheck, checked_graph};
pub use key::{GraphKey, owner_class, require_owner};
pub use layer_records::LayerRecords;
pub use layers::{LayerFilter, Layers, layer, places_of_release};
pub use planned::{PlannedGraph, planned_graph};
pub use plugin_task_cache::PluginTaskCache;
pub use store::{Stored, agreed_owner, agreed_type, named_owner};
pub use upload::UploadedGraph;

use crate::clock::Clock;
use crate::plugins::files::Packages;
use crate::repositories::Repositories;

/// Use cases of graphs.
#[derive(Clone)]
pub struct Graphs {
    pub store: Store,
    pub clock: Clock,
    pub settings: Arc<Server>,
    pub packages: Packages,
    pub repositories: Repositories,
    pub plugin_tasks: Arc<PluginTaskCache>,
    pub checks: Arc<CheckCache>,
}

impl Graphs {
    /// Returns the functions available to expressions of task fields and node filters.
    pub fn library(&self) -> Arc<Library> {
        self.settings.library.clone().unwrap_or_else(stoker_planner::library)
    }
}
