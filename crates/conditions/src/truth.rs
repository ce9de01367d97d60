//! Truth and equality of values.

use stoker_model::Json;

/// Reports whether a value is true: `false`, `null`, zero and empty values are false, all others are true.
pub fn is_true(value: &Json) -> bool {
    match value {
        Json::Null => false,
        Json::Bool(flag) => *flag,
        Json::Number(number) => number.as_f64() != Some(0.0),
        Json::String(text) => !text.is_empty(),
        Json::Array(items) => !items.is_empty(),
        Json::Object(map) => !map.is_empty(),
    }
}

/// Reports whether two values are structurally equal. With `mixes_bools`, a boolean equals 1 or 0 at any
/// depth.
pub(crate) fn equal(left: &Json, right: &Json, mixes_bools: bool) -> bool {
    match (left, right) {
        (Json::Array(left), Json::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| equal(left, right, mixes_bools))
        }
        (Json::Object(left), Json::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, left)| right.get(key).is_some_and(|right| equal(left, right, mixes_bools)))
        }
        (Json::Number(_), Json::Number(_)) => Number::of(left, false) == Number::of(right, false),
        (Json::Bool(_), Json::Number(_)) | (Json::Number(_), Json::Bool(_)) if mixes_bools => {
            Number::of(left, true) == Number::of(right, true)
        }
        _ => left == right,
    }
}

/// A number by value: `1` equals `1.0`, and large integers keep all digits.
#[derive(PartialEq)]
enum Number {
    Whole(i128),
    Float(f64),
}

impl Number {
    fn of(value: &Json, takes_bools: bool) -> Option<Self> {
        if let (Json::Bool(flag), true) = (value, takes_bools) {
            return Some(Self::Whole(i128::from(*flag)));
        }
        let whole = value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from));
        whole.map(Self::Whole).or_else(|| value.as_f64().map(Self::of_float))
    }

    fn of_float(value: f64) -> Self {
        // Larger doubles are all whole, and exceed every integer that a document can contain.
        let is_whole = value.fract() == 0.0 && value.abs() < 1e30;
        if is_whole { Self::Whole(value as i128) } else { Self::Float(value) }
    }
}
