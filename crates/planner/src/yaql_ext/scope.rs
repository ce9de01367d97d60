//! What an evaluation knows beside its variables: both states of a node.

use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use stoker_yaql::eval::{Args, Ctx, Cx, Lambda};
use stoker_yaql::syntax::VarName;
use stoker_yaql::value::Opaque;
use stoker_yaql::{Error, ErrorClass, Result, Value};

use super::memory::{Memory, Place};

/// Both documents of a node, under a name that nobody can write in an expression.
#[derive(Debug)]
pub(crate) struct Scope {
    pub(crate) new: Value,
    /// Empty if there is no old state.
    pub(crate) old: Value,
    pub(crate) memory: Option<Recall>,
    /// Answers that hold for the whole of this evaluation: in `$.nodes.where($.uid = new($.uid))` the right side is the
    /// same for all nodes. There are few of them, so that looking through all is the fastest way.
    pub(crate) answers: Mutex<Vec<(Place, Question, Value)>>,
}

/// Results that are the same for all nodes with the same old state of the cluster.
#[derive(Clone, Debug)]
pub(crate) struct Recall {
    pub(crate) memory: Arc<Memory>,
    /// Which old state of the cluster that is.
    pub(crate) past: u32,
}

impl Opaque for Scope {
    fn type_name(&self) -> &'static str {
        "Scope"
    }
}

static NAME: LazyLock<VarName> = LazyLock::new(|| VarName::Named("%states".into()));

impl Scope {
    /// The variable that carries the scope into an evaluation.
    pub(crate) fn into_variable(self) -> (VarName, Value) {
        (NAME.clone(), Value::Opaque(Arc::new(self)))
    }

    /// The scope of the evaluation that a function is called in.
    pub(crate) fn of<'a>(args: &Args<'a>) -> Result<&'a Self> {
        Self::in_context(args.ctx).ok_or_else(|| {
            let error = Error::new(ErrorClass::Runtime, "there is no old and no new state here");
            Box::new(error.help(
                "it can be asked for in fields of tasks, and in helpers that these call; not in node filters",
            ))
        })
    }

    fn in_context(ctx: &Ctx) -> Option<&Self> {
        let Value::Opaque(opaque) = ctx.get(&NAME) else { return None };
        let any: &dyn std::any::Any = &**opaque;
        any.downcast_ref()
    }

    /// The value of an argument over the new state, with all streams walked to their end.
    pub(crate) fn in_new(&self, cx: &mut Cx<'_>, argument: &Lambda, ctx: &Ctx) -> Result<Value> {
        let value = argument.call_in(cx, &ctx.with_first(self.new.clone())?)?;
        cx.convert(value)
    }

    /// The same over the old state. What fails there has no old value; streams are walked here, so that a failure
    /// in the middle of one counts too.
    pub(crate) fn in_old(&self, cx: &mut Cx<'_>, argument: &Lambda, ctx: &Ctx) -> Result<Option<Value>> {
        let context = ctx.with_first(self.old.clone())?;
        let value = argument.call_in(cx, &context).and_then(|value| cx.convert(value));
        no_value_if_failed(value)
    }

    /// Both values of an argument. The new side is evaluated first: what is wrong there is an error whatever the old
    /// state says. The old side is not evaluated where nothing that the argument reads has been touched: with a large
    /// fleet that is half of the work of a run that changes little.
    pub(crate) fn in_both(
        &self,
        cx: &mut Cx<'_>,
        argument: &Lambda,
        ctx: &Ctx,
    ) -> Result<(Value, Option<Value>)> {
        let new = self.in_new(cx, argument, ctx)?;
        let is_untouched = match (&self.memory, place(argument)) {
            (Some(recall), Some(place)) => recall.memory.is_untouched(place, recall.past),
            _ => false,
        };
        let old = if is_untouched { Some(new.clone()) } else { self.in_old(cx, argument, ctx)? };
        Ok((new, old))
    }

    /// What an argument of a function gives: looked up if it is known already, from this node or from another.
    pub(crate) fn recalled(
        &self,
        argument: &Lambda,
        question: Question,
        work: impl FnOnce() -> Result<Value>,
    ) -> Result<Value> {
        let (Some(recall), Some(place)) = (&self.memory, place(argument)) else { return work() };
        if let Some(answer) = self.answer(place, question) {
            return Ok(answer);
        }
        let answer = recall.memory.recalled(place, question, recall.past, work)?;
        if recall.memory.is_closed(place) {
            self.answers().push((place, question, answer.clone()));
        }
        Ok(answer)
    }

    fn answer(&self, place: Place, question: Question) -> Option<Value> {
        let answers = self.answers();
        let known = answers.iter().find(|(known, about, _)| *known == place && *about == question);
        known.map(|(.., answer)| answer.clone())
    }

    fn answers(&self) -> MutexGuard<'_, Vec<(Place, Question, Value)>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn place(argument: &Lambda) -> Option<Place> {
    argument.expression().map(|(program, node)| (Arc::as_ptr(program).addr(), node))
}

/// What is asked about an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Question {
    New,
    Old,
    Changed,
    Added,
    Deleted,
}

/// An error over the old state means that there is no old value, unless the evaluation itself had to end.
pub(crate) fn no_value_if_failed(result: Result<Value>) -> Result<Option<Value>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.class, ErrorClass::StepLimit | ErrorClass::Interrupted) => Err(error),
        Err(_) => Ok(None),
    }
}
