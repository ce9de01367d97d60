//! Truth values.

use num_traits::Zero;

use super::Value;

impl Value {
    /// Reports whether a value is true, as in Python YAQL: zero and empty values are false, lazy values are
    /// true.
    pub fn is_true(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(value) => *value,
            Self::Int(number) => *number != 0,
            Self::BigInt(number) => !number.is_zero(),
            Self::Float(number) => *number != 0.0,
            Self::Str(text) => !text.is_empty(),
            Self::Values(view) => !view.map.is_empty(),
            Self::TimeSpan(span) => !span.is_zero(),
            _ => self.sized_len() != Some(0),
        }
    }
}
