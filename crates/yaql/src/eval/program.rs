//! An expression ready to run: its tree, and for every call in it what can be decided without its
//! arguments, worked out when the call is first met.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use smallvec::SmallVec;

use super::resolve::{Failure, Resolved, Shape, Shapes, resolve};
use super::shortcuts::Shortcut;
use crate::library::{Library, NameEntry};
use crate::syntax::{ArgNode, ArgRange, BinaryOp, Node, NodeId, Placed, Tree, UnaryOp};
use crate::value::{Kind, Map, StrKey, Value};

#[derive(Debug)]
pub struct Program {
    pub tree: Tree,
    pub library: Arc<Library>,
    /// For each member access the place where its key was last found: documents of one kind have
    /// their keys in one order. Only ever a place to look first.
    places: OnceLock<Box<[AtomicU32]>>,
    /// What is known of each call, by its number.
    sites: Box<[OnceLock<Site>]>,
    /// Operators that cannot work whatever their operands turn out to be; next to always none.
    failed: OnceLock<Vec<(NodeId, Failure)>>,
}

/// What is known of a call before it is made.
#[derive(Debug)]
pub(crate) enum Site {
    /// The library does not know the name; `def` might.
    Unknown,
    /// These overloads remain; there may be a short way to call them.
    Resolved(Arc<Resolved>, Option<Shortcut>),
    /// No overload can fit, whatever the arguments turn out to be.
    Failed(Failure),
}

impl Program {
    pub fn new(tree: Tree, library: Arc<Library>) -> Self {
        let sites = (0..tree.sites).map(|_| OnceLock::new()).collect();
        Self { tree, library, places: OnceLock::new(), sites, failed: OnceLock::new() }
    }

    /// The value of a member access in a map.
    #[inline]
    pub(super) fn member<'m>(&self, node: NodeId, map: &'m Map, key: &StrKey<'_>) -> Option<&'m Value> {
        let places = self.places.get_or_init(|| self.tree.nodes.iter().map(|_| AtomicU32::new(0)).collect());
        let place = places.get(node as usize)?;
        let guess = place.load(Ordering::Relaxed) as usize;
        if let Some(value) = map.get_at(guess, key) {
            return Some(value);
        }
        let found = map.find_hashed(key)?;
        place.store(found as u32, Ordering::Relaxed);
        map.entry(found).map(|(_, value)| value)
    }

    /// What is known of the call at a node.
    #[inline]
    pub(crate) fn site(&self, node: NodeId, number: u32) -> &Site {
        match self.sites.get(number as usize) {
            Some(site) => site.get_or_init(|| site_of(&self.tree, &self.library, self.tree.node(node))),
            None => &Site::Unknown,
        }
    }

    /// Why an operator cannot work, if that is known.
    #[inline]
    pub(super) fn failure(&self, node: NodeId) -> Option<Failure> {
        let failed = self.failed.get_or_init(|| self.failures());
        let at = failed.binary_search_by_key(&node, |(id, _)| *id).ok()?;
        Some(failed[at].1)
    }

    fn failures(&self) -> Vec<(NodeId, Failure)> {
        let failure = |placed: &Placed| match placed.node {
            Node::Binary(op, left, right) => binary_failure(&self.tree, &self.library, op, left, right),
            Node::Unary(op, operand) => unary_failure(&self.tree, &self.library, op, operand),
            _ => None,
        };
        let nodes = self.tree.nodes.iter().enumerate();
        nodes.filter_map(|(id, placed)| Some((id as NodeId, failure(placed)?))).collect()
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

/// Only a function that no layer has changed may be called the short way.
fn with_shortcut(site: Site, entry: &NameEntry, name: &str, method: bool, arguments: usize) -> Site {
    match site {
        Site::Resolved(resolved, None) if resolved.in_order && entry.layers(method).len() == 1 => {
            Site::Resolved(resolved, Shortcut::of(name, method, arguments))
        }
        other => other,
    }
}

/// A call by an operator's name: what comes first is an argument and no receiver.
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

/// What the library has ready for a call of a common form.
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
    // As long as one overload takes all the constants the call has to be tried, and the others
    // drop out by the values then.
    let shapes = first.cloned().into_iter().chain(slots.iter().map(|slot| arg_shape(tree, *slot)));
    let mut kinds: SmallVec<[Option<Kind>; 6]> = SmallVec::new();
    for shape in shapes {
        kinds.push(match shape {
            Shape::Expression | Shape::Call => None,
            Shape::Constant(kind) => Some(kind),
            Shape::Keyword => Some(Kind::Str),
            Shape::Omitted | Shape::Pair(..) | Shape::Value(_) => return None,
        });
    }
    // A receiver is known before the arguments are, so with one the overloads that drop out matter.
    let accepted = if method { resolved.all_accept(&kinds) } else { resolved.some_accept(&kinds) };
    accepted.then_some(resolved)
}

/// Operators are mostly settled by the kinds of their operands when they run; only a constant can
/// rule an operator out beforehand.
fn binary_failure(
    tree: &Tree,
    library: &Library,
    op: BinaryOp,
    left: NodeId,
    right: NodeId,
) -> Option<Failure> {
    let kinds = [constant_kind(tree, left), constant_kind(tree, right)];
    if kinds == [None, None] || accepts_all(op) || is_ordinary(op, kinds) {
        return None;
    }
    let resolved = library.get(op.function())?.plain_call(false, 2)?;
    if resolved.some_accept(&kinds) { None } else { Some(Failure::NoMatch) }
}

/// What nearly all operators with constants look like, settled without asking the library: no
/// layer can take these meanings away.
fn is_ordinary(op: BinaryOp, kinds: [Option<Kind>; 2]) -> bool {
    let all = |fits: fn(Kind) -> bool| kinds.into_iter().flatten().all(fits);
    match op {
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::Mod | BinaryOp::Sub => {
            all(|kind| matches!(kind, Kind::Int | Kind::Float))
        }
        BinaryOp::Add | BinaryOp::Gt | BinaryOp::Lt | BinaryOp::Ge | BinaryOp::Le => {
            all(|kind| matches!(kind, Kind::Int | Kind::Float)) || all(|kind| kind == Kind::Str)
        }
        BinaryOp::In => {
            kinds[1].is_none_or(|kind| kind == Kind::Str && kinds[0].is_none_or(|kind| kind == Kind::Str))
        }
        BinaryOp::Matches | BinaryOp::NotMatches => all(|kind| kind == Kind::Str),
        _ => false,
    }
}

fn accepts_all(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::And | BinaryOp::Or | BinaryOp::Pair)
}

fn unary_failure(tree: &Tree, library: &Library, op: UnaryOp, operand: NodeId) -> Option<Failure> {
    let kind = constant_kind(tree, operand)?;
    if op == UnaryOp::Not {
        return None;
    }
    let resolved = library.get(op.function())?.plain_call(false, 1)?;
    if resolved.some_accept(&[Some(kind)]) { None } else { Some(Failure::NoMatch) }
}

fn constant_kind(tree: &Tree, node: NodeId) -> Option<Kind> {
    match tree.node(node) {
        Node::Const(index) => Some(tree.constant(*index).kind()),
        Node::Keyword(_) => Some(Kind::Str),
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
