//! A compiled expression: its tree, and per call site the result of static overload resolution, computed on
//! first use.

use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, OnceLock};

use super::operation::Operation;
use super::resolve::{Failure, Resolved, Shape, Shapes, resolve};
use super::shortcuts::Shortcut;
use crate::error::Span;
use crate::library::{Library, NameEntry, PLAIN_ARGS};
use crate::syntax::{ArgNode, ArgRange, BinaryOp, Node, NodeId, SpannedNode, Tree, UnaryOp};
use crate::value::{Map, StrKey, Value, ValueKind};

#[derive(Debug)]
pub struct Program {
    pub tree: Tree,
    pub library: Arc<Library>,
    /// Inline cache for member access: the entry index at which a key was last found, because documents of
    /// the same structure store their keys in the same order. It is only a hint, so nodes of a large
    /// expression may share a slot.
    key_hints: [AtomicU16; KEY_HINTS],
    /// Resolution results by call-site number.
    sites: Box<[OnceLock<Site>]>,
}

/// Number of hints; covers the nodes of most expressions. Stored inline to avoid an allocation per program.
const KEY_HINTS: usize = 32;

/// The statically known part of a call.
#[derive(Debug)]
pub(crate) enum Site {
    /// The library has no such name; `def` may define it.
    Unknown,
    /// Overloads that may match, and a shortcut if the function has one.
    Resolved(Arc<Resolved>, Option<Shortcut>),
    /// No overload can match, regardless of the argument values.
    Failed(Failure),
}

impl Program {
    pub fn new(tree: Tree, library: Arc<Library>) -> Self {
        let sites = (0..tree.sites).map(|_| OnceLock::new()).collect();
        Self { tree, library, key_hints: Default::default(), sites }
    }

    /// Returns a program that is a bare keyword, used to pass a key to a redefined dot operator.
    pub(super) fn keyword(key: &str, library: &Arc<Library>) -> Arc<Self> {
        Self::of_node(Node::Keyword(0), Value::str(key), key, library)
    }

    /// Returns a program that evaluates to a constant.
    pub(super) fn constant(value: Value, library: &Arc<Library>) -> Arc<Self> {
        Self::of_node(Node::Const(0), value, "", library)
    }

    fn of_node(node: Node, value: Value, source: &str, library: &Arc<Library>) -> Arc<Self> {
        let nodes = vec![SpannedNode { node, span: Span::new(0, source.len()), depth: 1 }];
        let tree = Tree { source: source.into(), nodes, constants: vec![value], ..Tree::default() };
        Arc::new(Self::new(tree, library.clone()))
    }

    /// Returns the value of a key, trying the cached entry index first.
    #[inline]
    pub(super) fn member<'m>(&self, node: NodeId, map: &'m Map, key: &StrKey<'_>) -> Option<&'m Value> {
        let hint = &self.key_hints[node as usize % KEY_HINTS];
        let guess = usize::from(hint.load(Ordering::Relaxed));
        if let Some(value) = map.get_at(guess, key) {
            return Some(value);
        }
        let index = map.find_hashed(key)?;
        hint.store(index as u16, Ordering::Relaxed);
        map.entry(index).map(|(_, value)| value)
    }

    /// Returns the resolution result of a call node.
    #[inline]
    pub(crate) fn site(&self, node: NodeId, number: u32) -> &Site {
        match self.sites.get(number as usize) {
            Some(site) => site.get_or_init(|| site_of(&self.tree, &self.library, self.tree.node(node))),
            None => &Site::Unknown,
        }
    }

    /// Returns the error of a binary operator that no operand values can satisfy, if its constant operands
    /// rule it out.
    ///
    /// Operators are normally dispatched on the operand types at run time; only constants allow an earlier
    /// decision.
    pub(super) fn binary_failure(&self, operation: Operation) -> Option<Failure> {
        let Operation { op, left, right } = operation;
        if accepts_all(op) {
            return None;
        }
        let kinds = [constant_kind(&self.tree, left), constant_kind(&self.tree, right)];
        if kinds == [None, None] || is_ordinary(op, kinds) {
            return None;
        }
        self.ruled_out(op.function(), &kinds)
    }

    /// Like [`Self::binary_failure`], for a unary operator.
    #[inline]
    pub(super) fn unary_failure(&self, op: UnaryOp, operand: NodeId) -> Option<Failure> {
        if op == UnaryOp::Not {
            return None;
        }
        let kind = constant_kind(&self.tree, operand).filter(|kind| !is_number(*kind))?;
        self.ruled_out(op.function(), &[Some(kind)])
    }

    /// Queries the library whether any overload accepts constants of these types.
    #[cold]
    fn ruled_out(&self, function: &str, kinds: &[Option<ValueKind>]) -> Option<Failure> {
        let resolved = self.library.get(function)?.plain_call(false, kinds.len())?;
        if resolved.some_accept(kinds) { None } else { Some(Failure::NoMatch) }
    }
}

fn site_of(tree: &Tree, library: &Library, node: &Node) -> Site {
    match node {
        Node::Call { name, args, .. } => call_site(tree, library, tree.text(*name), None, *args),
        Node::Method { name, args, .. } => {
            call_site(tree, library, tree.text(*name), Some(Shape::Expression), *args)
        }
        Node::Index { receiver, args, .. } => {
            operator_site(tree, library, "#indexer", Some(shape(tree, *receiver)), *args)
        }
        Node::Invoke { callee, args, .. } => {
            operator_site(tree, library, "#call", Some(shape(tree, *callee)), *args)
        }
        _ => Site::Unknown,
    }
}

fn call_site(tree: &Tree, library: &Library, name: &str, receiver: Option<Shape>, args: ArgRange) -> Site {
    let method = receiver.is_some();
    match library.get(name.trim_end_matches('_')) {
        Some(entry) if !entry.layers(method).is_empty() => {
            let site = entry_site(tree, entry, method, receiver, args);
            with_shortcut(site, entry, name, method, args.len as usize + usize::from(method))
        }
        _ => Site::Unknown,
    }
}

/// Adds a shortcut if no library layer overrides the function.
fn with_shortcut(site: Site, entry: &NameEntry, name: &str, method: bool, arguments: usize) -> Site {
    match site {
        Site::Resolved(resolved, None) if resolved.in_order && entry.layers(method).len() == 1 => {
            Site::Resolved(resolved, Shortcut::of(name, method, arguments))
        }
        other => other,
    }
}

/// Resolves a call of an operator function. Its first operand is an argument, not a receiver.
fn operator_site(tree: &Tree, library: &Library, name: &str, first: Option<Shape>, args: ArgRange) -> Site {
    match library.get(name) {
        Some(entry) => entry_site(tree, entry, false, first, args),
        None => Site::Unknown,
    }
}

fn entry_site(tree: &Tree, entry: &NameEntry, method: bool, first: Option<Shape>, args: ArgRange) -> Site {
    let slots = tree.arg_slice(args);
    if let Some(resolved) = common_call(tree, entry, method, first.as_ref(), slots) {
        return Site::Resolved(resolved.clone(), None);
    }
    let shapes: Shapes = first.into_iter().chain(slots.iter().map(|arg| arg_shape(tree, *arg))).collect();
    match resolve(entry.layers(method), tree, shapes) {
        Ok(resolved) => Site::Resolved(Arc::new(resolved), None),
        Err(failure) => Site::Failed(failure),
    }
}

/// Returns the precomputed resolution of a common call form: only positional arguments, or only pairs.
fn common_call<'e>(
    tree: &Tree,
    entry: &'e NameEntry,
    method: bool,
    first: Option<&Shape>,
    slots: &[ArgNode],
) -> Option<&'e Arc<Resolved>> {
    let before = usize::from(first.is_some());
    let arguments = before + slots.len();
    if !slots.is_empty() && slots.iter().all(|slot| matches!(slot, ArgNode::Pair(..))) {
        return if before == usize::from(method) { entry.paired_call(method, arguments) } else { None };
    }
    let resolved = entry.plain_call(method, arguments)?;
    let kinds = &mut [None; PLAIN_ARGS][..arguments];
    if let (Some(shape), Some(kind)) = (first, kinds.first_mut()) {
        *kind = shape.constant_kind();
    }
    for (kind, slot) in kinds[before..].iter_mut().zip(slots) {
        let ArgNode::Positional(node) = slot else { return None };
        *kind = constant_kind(tree, *node);
    }
    // If one overload accepts the constants, the call must be attempted; the argument values then rule out
    // the other overloads. A receiver is checked before the arguments are evaluated, so for a method with
    // non-constant arguments every overload must remain a candidate.
    let is_static = !method || kinds[before..].iter().all(Option::is_some);
    let accepted = if is_static { resolved.some_accept(kinds) } else { resolved.all_accept(kinds) };
    accepted.then_some(resolved)
}

/// Reports whether an operator accepts constants of these kinds in the standard library. No layer can remove
/// these overloads, so the library need not be consulted.
fn is_ordinary(op: BinaryOp, kinds: [Option<ValueKind>; 2]) -> bool {
    let all = |fits: fn(ValueKind) -> bool| kinds.into_iter().flatten().all(fits);
    match op {
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::Mod | BinaryOp::Sub => all(is_number),
        BinaryOp::Add | BinaryOp::Gt | BinaryOp::Lt | BinaryOp::Ge | BinaryOp::Le => {
            all(is_number) || all(|kind| kind == ValueKind::Str)
        }
        BinaryOp::In => kinds[1]
            .is_none_or(|kind| kind == ValueKind::Str && kinds[0].is_none_or(|kind| kind == ValueKind::Str)),
        BinaryOp::Matches | BinaryOp::NotMatches => all(|kind| kind == ValueKind::Str),
        _ => false,
    }
}

fn accepts_all(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::And | BinaryOp::Or | BinaryOp::Pair)
}

fn is_number(kind: ValueKind) -> bool {
    matches!(kind, ValueKind::Int | ValueKind::Float)
}

fn constant_kind(tree: &Tree, node: NodeId) -> Option<ValueKind> {
    match tree.node(node) {
        Node::Const(index) => Some(tree.constant(*index).kind()),
        Node::Keyword(_) => Some(ValueKind::Str),
        _ => None,
    }
}

pub(super) fn arg_shape(tree: &Tree, arg: ArgNode) -> Shape {
    match arg {
        ArgNode::Omitted => Shape::Omitted,
        ArgNode::Positional(node) => shape(tree, node),
        ArgNode::Pair(key, value) => Shape::Pair(key, value),
    }
}

pub(super) fn shape(tree: &Tree, node: NodeId) -> Shape {
    match tree.node(node) {
        Node::Const(index) => Shape::Constant(tree.constant(*index).kind()),
        Node::Keyword(_) => Shape::Keyword,
        Node::Call { .. } | Node::Invoke { .. } => Shape::Call,
        _ => Shape::Expression,
    }
}
