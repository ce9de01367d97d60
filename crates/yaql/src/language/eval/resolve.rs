//! Static part of overload resolution: decisions that need no evaluated arguments.

use std::sync::Arc;

use smallvec::SmallVec;

use super::context::Ctx;
use crate::error::ErrorClass;
use crate::library::{Overload, Param, ParamType};
use crate::syntax::{NodeId, Tree};
use crate::value::ValueKind;

/// The syntactic form of an argument.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    Omitted,
    Constant(ValueKind),
    Keyword,
    /// A function call, which can also be applied to a receiver.
    Call,
    Expression,
    Pair(NodeId, NodeId),
    /// An evaluated argument, as in `call(name, args, kwargs)`.
    Value(ValueKind),
}

impl Shape {
    /// Returns the kind of a constant. Keywords are strings.
    pub(super) fn constant_kind(&self) -> Option<ValueKind> {
        match self {
            Self::Constant(kind) => Some(*kind),
            Self::Keyword => Some(ValueKind::Str),
            _ => None,
        }
    }
}

pub(super) type Shapes = SmallVec<[Shape; 6]>;

/// The candidate overloads of a call, and how its arguments bind to their parameters.
#[derive(Debug)]
pub(crate) struct Resolved {
    /// Layers, innermost first.
    pub layers: SmallVec<[SmallVec<[Candidate; 2]>; 1]>,
    /// Bit set of the positional arguments that stay unevaluated.
    pub lazy: u64,
    /// Arguments passed by name.
    pub named: SmallVec<[NamedArg; 1]>,
    /// Whether every argument binds to the parameter at its position.
    pub in_order: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct NamedArg {
    /// The name: a keyword node.
    pub key: NodeId,
    pub value: NodeId,
    pub lazy: bool,
}

#[derive(Debug)]
pub(crate) struct Candidate {
    pub overload: Arc<Overload>,
    pub binding: Binding,
    /// The context that a function defined by `def` closes over.
    pub closure: Option<Ctx>,
}

/// The argument that each parameter receives.
#[derive(Clone, Debug)]
pub(crate) enum Binding {
    /// Argument `n` binds to parameter `n`.
    InOrder,
    /// One source per parameter; surplus positional arguments go to the variadic parameter.
    Mixed(Box<[Source]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Positional(usize),
    Named(usize),
    Default,
}

/// Reason why no overload matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    NoMatch,
    Ambiguous,
    /// `k => v` used as a named argument, where `k` is not a bare keyword.
    BadName,
}

impl Failure {
    pub(crate) fn class(self, method: bool) -> ErrorClass {
        match (self, method) {
            (Self::NoMatch, false) => ErrorClass::NoMatchingFunction,
            (Self::NoMatch, true) => ErrorClass::NoMatchingMethod,
            (Self::Ambiguous, false) => ErrorClass::AmbiguousFunction,
            (Self::Ambiguous, true) => ErrorClass::AmbiguousMethod,
            (Self::BadName, _) => ErrorClass::MappingTranslation,
        }
    }
}

/// Returns the overloads of a library entry that accept arguments of these shapes.
pub(super) fn resolve(
    layers: &[Vec<Arc<Overload>>],
    tree: &Tree,
    shapes: Shapes,
) -> Result<Resolved, Failure> {
    let candidates = layers.iter().map(|layer| layer.iter().map(|overload| (overload, None)));
    resolve_candidates(candidates, tree, shapes, &[])
}

/// Resolves a call with `arguments` positional arguments of unknown type.
pub(crate) fn resolve_plain(layers: &[Vec<Arc<Overload>>], arguments: usize) -> Option<Resolved> {
    resolve(layers, &Tree::default(), SmallVec::from_elem(Shape::Expression, arguments)).ok()
}

/// Resolves a call whose arguments are all pairs, after the receiver of a method.
pub(crate) fn resolve_paired(
    layers: &[Vec<Arc<Overload>>],
    method: bool,
    arguments: usize,
) -> Option<Resolved> {
    // If pairs denote named arguments, resolution depends on the names.
    if !layers.iter().flatten().all(|overload| overload.signature.pairs) {
        return None;
    }
    let mut shapes = SmallVec::from_elem(Shape::Pair(0, 0), arguments);
    if method {
        *shapes.first_mut()? = Shape::Expression;
    }
    resolve(layers, &Tree::default(), shapes).ok()
}

impl Candidate {
    fn accepts(&self, kinds: &[Option<ValueKind>]) -> bool {
        let signature = &self.overload.signature;
        kinds.iter().enumerate().all(|(argument, kind)| {
            let param = signature.params.get(argument).or(signature.rest.as_ref());
            kind.is_none_or(|kind| param.is_some_and(|param| param.kind.accepts(kind, true)))
        })
    }
}

impl Resolved {
    /// Reports whether a positional argument stays unevaluated. Arguments from 63 on share the last bit.
    pub(super) fn is_lazy(&self, argument: usize) -> bool {
        self.lazy & (1 << argument.min(63)) != 0
    }

    /// Reports whether at least one candidate accepts constants of these kinds.
    pub(super) fn some_accept(&self, kinds: &[Option<ValueKind>]) -> bool {
        self.layers.iter().flatten().any(|candidate| candidate.accepts(kinds))
    }

    /// Reports whether every candidate accepts constants of these kinds.
    pub(super) fn all_accept(&self, kinds: &[Option<ValueKind>]) -> bool {
        self.layers.iter().flatten().all(|candidate| candidate.accepts(kinds))
    }
}

/// Resolves a call over arbitrary layers. `values` are the named arguments passed as values.
pub(super) fn resolve_candidates<'a, L>(
    layers: impl Iterator<Item = L>,
    tree: &Tree,
    shapes: Shapes,
    values: &[(Box<str>, ValueKind)],
) -> Result<Resolved, Failure>
where
    L: Iterator<Item = (&'a Arc<Overload>, Option<&'a Ctx>)>,
{
    let mut state = Resolution { tree, pairs: None, positional: shapes, named: SmallVec::new(), lazy: None };
    let mut resolved: SmallVec<[SmallVec<[Candidate; 2]>; 1]> = SmallVec::new();
    for layer in layers {
        let mut fitting = SmallVec::new();
        for (overload, closure) in layer {
            state.translate(overload.signature.pairs)?;
            if let Some(binding) = state.bind(overload, values)? {
                fitting.push(Candidate { overload: overload.clone(), binding, closure: closure.cloned() });
            }
        }
        if !fitting.is_empty() {
            resolved.push(fitting);
        }
    }
    let Some((lazy, lazy_named)) = state.lazy else { return Err(Failure::NoMatch) };
    for (index, named) in state.named.iter_mut().enumerate() {
        named.lazy = index < 64 && lazy_named & (1 << index) != 0;
    }
    let in_order = resolved.iter().flatten().all(|candidate| matches!(candidate.binding, Binding::InOrder));
    Ok(Resolved { layers: resolved, lazy, named: state.named, in_order })
}

struct Resolution<'a> {
    tree: &'a Tree,
    /// Whether `k => v` denotes pairs rather than named arguments; determined by the first overload.
    pairs: Option<bool>,
    positional: Shapes,
    named: SmallVec<[NamedArg; 1]>,
    /// Bit sets of the lazy positional and named arguments; all overloads must agree.
    lazy: Option<(u64, u64)>,
}

impl Resolution<'_> {
    /// Converts `k => v` arguments to named arguments, unless the overload takes pairs.
    fn translate(&mut self, pairs: bool) -> Result<(), Failure> {
        match self.pairs {
            Some(current) if current == pairs => return Ok(()),
            Some(_) => return Err(Failure::Ambiguous),
            None => self.pairs = Some(pairs),
        }
        if pairs || !self.positional.iter().any(|shape| matches!(shape, Shape::Pair(..))) {
            return Ok(());
        }
        let mut positional = Shapes::new();
        for shape in std::mem::take(&mut self.positional) {
            let Shape::Pair(key, value) = shape else {
                positional.push(shape);
                continue;
            };
            let Some(name) = self.tree.keyword(key) else { return Err(Failure::BadName) };
            match self.named.iter_mut().find(|named| self.tree.keyword(named.key) == Some(name)) {
                // The last occurrence of a repeated name wins.
                Some(named) => named.value = value,
                None => self.named.push(NamedArg { key, value, lazy: false }),
            }
        }
        self.positional = positional;
        Ok(())
    }

    fn bind(
        &mut self,
        overload: &Overload,
        values: &[(Box<str>, ValueKind)],
    ) -> Result<Option<Binding>, Failure> {
        let Some((binding, lazy)) = self.try_bind(overload, values) else { return Ok(None) };
        match self.lazy {
            Some(current) if current != lazy => Err(Failure::Ambiguous),
            _ => {
                self.lazy = Some(lazy);
                Ok(Some(binding))
            }
        }
    }

    fn try_bind(
        &self,
        overload: &Overload,
        values: &[(Box<str>, ValueKind)],
    ) -> Option<(Binding, (u64, u64))> {
        let signature = &overload.signature;
        let in_order = self.named.is_empty()
            && values.is_empty()
            && !self.positional.iter().any(|shape| matches!(shape, Shape::Omitted));
        let mut lazy = (0, 0);
        let mut used_named: SmallVec<[bool; 16]> =
            SmallVec::from_elem(false, self.named.len() + values.len());
        let mut sources: SmallVec<[Source; 8]> = SmallVec::new();
        for (index, param) in signature.params.iter().enumerate() {
            let by_name = self.named_index(&param.name, values);
            let source = match self.positional.get(index) {
                // An empty slot and a named argument for the same parameter conflict.
                Some(Shape::Omitted) if by_name.is_some() && signature.rest.is_none() => return None,
                Some(Shape::Omitted) | None => {
                    if let Some(named) = by_name {
                        Source::Named(named)
                    } else {
                        param.default.as_ref()?;
                        Source::Default
                    }
                }
                Some(_) if by_name.is_some() => return None,
                Some(_) => Source::Positional(index),
            };
            match source {
                Source::Positional(at) => self.check_positional(at, param, &mut lazy.0)?,
                Source::Named(named) => {
                    // Unlike a positional constant, a constant passed by name is type-checked only after all
                    // arguments have been evaluated.
                    used_named[named] = true;
                    lazy.1 |= lazy_bit(named, param);
                }
                Source::Default => {
                    // An empty slot is lazy if its parameter is lazy.
                    if index < self.positional.len().min(63) && param.kind.is_lazy() {
                        lazy.0 |= 1 << index;
                    }
                }
            }
            sources.push(source);
        }
        for at in signature.params.len()..self.positional.len() {
            self.check_positional(at, signature.rest.as_ref()?, &mut lazy.0)?;
        }
        for (named, used) in used_named.iter().enumerate() {
            if !used {
                self.check_named(named, signature.named_rest.as_ref()?, values, &mut lazy.1)?;
            }
        }
        let binding = if in_order { Binding::InOrder } else { Binding::Mixed(sources.into_vec().into()) };
        Some((binding, lazy))
    }

    fn named_index(&self, name: &str, values: &[(Box<str>, ValueKind)]) -> Option<usize> {
        let written = self.named.iter().position(|named| self.tree.keyword(named.key) == Some(name));
        written.or_else(|| {
            values.iter().position(|(value_name, _)| **value_name == *name).map(|at| at + self.named.len())
        })
    }

    fn check_positional(&self, at: usize, param: &Param, lazy: &mut u64) -> Option<()> {
        if at >= 63 && param.kind.is_lazy() {
            // Arguments from 63 on share the last bit.
            *lazy |= 1 << 63;
        } else if param.kind.is_lazy() {
            *lazy |= 1 << at;
        }
        Self::fits(self.positional.get(at)?, param.kind).then_some(())
    }

    fn check_named(
        &self,
        at: usize,
        param: &Param,
        values: &[(Box<str>, ValueKind)],
        lazy: &mut u64,
    ) -> Option<()> {
        *lazy |= lazy_bit(at, param);
        let shape = match self.named.get(at) {
            Some(named) => super::program::shape(self.tree, named.value),
            None => Shape::Value(values.get(at - self.named.len())?.1),
        };
        Self::fits(&shape, param.kind).then_some(())
    }

    /// Reports whether an argument may match: constants must fit the type, other expressions always may.
    fn fits(shape: &Shape, kind: ParamType) -> bool {
        match (shape, kind) {
            (Shape::Keyword, ParamType::Keyword) => true,
            (_, ParamType::Keyword) => false,
            (Shape::Pair(..), ParamType::LazyPair) => true,
            (_, ParamType::LazyPair) => false,
            (Shape::Value(_), ParamType::Expression) => false,
            (_, ParamType::Expression) => true,
            (Shape::Call | Shape::Value(_), ParamType::MethodLambda) => true,
            (_, ParamType::MethodLambda) => false,
            (_, ParamType::Lambda | ParamType::LambdaInContext) => true,
            (Shape::Constant(kind) | Shape::Value(kind), expected) => expected.accepts(*kind, true),
            (Shape::Keyword, expected) => expected.accepts(ValueKind::Str, true),
            (Shape::Omitted, expected) => expected.accepts(ValueKind::Omitted, true),
            (Shape::Call | Shape::Expression | Shape::Pair(..), _) => true,
        }
    }
}

fn lazy_bit(named: usize, param: &Param) -> u64 {
    if named < 64 && param.kind.is_lazy() { 1 << named } else { 0 }
}
