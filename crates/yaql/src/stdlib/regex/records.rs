//! Variables for selectors: a map for the match and for each group.

use std::sync::LazyLock;

use smallvec::SmallVec;

use crate::eval::Ctx;
use crate::pyregex::{Match, Regex};
use crate::stdlib::prelude::*;
use crate::syntax::VarName;

/// Creates contexts for the matches in one text.
#[derive(Default)]
pub(super) struct Records {
    positions: Option<Positions>,
}

impl Records {
    /// Returns a context in which `$` is the match, `$2` and so on are its groups, and `$name` is a named
    /// group.
    pub(super) fn bind(
        &mut self,
        cx: &mut Cx<'_>,
        regex: &Regex,
        text: &str,
        matched: &Match,
        ctx: &Ctx,
    ) -> Result<Ctx> {
        let positions = self.positions.get_or_insert_with(|| Positions::new(text));
        let mut vars: SmallVec<[(VarName, Value); 1]> = SmallVec::with_capacity(regex.group_count() + 1);
        for group in 0..=regex.group_count() {
            let record = record(cx, positions, text, matched.get(group))?;
            vars.push((VarName::Positional(group as u32 + 1), record));
        }
        for (name, group) in regex.group_names() {
            let record = vars.get(group).map(|(_, record)| record.clone()).unwrap_or_default();
            vars.push((VarName::new(name), record));
        }
        ctx.with_vars(vars)
    }
}

fn record(
    cx: &mut Cx<'_>,
    positions: &Positions,
    text: &str,
    range: Option<(usize, usize)>,
) -> Result<Value> {
    static KEYS: LazyLock<[Value; 3]> = LazyLock::new(|| ["value", "start", "end"].map(Value::from));
    let [value_key, start_key, end_key] = &*KEYS;
    let (value, start, end) = match range {
        Some((start, end)) => {
            let value = cx.text(text.get(start..end).unwrap_or_default())?;
            (value, positions.of(text, start).into(), positions.of(text, end).into())
        }
        None => (Value::Null, Value::Int(-1), Value::Int(-1)),
    };
    let mut builder = MapBuilder::with_capacity(3);
    builder.insert(value_key.clone(), value)?;
    builder.insert(start_key.clone(), start)?;
    builder.insert(end_key.clone(), end)?;
    cx.dict(builder)
}

/// Converts byte offsets to code point positions.
struct Positions {
    /// Number of code points before each block; `None` for ASCII text.
    before: Option<Vec<usize>>,
}

const BLOCK: usize = 64;

impl Positions {
    fn new(text: &str) -> Self {
        if text.is_ascii() {
            return Self { before: None };
        }
        let mut before = Vec::with_capacity(text.len() / BLOCK + 2);
        let mut total = 0;
        for block in text.as_bytes().chunks(BLOCK) {
            before.push(total);
            total += starts(block);
        }
        before.push(total);
        Self { before: Some(before) }
    }

    fn of(&self, text: &str, byte: usize) -> usize {
        let Some(before) = &self.before else { return byte };
        let block = byte / BLOCK;
        let preceding = before.get(block).copied().unwrap_or_default();
        preceding + text.as_bytes().get(block * BLOCK..byte).map_or(0, starts)
    }
}

/// Returns the number of code points that start in a piece of UTF-8.
fn starts(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_code_points() {
        for unit in ["a", "é", "€x", "😀", "aé€😀"] {
            for times in [0, 1, 15, 16, 31, 32, 33, 64, 65, 200] {
                let text = unit.repeat(times);
                let positions = Positions::new(&text);
                let ends = text.char_indices().map(|(byte, _)| byte).chain([text.len()]);
                for (position, byte) in ends.enumerate() {
                    assert_eq!(positions.of(&text, byte), position, "{unit} {times} {byte}");
                }
            }
        }
    }
}
