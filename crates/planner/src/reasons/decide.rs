//! Finds the parts of a condition that decided its result.

use std::sync::Arc;

use stoker_model::TaintCause;
use stoker_state::Doubt;
use stoker_yaql::syntax::{ArgNode, ArgRange, BinaryOp, Node, NodeId, UnaryOp};
use stoker_yaql::{Error, Expression, Result, Value};

use super::differences::{Difference, DifferenceCache};
use super::secrets::masked_text;
use crate::compute::evaluator::{EvalSettings, Side};
use crate::compute::subjects::Documents;
use crate::fingerprint::redefinition_text;
use crate::yaql_ext::inputs_changed::InputsState;
use crate::yaql_ext::missing::{is_missing_path, lacks_path};
use crate::yaql_ext::same::same;
use crate::yaql_ext::scope::{StateFunction, none_if_failed};
use crate::yaql_ext::undefined::{is_undefined, undefined};

/// A condition to explain, evaluated for one node.
pub(super) struct Case<'c> {
    pub(super) settings: &'c EvalSettings<'c>,
    pub(super) common: &'c Value,
    pub(super) documents: &'c Documents,
    pub(super) own: &'c Value,
    /// Why there is no old state; `None` if there is one.
    pub(super) absence: Option<Absence>,
    pub(super) expression: &'c Expression,
    pub(super) differences: &'c DifferenceCache,
}

/// Why an instance has no old state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Absence {
    Never,
    Forced,
    Doubt(Doubt),
}

impl Absence {
    /// The whole reason, unless the task never succeeded: then each part of the condition has its own.
    fn reason(&self) -> Option<String> {
        let taint = match self {
            Self::Never => return None,
            Self::Forced => return Some("forced: applied states are ignored".to_owned()),
            Self::Doubt(Doubt::Redefined(changes)) => return Some(redefinition_text(changes)),
            Self::Doubt(Doubt::Tainted(taint)) => taint,
        };
        let what = match taint.cause {
            TaintCause::InFlight => "the last attempt has not ended",
            TaintCause::Failed => "the last attempt failed",
            TaintCause::TimedOut => "the last attempt timed out",
            TaintCause::Cancelled => "the last attempt was cancelled",
            TaintCause::Interrupted => "the last attempt was interrupted",
            TaintCause::Triggered => "a trigger changed something, and the task has not succeeded since",
            TaintCause::Unknown => "the result of the last attempt is unknown",
            TaintCause::Drifted => {
                return Some(
                    "drifted: the last check found that the node differs from its applied state".to_owned(),
                );
            }
        };
        Some(format!("{what} (run {}): previous state unknown", taint.run))
    }
}

/// The deciding parts of a condition.
#[derive(Default)]
pub(super) struct Decision {
    /// Lowercase sentences without trailing periods.
    pub(super) sentences: Vec<String>,
    /// Source text of the deciding parts.
    pub(super) parts: Vec<String>,
    pub(super) differences: Vec<Difference>,
    /// Arguments whose old and new values were compared; the explanation depends on both values.
    pub(super) compared: Vec<NodeId>,
}

/// An argument of `changed` without a value in the new state.
struct Missing {
    has_changed: bool,
    decision: Decision,
}

impl Decision {
    fn merge(mut self, other: Self) -> Self {
        for sentence in other.sentences {
            // All parts have the same reason if the old state is in doubt.
            if !self.sentences.contains(&sentence) {
                self.sentences.push(sentence);
            }
        }
        self.parts.extend(other.parts);
        self.differences.extend(other.differences);
        self.compared.extend(other.compared);
        self
    }
}

impl Case<'_> {
    pub(super) fn decide(&self, id: NodeId) -> Result<Decision> {
        let tree = &self.expression.program().tree;
        match *tree.node(id) {
            Node::Paren(inner) | Node::Unary(UnaryOp::Not, inner) => self.decide(inner),
            Node::Binary(BinaryOp::And, left, right) => self.decide_operands(left, right, false),
            Node::Binary(BinaryOp::Or, left, right) => self.decide_operands(left, right, true),
            Node::Call { name, args, .. } => match tree.text(name) {
                "changed" | "changedAny" => self.decide_changed(id, args, true),
                "changedAll" => self.decide_changed(id, args, false),
                "inputsChanged" => Ok(self.decide_inputs(id)),
                _ => self.describe_value(id),
            },
            _ => self.describe_value(id),
        }
    }

    fn run(&self, id: NodeId, side: Side) -> Result<Value> {
        self.settings.run(&self.expression.subexpression(id), self.common, self.documents, self.own, side)
    }

    fn new_value(&self, id: NodeId) -> Result<Value> {
        self.cached(id, StateFunction::New, || self.run(id, Side::New))
    }

    /// `None` where evaluation over the old state fails.
    fn old_value(&self, id: NodeId) -> Result<Option<Value>> {
        let value = self.cached(id, StateFunction::Old, || {
            Ok(none_if_failed(self.run(id, Side::Old))?.unwrap_or_else(undefined))
        })?;
        Ok(Some(value).filter(|value| !is_undefined(value)))
    }

    /// Evaluates arguments that are common to all nodes only once.
    fn cached(
        &self,
        id: NodeId,
        function: StateFunction,
        work: impl FnOnce() -> Result<Value>,
    ) -> Result<Value> {
        match &self.settings.cache {
            Some(cache) => {
                let position = (Arc::as_ptr(self.expression.program()).addr(), id);
                cache.cached(position, function, self.documents.past, work)
            }
            None => work(),
        }
    }

    /// The first operand equal to `ends_with` decides (true for `or`, false for `and`); if there is none,
    /// both operands decide.
    fn decide_operands(&self, left: NodeId, right: NodeId, ends_with: bool) -> Result<Decision> {
        if self.run(left, Side::New)?.is_true() == ends_with {
            return self.decide(left);
        }
        if self.run(right, Side::New)?.is_true() == ends_with {
            return self.decide(right);
        }
        Ok(self.decide(left)?.merge(self.decide(right)?))
    }

    fn describe_value(&self, id: NodeId) -> Result<Decision> {
        let value = self.run(id, Side::New)?;
        let part = one_line(&self.expression.subexpression(id).to_string());
        let sentences = vec![format!("`{part}` is {}", masked_text(&value))];
        Ok(Decision { sentences, parts: vec![part], ..Decision::default() })
    }

    /// Explains a call of `changed`: arguments that changed, or one that did not.
    fn decide_changed(&self, id: NodeId, args: ArgRange, any_is_enough: bool) -> Result<Decision> {
        let arguments: Vec<NodeId> = self
            .expression
            .program()
            .tree
            .arg_slice(args)
            .iter()
            .filter_map(|slot| match slot {
                ArgNode::Positional(node) => Some(*node),
                _ => None,
            })
            .collect();
        let mut decided = Decision::default();
        for argument in &arguments {
            let new = match self.new_value(*argument) {
                Ok(new) => new,
                Err(error) => {
                    let missing = self.describe_missing(*argument, &error).ok_or(error)?;
                    if missing.has_changed == any_is_enough || arguments.len() == 1 {
                        return Ok(missing.decision);
                    }
                    continue;
                }
            };
            let old = self.old_value(*argument)?;
            let has_changed = !old.as_ref().is_some_and(|old| same(old, &new));
            if has_changed {
                decided = decided.merge(self.describe_change(*argument, old.as_ref(), &new));
                if any_is_enough {
                    return Ok(decided);
                }
            } else if !any_is_enough || arguments.len() == 1 {
                let part = one_line(&self.expression.subexpression(*argument).to_string());
                return Ok(Decision {
                    sentences: vec![format!("`{part}` has not changed")],
                    parts: vec![part],
                    ..Decision::default()
                });
            }
        }
        if any_is_enough {
            let sentences = match arguments.len() {
                0 => "the call has no arguments to compare".to_owned(),
                n_arguments => format!("none of the {n_arguments} compared expressions has changed"),
            };
            let parts = vec![one_line(&self.expression.subexpression(id).to_string())];
            decided = Decision { sentences: vec![sentences], parts, ..Decision::default() };
        }
        Ok(decided)
    }

    fn decide_inputs(&self, id: NodeId) -> Decision {
        let sentence = match (&self.documents.inputs, &self.absence) {
            (InputsState::Changed, Some(absence)) => {
                absence.reason().unwrap_or_else(|| "the task has never succeeded on this node".to_owned())
            }
            (InputsState::Changed, None) => "its inputs changed".to_owned(),
            _ => "its inputs have not changed".to_owned(),
        };
        let part = one_line(&self.expression.subexpression(id).to_string());
        Decision { sentences: vec![sentence], parts: vec![part], ..Decision::default() }
    }

    /// Explains an argument whose path the new state does not have; `None` if the error has another cause.
    fn describe_missing(&self, argument: NodeId, error: &Error) -> Option<Missing> {
        let tree = &self.expression.program().tree;
        if !is_missing_path(error, tree, argument, &self.documents.new) {
            return None;
        }
        let has_changed = !lacks_path(tree, argument, &self.documents.old);
        let part = one_line(&self.expression.subexpression(argument).to_string());
        let what = if has_changed { "no longer exists" } else { "exists in neither state" };
        let sentences = vec![format!("`{part}` {what}")];
        Some(Missing {
            has_changed,
            decision: Decision { sentences, parts: vec![part], ..Decision::default() },
        })
    }

    fn describe_change(&self, argument: NodeId, old: Option<&Value>, new: &Value) -> Decision {
        let part = one_line(&self.expression.subexpression(argument).to_string());
        let parts = vec![part.clone()];
        let Some(old) = old.filter(|_| self.absence.is_none()) else {
            let sentence = match &self.absence {
                None => format!("`{part}` is new: it has no value in the old state"),
                Some(absence) => absence
                    .reason()
                    .unwrap_or_else(|| format!("`{part}` is new: the task has never succeeded on this node")),
            };
            return Decision {
                sentences: vec![sentence],
                parts,
                differences: Vec::new(),
                compared: vec![argument],
            };
        };
        let path = self.path(argument).unwrap_or_default();
        let (differences, n_differences) = self.differences.differences(&path, old, new);
        let listed: Vec<String> = differences
            .iter()
            .map(|difference| {
                let text = difference.to_string();
                // A difference inside the value of a non-path expression has no path of its own.
                if path.is_empty() { text.trim_start().to_owned() } else { text }
            })
            .collect();
        let more = match n_differences.saturating_sub(differences.len()) {
            0 => String::new(),
            n_more => format!(", and {n_more} more"),
        };
        let sentences = vec![format!("`{part}` has changed: {}{more}", listed.join(", "))];
        Decision { sentences, parts, differences, compared: vec![argument] }
    }

    /// The dotted path of an argument of the form `$.a.b` or `$.get(a)`.
    fn path(&self, id: NodeId) -> Option<String> {
        let tree = &self.expression.program().tree;
        let join = |before: String, key: &str| {
            if before.is_empty() { key.to_owned() } else { format!("{before}.{key}") }
        };
        match *tree.node(id) {
            Node::Dollar => Some(String::new()),
            Node::Paren(inner) => self.path(inner),
            Node::Member { receiver, key, .. } => Some(join(self.path(receiver)?, tree.text(key))),
            Node::Method { receiver, name, args, .. } if tree.text(name) == "get" => {
                let ArgNode::Positional(key) = *tree.arg_slice(args).first()? else { return None };
                let (Node::Const(key) | Node::Keyword(key)) = *tree.node(key) else { return None };
                Some(join(self.path(receiver)?, tree.constant(key).as_str()?))
            }
            _ => None,
        }
    }
}

const LEN_MAX: usize = 120;

/// Collapses whitespace and truncates to [`LEN_MAX`] characters: the full text is in the graph.
fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LEN_MAX {
        return line;
    }
    let short: String = line.chars().take(LEN_MAX).collect();
    format!("{short}…")
}
