//! Informational notes about a task order.

use super::order::OrderedTask;
use super::range::NumberRange;
use super::stage::Stage;

#[derive(Clone, Debug, PartialEq)]
pub enum OrderNote<'a> {
    /// Plugins with the same number, in execution order; ties are ordered by plugin name.
    Tie { stage: Stage, plugins: Vec<&'a str> },
    /// Number in a reserved range.
    Reserved { stage: Stage, plugin: &'a str },
}

/// Notes about a result of [`super::order()`], in its order.
pub fn notes<'a>(ordered: &[OrderedTask<'a>]) -> Vec<OrderNote<'a>> {
    let mut notes = Vec::new();
    for tasks in ordered.chunk_by(|a, b| a.stage == b.stage) {
        let stage = tasks[0].stage;
        let mut plugins: Vec<&str> = tasks.iter().map(|task| task.plugin).collect();
        plugins.dedup();
        if NumberRange::for_number(stage.number()) == NumberRange::Reserved {
            notes.extend(plugins.iter().map(|plugin| OrderNote::Reserved { stage, plugin }));
        }
        if plugins.len() > 1 {
            notes.push(OrderNote::Tie { stage, plugins });
        }
    }
    notes
}
