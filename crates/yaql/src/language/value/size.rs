//! Estimates the memory that a value takes in Python YAQL, excluding what it refers to.

use super::Value;

impl Value {
    /// Returns the shallow size in bytes. Models `CPython`, exactly where expressions can observe it.
    pub fn shallow_size(&self) -> u64 {
        match self {
            Self::Str(text) => crate::pytext::python_size_of_str(text),
            Self::Tuple(seq) => 40 + 8 * seq.len() as u64,
            Self::List(seq) => 56 + 8 * seq.len() as u64,
            Self::FrozenDict(_) => 48,
            Self::Dict(map) => dict_size(map.len()),
            Self::Set(set) => set_size(set.len()),
            Self::BigInt(number) => 24 + 4 * number.bits().div_ceil(30),
            Self::Int(number) => {
                if number.unsigned_abs() < 1 << 30 {
                    28
                } else {
                    32
                }
            }
            Self::Null => 16,
            Self::Bool(_) | Self::Float(_) => 24,
            Self::TimeSpan(_) => 40,
            Self::DateTime(_) => 48,
            _ => 64,
        }
    }
}

pub(crate) fn dict_size(len: usize) -> u64 {
    match len {
        0 => 64,
        1..=5 => 232,
        // The table doubles when two thirds full; entries take 24 bytes and indexes 1 to 8.
        _ => (len as u64 * 3 / 2).next_power_of_two() * 20 + 100,
    }
}

pub(crate) fn set_size(len: usize) -> u64 {
    match len {
        0..=4 => 216,
        _ => 216 + (len as u64 * 5 / 3).next_power_of_two() * 16 * 2,
    }
}
