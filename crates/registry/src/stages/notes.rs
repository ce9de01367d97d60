//! What is worth knowing about a sequence.

use super::order::OrderedTask;
use super::range::NumberRange;
use super::stage::Stage;

#[derive(Clone, Debug, PartialEq)]
pub enum Note<'a> {
    /// Plugins, in the order they run, whose tasks have one number, so that names decide.
    Tie { stage: Stage, plugins: Vec<&'a str> },
    /// A number of a range that is kept free.
    Reserved { stage: Stage, plugin: &'a str },
}

/// Notes about a sequence as [`super::order()`] gives it, in its order.
pub fn notes<'a>(ordered: &[OrderedTask<'a>]) -> Vec<Note<'a>> {
    let mut notes = Vec::new();
    for same in ordered.chunk_by(|a, b| a.stage == b.stage) {
        let stage = same[0].stage;
        let mut plugins: Vec<&str> = same.iter().map(|task| task.plugin).collect();
        plugins.dedup();
        if NumberRange::of(stage.number()) == NumberRange::Reserved {
            notes.extend(plugins.iter().map(|plugin| Note::Reserved { stage, plugin }));
        }
        if plugins.len() > 1 {
            notes.push(Note::Tie { stage, plugins });
        }
    }
    notes
}
