//! The part of a condition that decided.

use std::sync::Arc;

use stoker_yaql::syntax::{ArgNode, ArgRange, BinaryOp, Node, NodeId, UnaryOp};
use stoker_yaql::{Expression, Result, Value};

use super::differences::{Difference, KnownDifferences};
use super::secrets::shown;
use crate::compute::evaluator::{Setting, Side};
use crate::compute::subjects::Documents;
use crate::yaql_ext::same::same;
use crate::yaql_ext::scope::{Question, no_value_if_failed};
use crate::yaql_ext::undefined::{is_undefined, undefined};

/// One node and one condition.
pub(super) struct Case<'c> {
    pub(super) setting: &'c Setting<'c>,
    pub(super) common: &'c Value,
    pub(super) documents: &'c Documents,
    pub(super) own: &'c Value,
    pub(super) has_past: bool,
    pub(super) expression: &'c Expression,
    pub(super) known: &'c KnownDifferences,
}

/// What decided, and what it is about.
#[derive(Default)]
pub(super) struct Decided {
    /// Sentences without their full stops.
    pub(super) words: Vec<String>,
    /// The deciding parts as they are written.
    pub(super) parts: Vec<String>,
    pub(super) differences: Vec<Difference>,
    /// Arguments whose old and new values were compared, so that what is told depends on both.
    pub(super) compared: Vec<NodeId>,
}

impl Decided {
    fn merge(mut self, other: Self) -> Self {
        self.words.extend(other.words);
        self.parts.extend(other.parts);
        self.differences.extend(other.differences);
        self.compared.extend(other.compared);
        self
    }
}

impl Case<'_> {
    pub(super) fn decide(&self, id: NodeId) -> Result<Decided> {
        let tree = &self.expression.program().tree;
        match *tree.node(id) {
            Node::Paren(inner) | Node::Unary(UnaryOp::Not, inner) => self.decide(inner),
            Node::Binary(BinaryOp::And, left, right) => self.either(left, right, false),
            Node::Binary(BinaryOp::Or, left, right) => self.either(left, right, true),
            Node::Call { name, args, .. } => match tree.text(name) {
                "changed" | "changedAny" => self.changes(id, args, true),
                "changedAll" => self.changes(id, args, false),
                _ => self.value(id),
            },
            _ => self.value(id),
        }
    }

    fn run(&self, id: NodeId, side: Side) -> Result<Value> {
        self.setting.run(&self.expression.part(id), self.common, self.documents, self.own, side)
    }

    fn new_value(&self, id: NodeId) -> Result<Value> {
        self.recalled(id, Question::New, || self.run(id, Side::New))
    }

    /// None where the old state gives no value.
    fn old_value(&self, id: NodeId) -> Result<Option<Value>> {
        let value = self.recalled(id, Question::Old, || {
            Ok(no_value_if_failed(self.run(id, Side::Old))?.unwrap_or_else(undefined))
        })?;
        Ok(Some(value).filter(|value| !is_undefined(value)))
    }

    /// What is the same for all nodes is worked out for one of them.
    fn recalled(
        &self,
        id: NodeId,
        question: Question,
        work: impl FnOnce() -> Result<Value>,
    ) -> Result<Value> {
        match &self.setting.memory {
            Some(memory) => {
                let place = (Arc::as_ptr(self.expression.program()).addr(), id);
                memory.recalled(place, question, self.documents.past, work)
            }
            None => work(),
        }
    }

    /// `or` ends with the first true operand, `and` with the first false one; if none ends it, all of them decide.
    fn either(&self, left: NodeId, right: NodeId, ends_with: bool) -> Result<Decided> {
        if self.run(left, Side::New)?.is_true() == ends_with {
            return self.decide(left);
        }
        if self.run(right, Side::New)?.is_true() == ends_with {
            return self.decide(right);
        }
        Ok(self.decide(left)?.merge(self.decide(right)?))
    }

    fn value(&self, id: NodeId) -> Result<Decided> {
        let value = self.run(id, Side::New)?;
        let part = one_line(&self.expression.part(id).to_string());
        let words = vec![format!("`{part}` is {}", shown(&value))];
        Ok(Decided { words, parts: vec![part], ..Decided::default() })
    }

    /// Arguments that have changed, or the one that has not.
    fn changes(&self, id: NodeId, args: ArgRange, any_is_enough: bool) -> Result<Decided> {
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
        let mut decided = Decided::default();
        for argument in &arguments {
            let (new, old) = (self.new_value(*argument)?, self.old_value(*argument)?);
            let has_changed = !old.as_ref().is_some_and(|old| same(old, &new));
            if has_changed {
                decided = decided.merge(self.change(*argument, old.as_ref(), &new));
                if any_is_enough {
                    return Ok(decided);
                }
            } else if !any_is_enough || arguments.len() == 1 {
                let part = one_line(&self.expression.part(*argument).to_string());
                return Ok(Decided {
                    words: vec![format!("`{part}` has not changed")],
                    parts: vec![part],
                    ..Decided::default()
                });
            }
        }
        if any_is_enough {
            let words = match arguments.len() {
                0 => "nothing is looked at that could have changed".to_owned(),
                n_arguments => format!("none of the {n_arguments} things it looks at has changed"),
            };
            let parts = vec![one_line(&self.expression.part(id).to_string())];
            decided = Decided { words: vec![words], parts, ..Decided::default() };
        }
        Ok(decided)
    }

    fn change(&self, argument: NodeId, old: Option<&Value>, new: &Value) -> Decided {
        let part = one_line(&self.expression.part(argument).to_string());
        let parts = vec![part.clone()];
        let Some(old) = old.filter(|_| self.has_past) else {
            let why = if self.has_past {
                "it had no value before"
            } else {
                "the task has not succeeded here before"
            };
            return Decided {
                words: vec![format!("`{part}` is new: {why}")],
                parts,
                differences: Vec::new(),
                compared: vec![argument],
            };
        };
        let path = self.path(argument).unwrap_or_default();
        let (differences, n_differences) = self.known.differences(&path, old, new);
        let told: Vec<String> = differences
            .iter()
            .map(|difference| {
                let text = difference.to_string();
                // What is inside the value of an expression has no path of its own.
                if path.is_empty() { text.trim_start().to_owned() } else { text }
            })
            .collect();
        let more = match n_differences.saturating_sub(differences.len()) {
            0 => String::new(),
            n_more => format!(", and {n_more} more"),
        };
        let words = vec![format!("`{part}` has changed: {}{more}", told.join(", "))];
        Decided { words, parts, differences, compared: vec![argument] }
    }

    /// The path of an argument that is one: `$.a.b`, `$.get(a)`.
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

/// Long parts are cut: whoever wants all of it has the graph.
fn one_line(text: &str) -> String {
    const LEN_MAX: usize = 120;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LEN_MAX {
        return line;
    }
    let short: String = line.chars().take(LEN_MAX).collect();
    format!("{short}…")
}
