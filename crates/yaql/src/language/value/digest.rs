//! Hashing: a fast hash for hash tables, and a cryptographic digest of a value's content.
//!
//! The fast hash is seeded per process, so that colliding keys cannot be prepared; the order of maps and sets
//! does not depend on it. The digest is BLAKE3 (256 bits) over a canonical encoding in which equal values are
//! identical (`1`, `1.0` and `true`; maps in any order). Equal digests therefore imply equal values, and
//! documents can be compared without traversing them.

use std::hash::{BuildHasher, Hasher};
use std::sync::{Arc, LazyLock};

use foldhash::fast::RandomState;
use num_bigint::BigInt;
use num_traits::FromPrimitive;

use super::{Map, Seq, Set, Value};
use crate::error::{Error, Result};

/// Content digest of a value: equal digests imply equal values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u64; 4]);

impl Digest {
    pub fn to_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (chunk, word) in bytes.chunks_exact_mut(8).zip(self.0) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    fn finish(hasher: &blake3::Hasher) -> Self {
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(hasher.finalize().as_bytes().chunks_exact(8)) {
            let mut eight = [0; 8];
            eight.copy_from_slice(bytes);
            *word = u64::from_le_bytes(eight);
        }
        Self(words)
    }
}

/// Digest of a value including the representation of its numbers. `1`, `1.0` and `true` are equal and have
/// the same digest, but an expression that prints them distinguishes them. Equal identities imply equal
/// evaluation results. Key order and the type of maps (frozen or not) are not included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExactDigest {
    digest: Digest,
    representation: u32,
}

impl ExactDigest {
    pub fn to_bytes(self) -> [u8; 36] {
        let mut bytes = [0; 36];
        bytes[..32].copy_from_slice(&self.digest.to_bytes());
        bytes[32..].copy_from_slice(&self.representation.to_le_bytes());
        bytes
    }
}

/// Digest and representation hash cached in a container. Packed, so that the hash occupies what would be
/// padding.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(super) struct CachedDigest {
    pub(super) digest: Digest,
    representation: u32,
}

static SEED: LazyLock<RandomState> = LazyLock::new(RandomState::default);

pub(crate) fn hash_str(text: &str) -> u64 {
    let mut hasher = SEED.build_hasher();
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// Returns the table hash of a hashable value. Equal values have equal hashes.
pub(crate) fn hash_value(value: &Value) -> u64 {
    match value {
        Value::Str(text) => hash_str(text),
        Value::Int(number) => hash_int(*number),
        Value::Bool(flag) => hash_int(i64::from(*flag)),
        Value::Float(number) => match exact_i64(*number) {
            Some(whole) => hash_int(whole),
            None => value.digest().0[0],
        },
        _ => value.digest().0[0],
    }
}

fn hash_int(number: i64) -> u64 {
    let mut hasher = SEED.build_hasher();
    hasher.write_i64(number);
    hasher.finish()
}

fn exact_i64(number: f64) -> Option<i64> {
    // 2^63 itself is out of range for `i64`; the comparison also excludes NaN and infinities.
    let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&number);
    (fits && number.trunc() == number).then_some(number as i64)
}

impl Value {
    /// Returns the content digest, cached in containers. Lazy values are identified by address.
    pub fn digest(&self) -> Digest {
        match self {
            Self::Tuple(seq) => of_seq(seq, TUPLE).digest,
            Self::List(seq) => of_seq(seq, LIST).digest,
            Self::FrozenDict(map) | Self::Dict(map) => of_map(map).digest,
            Self::Set(set) => of_set(set).digest,
            Self::Keys(view) => {
                unordered(13, &mut view.map.iter().map(|(key, _)| key.digest()).collect::<Vec<_>>())
            }
            Self::Items(view) => {
                let pair = |index| view.map.pair(index).unwrap_or_default().digest();
                unordered(13, &mut (0..view.map.len()).map(pair).collect::<Vec<_>>())
            }
            _ => {
                let mut hasher = blake3::Hasher::new();
                write_scalar(&mut hasher, self);
                Digest::finish(&hasher)
            }
        }
    }

    /// Returns the digest together with the representation hash. Costs no more than the digest.
    pub fn identity(&self) -> ExactDigest {
        ExactDigest { digest: self.digest(), representation: self.representation() }
    }

    /// Returns a hash that distinguishes equal values with different representations; 0 for values with only
    /// one representation. 32 bits suffice, because the digest covers all other differences.
    fn representation(&self) -> u32 {
        match self {
            Self::Bool(_) => 1,
            Self::Float(number) if *number == 0.0 && number.is_sign_negative() => 2,
            Self::Float(_) => 3,
            Self::DateTime(moment) => {
                let offset = moment.offset().map_or(i128::MAX, |offset| offset.as_micros() / 1_000_000);
                (offset as u32).wrapping_add(4)
            }
            Self::Tuple(seq) => of_seq(seq, TUPLE).representation,
            Self::List(seq) => of_seq(seq, LIST).representation,
            Self::FrozenDict(map) | Self::Dict(map) => of_map(map).representation,
            Self::Set(set) => of_set(set).representation,
            _ => 0,
        }
    }

    /// Returns the hash under which tables store a hashable value.
    pub(crate) fn table_hash(&self) -> u64 {
        hash_value(self)
    }

    /// Fails if a value cannot be a key.
    pub fn check_hashable(&self) -> Result<()> {
        let unhashable = match self {
            Self::List(_) | Self::Dict(_) | Self::Keys(_) | Self::Items(_) => true,
            Self::Tuple(seq) => seq.meta().unhashable,
            Self::FrozenDict(map) => map.meta().unhashable,
            // Hashing uses the instant, which is undefined if the offset is out of range.
            Self::DateTime(moment) => moment.offset().is_err(),
            _ => false,
        };
        if unhashable { Err(Box::new(self.unhashable_error())) } else { Ok(()) }
    }

    fn unhashable_error(&self) -> Error {
        let inner = match self {
            Self::Tuple(seq) => seq.iter().find(|item| item.check_hashable().is_err()),
            Self::FrozenDict(map) => {
                map.iter().map(|(_, value)| value).find(|item| item.check_hashable().is_err())
            }
            _ => None,
        };
        match (inner, self) {
            (Some(inner), _) => inner.unhashable_error(),
            (None, Self::DateTime(moment)) => match moment.offset() {
                Err(error) => *error,
                Ok(_) => Error::kind("unhashable type: 'datetime.datetime'"),
            },
            (None, _) => Error::kind(format!("unhashable type: '{}'", self.type_name()))
                .help("convert it to a hashable sequence with `toList()`"),
        }
    }
}

const TUPLE: u8 = 10;
const LIST: u8 = 11;

fn of_seq(seq: &Seq, tag: u8) -> CachedDigest {
    // A tuple and a list never share a `Seq`, so one cache suffices.
    *seq.digest.get_or_init(|| {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&[tag]);
        let mut representation = 0_u32;
        for (index, item) in (0_u32..).zip(seq.iter()) {
            write_scalar(&mut hasher, item);
            representation = representation.wrapping_add(mix_position(index, item.representation()));
        }
        CachedDigest { digest: Digest::finish(&hasher), representation }
    })
}

fn of_map(map: &Map) -> CachedDigest {
    *map.digest.get_or_init(|| {
        let mut representation = 0_u32;
        let mut entries: Vec<Digest> = map
            .iter()
            .map(|(key, value)| {
                let mut hasher = blake3::Hasher::new();
                write_scalar(&mut hasher, key);
                write_scalar(&mut hasher, value);
                let digest = Digest::finish(&hasher);
                let of_entry = key.representation().rotate_left(16) ^ value.representation();
                // Mixed with the digest of the entry instead of its index, since key order is irrelevant.
                representation = representation.wrapping_add(mix_position(digest.0[0] as u32, of_entry));
                digest
            })
            .collect();
        CachedDigest { digest: unordered(12, &mut entries), representation }
    })
}

fn of_set(set: &Set) -> CachedDigest {
    *set.digest.get_or_init(|| {
        let mut representation = 0_u32;
        let mut items: Vec<Digest> = set
            .iter()
            .map(|item| {
                let digest = item.digest();
                representation =
                    representation.wrapping_add(mix_position(digest.0[0] as u32, item.representation()));
                digest
            })
            .collect();
        CachedDigest { digest: unordered(13, &mut items), representation }
    })
}

/// Mixes a representation hash with the position of the element. 0 stays 0.
fn mix_position(position: u32, representation: u32) -> u32 {
    if representation == 0 {
        return 0;
    }
    let mut mixed = position.wrapping_mul(0x9E37_79B1) ^ representation;
    mixed = (mixed ^ (mixed >> 16)).wrapping_mul(0x85EB_CA6B);
    mixed = (mixed ^ (mixed >> 13)).wrapping_mul(0xC2B2_AE35);
    mixed ^ (mixed >> 16)
}

fn unordered(tag: u8, parts: &mut [Digest]) -> Digest {
    parts.sort_unstable();
    let mut hasher = blake3::Hasher::new();
    hasher.update(&[tag]);
    for part in parts {
        hasher.update(&part.to_bytes());
    }
    Digest::finish(&hasher)
}

/// Hashes a value as part of its container. Containers are represented by their digest.
fn write_scalar(hasher: &mut blake3::Hasher, value: &Value) {
    match value {
        Value::Null => {
            hasher.update(&[0]);
        }
        Value::Bool(flag) => write_int(hasher, i64::from(*flag)),
        Value::Int(number) => write_int(hasher, *number),
        Value::BigInt(number) => write_big(hasher, number),
        Value::Float(number) => write_float(hasher, *number),
        Value::Str(text) => {
            hasher.update(&[4]);
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        Value::DateTime(moment) => {
            hasher.update(&[5]);
            hasher.update(&moment.instant().to_le_bytes());
            hasher.update(&[u8::from(moment.is_naive())]);
        }
        Value::TimeSpan(span) => {
            hasher.update(&[6]);
            hasher.update(&span.as_micros().to_le_bytes());
        }
        Value::Regex(regex) => {
            hasher.update(&[7]);
            hasher.update(crate::pyregex::python_repr(regex).as_bytes());
        }
        Value::Tuple(_)
        | Value::List(_)
        | Value::FrozenDict(_)
        | Value::Dict(_)
        | Value::Set(_)
        | Value::Keys(_)
        | Value::Items(_) => {
            hasher.update(&[8]);
            hasher.update(&value.digest().to_bytes());
        }
        Value::Values(view) => write_identity(hasher, Arc::as_ptr(view).addr()),
        Value::Ordering(cell) => write_identity(hasher, Arc::as_ptr(cell).addr()),
        Value::Iterator(cell) => write_identity(hasher, Arc::as_ptr(cell).addr()),
        Value::Context(ctx) => write_identity(hasher, ctx.address()),
        Value::Callable(callable) => write_identity(hasher, Arc::as_ptr(callable).addr()),
        Value::Omitted => write_identity(hasher, 0),
        Value::Opaque(opaque) => write_identity(hasher, Arc::as_ptr(opaque).addr()),
    }
}

fn write_identity(hasher: &mut blake3::Hasher, address: usize) {
    hasher.update(&[9]);
    hasher.update(&(address as u64).to_le_bytes());
}

fn write_int(hasher: &mut blake3::Hasher, number: i64) {
    hasher.update(&[1]);
    hasher.update(&number.to_le_bytes());
}

fn write_big(hasher: &mut blake3::Hasher, number: &BigInt) {
    hasher.update(&[2]);
    let bytes = number.to_signed_bytes_le();
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(&bytes);
}

fn write_float(hasher: &mut blake3::Hasher, number: f64) {
    if let Some(whole) = exact_i64(number) {
        write_int(hasher, whole);
    } else if number.is_finite() && number.trunc() == number {
        write_big(hasher, &BigInt::from_f64(number).unwrap_or_default());
    } else {
        hasher.update(&[3]);
        // All NaNs are equal inside containers, where Python YAQL compares by identity first.
        let bits = if number.is_nan() { f64::NAN.to_bits() } else { number.to_bits() };
        hasher.update(&bits.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    fn check(a: &str, b: &str, is_equal: bool, is_identical: bool) {
        let (a, b) = (parse(a).unwrap(), parse(b).unwrap());
        assert_eq!(a.digest() == b.digest(), is_equal, "{a:?} {b:?}");
        assert_eq!(a.identity() == b.identity(), is_identical, "{a:?} {b:?}");
    }

    #[test]
    fn equal_numbers_are_not_identical() {
        check("1", "1", true, true);
        check("1", "1.0", true, false);
        check("1", "true", true, false);
        check("1.0", "true", true, false);
        check("0.0", "-0.0", true, false);
        check("0.5", "0.5", true, true);
        check("1", "2", false, false);
    }

    #[test]
    fn position_of_a_representation_matters() {
        check(r#"{"a": [1, {"b": true}]}"#, r#"{"a": [1, {"b": true}]}"#, true, true);
        check(r#"{"a": [1, {"b": true}]}"#, r#"{"a": [1, {"b": 1}]}"#, true, false);
        check("[true, 1]", "[1, true]", true, false);
        check(r#"{"a": true, "b": 1}"#, r#"{"a": 1, "b": true}"#, true, false);
        check(r#"{"a": [true, 0], "b": [1, 0]}"#, r#"{"a": [1, 0], "b": [true, 0]}"#, true, false);
    }

    #[test]
    fn key_order_is_ignored() {
        check(r#"{"a": true, "b": 1.0, "c": [false]}"#, r#"{"c": [false], "b": 1.0, "a": true}"#, true, true);
    }

    #[test]
    fn representation_hash_uses_padding() {
        use std::sync::OnceLock;
        assert_eq!(size_of::<OnceLock<CachedDigest>>(), size_of::<OnceLock<Digest>>());
    }
}
