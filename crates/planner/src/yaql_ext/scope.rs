//! The two states of a node, passed into an evaluation as a hidden variable.

use std::sync::{Arc, LazyLock};

use parking_lot::{Mutex, MutexGuard};
use stoker_yaql::eval::{Args, Ctx, Cx, Lambda};
use stoker_yaql::syntax::VarName;
use stoker_yaql::value::Opaque;
use stoker_yaql::{Error, ErrorClass, Result, Value};

use super::inputs_changed::InputsState;
use super::result_cache::{Position, ResultCache};

/// Both documents of a node, in a variable whose name is not valid in an expression.
#[derive(Debug)]
pub(crate) struct Scope {
    pub(crate) new: Value,
    /// Empty if there is no old state.
    pub(crate) old: Value,
    pub(crate) inputs: InputsState,
    pub(crate) cache: Option<CacheHandle>,
    /// Results that do not vary within this evaluation: in `$.nodes.where($.uid = new($.uid))` the right side
    /// is the same for all elements. There are few of them, so a linear search is fastest.
    pub(crate) results: Mutex<Vec<(Position, StateFunction, Value)>>,
}

/// Access to results shared by all nodes with the same old common document.
#[derive(Clone, Debug)]
pub(crate) struct CacheHandle {
    pub(crate) cache: Arc<ResultCache>,
    /// Number of that old common document.
    pub(crate) past: u32,
}

impl Opaque for Scope {
    fn type_name(&self) -> &'static str {
        "Scope"
    }
}

static NAME: LazyLock<VarName> = LazyLock::new(|| VarName::Named("%states".into()));

impl Scope {
    /// The hidden variable that carries the scope into an evaluation.
    pub(crate) fn into_variable(self) -> (VarName, Value) {
        (NAME.clone(), Value::Opaque(Arc::new(self)))
    }

    /// The scope of the current evaluation.
    pub(crate) fn of<'a>(args: &Args<'a>) -> Result<&'a Self> {
        Self::in_context(args.ctx).ok_or_else(|| {
            let error = Error::new(ErrorClass::Runtime, "functions over states are not available here");
            Box::new(
                error.help(
                    "use them in task fields and in helpers called from task fields, not in node filters",
                ),
            )
        })
    }

    fn in_context(ctx: &Ctx) -> Option<&Self> {
        let Value::Opaque(opaque) = ctx.get(&NAME) else { return None };
        let any: &dyn std::any::Any = &**opaque;
        any.downcast_ref()
    }

    /// The value of an argument over the new state, with lazy iterators materialized.
    pub(crate) fn in_new(&self, cx: &mut Cx<'_>, argument: &Lambda, ctx: &Ctx) -> Result<Value> {
        let value = argument.call_in(cx, &ctx.with_first(self.new.clone())?)?;
        cx.convert(value)
    }

    /// The value of an argument over the old state; `None` if evaluation fails. Lazy iterators are
    /// materialized here, so that a failure while iterating counts too.
    pub(crate) fn in_old(&self, cx: &mut Cx<'_>, argument: &Lambda, ctx: &Ctx) -> Result<Option<Value>> {
        let context = ctx.with_first(self.old.clone())?;
        let value = argument.call_in(cx, &context).and_then(|value| cx.convert(value));
        none_if_failed(value)
    }

    /// Both values of an argument. The new state is evaluated first: an error there is reported regardless of
    /// the old state. The old state is not evaluated if none of the keys that the argument reads changed; for
    /// a large fleet with few changes this saves half of the work.
    pub(crate) fn in_both(
        &self,
        cx: &mut Cx<'_>,
        argument: &Lambda,
        ctx: &Ctx,
    ) -> Result<(Value, Option<Value>)> {
        let new = self.in_new(cx, argument, ctx)?;
        let is_untouched = match (&self.cache, position(argument)) {
            (Some(cache_handle), Some(position)) => {
                cache_handle.cache.is_untouched(position, cache_handle.past)
            }
            _ => false,
        };
        let old = if is_untouched { Some(new.clone()) } else { self.in_old(cx, argument, ctx)? };
        Ok((new, old))
    }

    /// The result of a state function for an argument, cached within this evaluation and across nodes.
    pub(crate) fn cached(
        &self,
        argument: &Lambda,
        function: StateFunction,
        work: impl FnOnce() -> Result<Value>,
    ) -> Result<Value> {
        let (Some(cache_handle), Some(position)) = (&self.cache, position(argument)) else { return work() };
        if let Some(result) = self.result(position, function) {
            return Ok(result);
        }
        let result = cache_handle.cache.cached(position, function, cache_handle.past, work)?;
        if cache_handle.cache.is_closed(position) {
            self.results().push((position, function, result.clone()));
        }
        Ok(result)
    }

    fn result(&self, position: Position, function: StateFunction) -> Option<Value> {
        let results = self.results();
        let entry = results.iter().find(|(at, about, _)| *at == position && *about == function);
        entry.map(|(.., result)| result.clone())
    }

    fn results(&self) -> MutexGuard<'_, Vec<(Position, StateFunction, Value)>> {
        self.results.lock()
    }
}

fn position(argument: &Lambda) -> Option<Position> {
    argument.expression().map(|(program, node)| (Arc::as_ptr(program).addr(), node))
}

/// A state function: what to compute about an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum StateFunction {
    New,
    Old,
    Changed,
    Added,
    Deleted,
}

/// Maps an error over the old state to "no old value", unless the evaluation exceeded its step limit or was
/// interrupted.
pub(crate) fn none_if_failed(result: Result<Value>) -> Result<Option<Value>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.class, ErrorClass::StepLimit | ErrorClass::Interrupted) => Err(error),
        Err(_) => Ok(None),
    }
}
