//! Run-length encoding of integer columns: first number, step to the next, and number of values.

use super::DecodeError;

/// Flat triples of first number, step and length.
pub(super) type Runs = Vec<i64>;

/// Encodes a column. Greedy and therefore deterministic: equal columns have equal runs.
pub(super) fn pack(values: impl IntoIterator<Item = u32>) -> Runs {
    let mut runs = Vec::new();
    let mut open: Option<(i64, i64, i64)> = None;
    for value in values {
        let value = i64::from(value);
        open = Some(match open {
            None => (value, 0, 1),
            Some((first, _, 1)) => (first, value - first, 2),
            Some((first, step, len)) if first + step * len == value => (first, step, len + 1),
            Some((first, step, len)) => {
                runs.extend([first, step, len]);
                (value, 0, 1)
            }
        });
    }
    if let Some((first, step, len)) = open {
        runs.extend([first, step, len]);
    }
    runs
}

/// Decodes a column of exactly `len` numbers.
pub(super) fn unpack(runs: &[i64], len: usize) -> Result<Vec<u32>, DecodeError> {
    let values = unpack_up_to(runs, len)?;
    if values.len() == len { Ok(values) } else { Err(DecodeError::Damaged("a column is too short")) }
}

/// Decodes a column of at most `len_max` numbers.
pub(super) fn unpack_up_to(runs: &[i64], len_max: usize) -> Result<Vec<u32>, DecodeError> {
    let mut values = Vec::new();
    let (triples, rest) = runs.as_chunks::<3>();
    if !rest.is_empty() {
        return Err(DecodeError::Damaged("a run is truncated"));
    }
    for [first, step, len] in triples {
        let len = usize::try_from(*len).map_err(|_| DecodeError::Damaged("a run has a negative length"))?;
        if len > len_max - values.len() {
            return Err(DecodeError::Damaged("a column is too long"));
        }
        for position in 0..len as i64 {
            values.push(number(*first, *step, position)?);
        }
    }
    Ok(values)
}

/// The number at a position of a run.
pub(super) fn number(first: i64, step: i64, position: i64) -> Result<u32, DecodeError> {
    let value = step.checked_mul(position).and_then(|offset| first.checked_add(offset));
    value.and_then(|value| u32::try_from(value).ok()).ok_or(DecodeError::Damaged("a number is out of range"))
}
