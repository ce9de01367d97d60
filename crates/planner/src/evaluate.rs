//! Evaluation of one expression over one pair of states, without caches.

use stoker_state::EffectiveState;
use stoker_yaql::eval::Observer;
use stoker_yaql::{Expression, FixedHost, Limits, Options, Result, Value};

use crate::compute::evaluator::{EvalSettings, Side};
use crate::compute::subjects::Documents;
use crate::json::without_sets;
use crate::yaql_ext::inputs_changed::InputsState;

/// Evaluates an expression of a task field as planning does: `$` is the new state, and the state functions
/// see both states. `old` is `None` if the task never succeeded on the node.
pub fn evaluate(
    expression: &Expression,
    new: &EffectiveState,
    old: Option<&EffectiveState>,
    options: &Options,
) -> Result<Value> {
    evaluate_observed(expression, new, old, options, None)
}

/// Like [`evaluate`], and reports the value of every subexpression to `observer`.
pub fn evaluate_observed(
    expression: &Expression,
    new: &EffectiveState,
    old: Option<&EffectiveState>,
    options: &Options,
    observer: Option<&mut dyn Observer>,
) -> Result<Value> {
    let old = old.map_or_else(|| EffectiveState::default().document(), EffectiveState::document);
    let documents = Documents { new: new.document(), old, past: 0, inputs: InputsState::Unavailable };
    // Shortens the lifetime of the trait object to that of this call.
    let observer = observer.map(|observer| observer as &mut dyn Observer);
    let settings =
        EvalSettings { options, limits: &Limits::DEFAULT, host: FixedHost::default(), cache: None };
    let result = settings.run_observed(
        expression,
        new.common.value(),
        &documents,
        new.node.value(),
        Side::New,
        observer,
    );
    result.map(without_sets)
}
