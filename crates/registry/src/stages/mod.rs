//! Tasks of plugins that say when they run by a stage and a number: `post_deployment/100`.
//!
//! [`Stage`] is what such a text means, [`order()`] sorts the tasks of all enabled plugins, [`notes()`] tells what is worth
//! knowing about the result, [`graph_tasks`] turns it into tasks of the deployment graph, and [`stage_layers`] puts these
//! into the merged graph of a cluster.

mod adapt;
mod layers;
mod notes;
mod order;
mod range;
mod stage;

pub use adapt::{CoreTasks, PluginTasks, graph_tasks, task_id, task_ids};
pub use layers::{PluginGraph, StageLayers, has_stages, stage_layers};
pub use notes::{Note, notes};
pub use order::{OrderedTask, StageError, StagePlugin, order};
pub use range::NumberRange;
pub use stage::{Stage, StageName, codes, meaning};
