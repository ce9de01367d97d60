//! One expression over one pair of states, without anything remembered from others.

use stoker_yaql::eval::Observer;
use stoker_yaql::{Expression, FixedHost, Limits, Options, Result, Value};

use crate::compute::evaluator::{Setting, Side};
use crate::compute::subjects::Documents;
use crate::json::without_sets;
use crate::state::State;

/// Evaluates an expression of a task field as planning does: `$` is the new state, and the functions over states know
/// both. No old state means that the task never succeeded on the node.
pub fn evaluate(
    expression: &Expression,
    new: &State,
    old: Option<&State>,
    options: &Options,
) -> Result<Value> {
    evaluate_observed(expression, new, old, options, None)
}

/// The same while somebody watches what every part of the expression is.
pub fn evaluate_observed(
    expression: &Expression,
    new: &State,
    old: Option<&State>,
    options: &Options,
    observer: Option<&mut dyn Observer>,
) -> Result<Value> {
    let old = old.map_or_else(|| State::default().document(), State::document);
    let documents = Documents { new: new.document(), old, past: 0 };
    // The trait object is made to live no longer than what it is used with.
    let observer = observer.map(|observer| observer as &mut dyn Observer);
    let setting = Setting { options, limits: &Limits::DEFAULT, host: FixedHost::default(), memory: None };
    let result =
        setting.observed(expression, new.common.value(), &documents, new.node.value(), Side::New, observer);
    result.map(without_sets)
}
