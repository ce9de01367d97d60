//! Plugin tasks that are ordered by a stage and a number, such as `post_deployment/100`.
//!
//! [`Stage`] parses stages, [`order()`] sorts the tasks of all enabled plugins, [`notes()`] reports notable
//! facts about the order, [`graph_tasks`] converts the tasks to deployment graph tasks, and [`stage_layers`]
//! inserts those into the merged graph of a cluster.

mod adapt;
mod layers;
mod notes;
mod order;
mod range;
mod stage;

pub use adapt::{CoreTasks, PluginLayer, graph_tasks, task_id, task_ids};
pub use layers::{PluginGraph, StageLayers, has_stages, stage_layers};
pub use notes::{OrderNote, notes};
pub use order::{OrderedTask, StageError, StagePlugin, order_tasks};
pub use range::NumberRange;
pub use stage::{Stage, StageName, codes, describe_code};
