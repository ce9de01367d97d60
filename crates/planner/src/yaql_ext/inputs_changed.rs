use stoker_yaql::eval::{Args, Cx};
use stoker_yaql::library::{Builtin, Purity};
use stoker_yaql::{Error, ErrorClass, Result, Value};

use super::scope::Scope;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "state",
    doc: "Whether the rendered parameters or the definition of the task differ from those of its last success on the node. \
          True on a first run and after an attempt that did not succeed. The default condition of tasks with version 3.0.0 \
          and later.",
    overloads: &[("f inputsChanged()", call)],
    examples: &[],
    purity: Purity::Pure,
};

/// The inputs of an instance, compared with those of its last success.
#[derive(Clone, Debug, Default)]
pub(crate) enum InputsState {
    Unchanged,
    Changed,
    /// The parameters cannot be rendered. Raised by the call, so that a condition can guard it.
    Failed(Box<Error>),
    #[default]
    Unavailable,
}

fn call(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    match &Scope::of(args)?.inputs {
        InputsState::Unchanged => Ok(Value::Bool(false)),
        InputsState::Changed => Ok(Value::Bool(true)),
        InputsState::Failed(error) => Err(error.clone()),
        InputsState::Unavailable => {
            let error = Error::new(ErrorClass::Runtime, "the inputs of a task are not available here");
            Err(Box::new(error.help("call `inputsChanged()` in conditions of tasks only")))
        }
    }
}
