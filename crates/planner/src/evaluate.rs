//! One expression over one pair of states, without anything remembered from others.

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
    let old = old.map_or_else(|| State::default().document(), State::document);
    let documents = Documents { new: new.document(), old, past: 0 };
    let setting = Setting { options, limits: &Limits::DEFAULT, host: FixedHost::default(), memory: None };
    let result = setting.run(expression, new.common.value(), &documents, new.node.value(), Side::New);
    result.map(without_sets)
}
