//! Fast paths for operators on common operand types, without overload resolution.
//!
//! Each returns the same result as overload resolution would, or `None` to fall back to it.

use std::cmp::Ordering;
use std::sync::Arc;

use super::{Ctx, Cx, Lazy, LimitedCursor, suggest};
use crate::error::{Error, ErrorClass, Result};
use crate::pyregex::{Flags, StepBudget};
use crate::syntax::BinaryOp;
use crate::value::{KindSet, Seq, StrKey, Value, number};

/// Evaluates a binary operator on scalars, strings or tuples.
pub(super) fn scalar(cx: &mut Cx<'_>, op: BinaryOp, a: &Value, b: &Value) -> Option<Result<Value>> {
    if op.is_test() {
        return Some(test(cx, op, a, b)?.map(Value::Bool));
    }
    if let (Value::BigInt(_), _) | (_, Value::BigInt(_)) = (a, b) {
        return None; // The full operator charges large integers to the budget.
    }
    match op {
        BinaryOp::Add => match (a, b) {
            (Value::Int(a), Value::Int(b)) => Some(Ok(Value::Int(a.checked_add(*b)?))),
            (Value::Str(a), Value::Str(b)) => Some(concat(cx, a, b)),
            (Value::Tuple(x), Value::Tuple(y)) => Some(join(cx, a, x, b, y)),
            _ => number::add(a, b),
        },
        BinaryOp::Sub => number::sub(a, b),
        BinaryOp::Mul => number::mul(a, b),
        BinaryOp::Div => number::div(a, b),
        BinaryOp::Mod => number::modulo(a, b),
        _ => None,
    }
}

/// Evaluates a comparison operator.
#[inline]
pub(super) fn test(cx: &mut Cx<'_>, op: BinaryOp, a: &Value, b: &Value) -> Option<Result<bool>> {
    match op {
        BinaryOp::Eq | BinaryOp::Ne => {
            // Comparing datetimes fails if an offset is out of range; the full operator reports the error.
            if let (Value::DateTime(_), Value::DateTime(_)) = (a, b) {
                return None;
            }
            if let Err(error) = charge_comparison(cx, a, b) {
                return Some(Err(error));
            }
            Some(Ok(a.equals(b) == (op == BinaryOp::Eq)))
        }
        BinaryOp::In => contains(cx, a, b),
        BinaryOp::Matches | BinaryOp::NotMatches => match (a, b) {
            (Value::Str(text), Value::Str(pattern)) => {
                let matched = cx.regex(pattern, Flags::default()).and_then(|regex| cx.is_match(&regex, text));
                Some(matched.map(|matched| matched == (op == BinaryOp::Matches)))
            }
            _ => None,
        },
        _ => {
            let ordering = match (a, b) {
                (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
                (Value::Str(x), Value::Str(y)) => {
                    if let Err(error) = charge_comparison(cx, a, b) {
                        return Some(Err(error));
                    }
                    Some(x.cmp(y))
                }
                _ => number::compare(a, b)?,
            };
            let fits = ordering.is_some_and(|ordering| match op {
                BinaryOp::Lt => ordering == Ordering::Less,
                BinaryOp::Gt => ordering == Ordering::Greater,
                BinaryOp::Le => ordering != Ordering::Greater,
                _ => ordering != Ordering::Less,
            });
            Some(Ok(fits))
        }
    }
}

/// Charges steps for comparing long strings.
#[inline]
fn charge_comparison(cx: &mut Cx<'_>, a: &Value, b: &Value) -> Result<()> {
    match (a, b) {
        (Value::Str(a), Value::Str(b)) if a.len() > TEXT_FREE_BYTES && b.len() > TEXT_FREE_BYTES => {
            cx.steps(a.len().min(b.len()) as u64 / 64)
        }
        _ => Ok(()),
    }
}

/// Capacity up to which the string buffer is reused; a larger buffer is freed.
const SCRATCH_RETAINED_BYTES: usize = 64 * 1024;

/// Length up to which operations on a string cost no extra steps.
pub(super) const TEXT_FREE_BYTES: usize = 4096;

/// Concatenates two tuples.
fn join(cx: &mut Cx<'_>, left: &Value, a: &Seq, right: &Value, b: &Seq) -> Result<Value> {
    cx.check_sized(left)?;
    cx.check_sized(right)?;
    let total = a.len() + b.len();
    cx.check_bytes(40 + 8 * total as u64)?;
    cx.steps(total as u64)?;
    let mut items = Vec::with_capacity(total);
    items.extend_from_slice(a);
    items.extend_from_slice(b);
    cx.tuple(items)
}

fn concat(cx: &mut Cx<'_>, a: &str, b: &str) -> Result<Value> {
    let mut text = std::mem::take(&mut cx.scratch);
    text.clear();
    text.push_str(a);
    text.push_str(b);
    let value = cx.text(&*text);
    // A buffer that grew beyond the bound is not retained for the rest of the evaluation.
    if text.capacity() <= SCRATCH_RETAINED_BYTES {
        cx.scratch = text;
    }
    let value = value?;
    cx.check_value(&value)?;
    Ok(value)
}

fn contains(cx: &mut Cx<'_>, item: &Value, collection: &Value) -> Option<Result<bool>> {
    match (item, collection) {
        (Value::Str(item), Value::Str(text)) => {
            let check = cx.steps(text.len() as u64 / 32);
            Some(check.map(|()| text.contains(&**item)))
        }
        (_, Value::Tuple(seq) | Value::List(seq)) => {
            let check = cx.check_sized(collection).and_then(|()| cx.steps(seq.len() as u64));
            Some(check.map(|()| seq.iter().any(|element| element.same_or_equal(item))))
        }
        _ => None,
    }
}

/// Evaluates `receiver[index]` for integers of any size; null if the receiver has no elements.
pub(crate) fn index(receiver: &Value, index: &Value) -> Result<Value> {
    simple_index(receiver, index).unwrap_or_else(|| match (receiver.as_seq(), index) {
        (Some(_), Value::BigInt(_)) => {
            let message = "cannot fit 'int' into an index-sized integer";
            Err(Box::new(Error::new(ErrorClass::Index, message)))
        }
        _ => Ok(Value::Null),
    })
}

/// Evaluates `receiver[index]` on sequences and maps.
pub(super) fn simple_index(receiver: &Value, index: &Value) -> Option<Result<Value>> {
    match (receiver, index) {
        (Value::Tuple(seq) | Value::List(seq), Value::Int(at)) => {
            let at = if *at < 0 { at + seq.len() as i64 } else { *at };
            let item = usize::try_from(at).ok().and_then(|at| seq.get(at));
            Some(item.cloned().ok_or_else(|| index_error(receiver)))
        }
        (Value::FrozenDict(map) | Value::Dict(map), key) => Some(match map.get(key) {
            Ok(Some(value)) => Ok(value.clone()),
            Ok(None) => Err(missing_key(receiver, key)),
            Err(error) => Err(error),
        }),
        _ => None,
    }
}

pub(crate) fn index_error(receiver: &Value) -> Box<Error> {
    let message = format!("{} index out of range", receiver.type_name());
    Box::new(Error::new(ErrorClass::Index, message))
}

pub(crate) fn missing_key(map: &Value, key: &Value) -> Box<Error> {
    let message =
        key.to_repr(10_000).unwrap_or_else(|_| format!("{} key too long to display", key.type_name()));
    let mut error = Error::new(ErrorClass::Key, message);
    if let (Some(map), Some(key)) = (map.as_map(), key.as_str()) {
        error.help = Some(suggest::key(map, key));
    }
    Box::new(error)
}

/// Evaluates `receiver.key`: the value of a map, the key of every element of a collection, or a property.
pub(super) fn member(cx: &mut Cx<'_>, receiver: Value, text: &str, hash: u64, ctx: &Ctx) -> Result<Value> {
    let key = &StrKey { text: text.as_bytes(), hash };
    if let Some(map) = receiver.as_map() {
        return match map.get_hashed(key) {
            Some(value) => Ok(value.clone()),
            None => Err(missing_key(&receiver, &Value::str(text))),
        };
    }
    if KindSet::ITER.has(receiver.kind()) {
        return attributes(cx, receiver, text, ctx);
    }
    property(cx, receiver, text, ctx)
}

/// Returns a lazy iterator over `.key` of every element.
pub(crate) fn attributes(cx: &mut Cx<'_>, receiver: Value, key: &str, ctx: &Ctx) -> Result<Value> {
    let source = cx.iterate(receiver)?;
    let depth = source.depth().max(ctx.depth());
    let key: Arc<str> = key.into();
    let hash = StrKey::new(&key).hash;
    cx.lazy(Attributes { source, key, hash, key_index: 0, ctx: ctx.clone() }, depth)
}

/// Evaluates a property. Only datetimes and timespans have properties.
pub(crate) fn property(cx: &mut Cx<'_>, receiver: Value, key: &str, ctx: &Ctx) -> Result<Value> {
    let name = format!("#property#{key}");
    let original = receiver.clone();
    cx.call_values(&name, [receiver], ctx).map_err(|mut error| {
        if matches!(error.class, ErrorClass::NoFunction | ErrorClass::NoMatchingFunction)
            && error.span.is_none()
        {
            error.help = Some(suggest::no_property(&original, key));
        }
        error
    })
}

struct Attributes {
    source: LimitedCursor,
    key: Arc<str>,
    hash: u64,
    /// Entry index at which the key was last found, tried first in the next map.
    key_index: usize,
    ctx: Ctx,
}

impl Lazy for Attributes {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        let Some(item) = self.source.next(cx)? else { return Ok(None) };
        if let (Some(map), false) = (item.as_map(), cx.slow) {
            let key = StrKey { text: self.key.as_bytes(), hash: self.hash };
            if map.get_at(self.key_index, &key).is_none() {
                self.key_index = map.find_hashed(&key).unwrap_or(0);
            }
            if let Some(value) = map.get_at(self.key_index, &key) {
                return Ok(Some(value.clone()));
            }
        }
        cx.member(item, &self.key, self.hash, &self.ctx).map(Some)
    }
}

impl Cx<'_> {
    /// Evaluates a binary operator on values, honouring redefinitions.
    pub fn operator(&mut self, op: BinaryOp, a: Value, b: Value, ctx: &Ctx) -> Result<Value> {
        if !self.redefined(op.function(), ctx)
            && let Some(result) = scalar(self, op, &a, &b)
        {
            return result;
        }
        self.call_values(op.function(), [a, b], ctx)
    }

    /// Reports whether a pattern matches anywhere in a text. Charges steps by the length of the text.
    pub fn is_match(&mut self, regex: &crate::pyregex::Regex, text: &str) -> Result<bool> {
        self.steps(text.len() as u64 / 16)?;
        let mut work = self.regex_work();
        let matched = regex.is_match_counted(text, &mut work);
        self.steps(work.spent)?;
        matched
    }

    /// Returns the step budget available to regex searches.
    pub(crate) fn regex_work(&self) -> StepBudget {
        StepBudget::new(self.steps_left())
    }
}
