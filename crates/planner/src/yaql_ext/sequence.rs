//! Sequence matching as in Python's `difflib`: the longest common block is matched, then recursively the
//! parts before and after it.

use std::collections::HashMap;

use stoker_yaql::eval::Cx;
use stoker_yaql::value::Digest;
use stoker_yaql::{Result, Value};

/// The positions in the old and in the new sequence that no block covers.
pub(super) fn unmatched(cx: &mut Cx<'_>, old: &[Value], new: &[Value]) -> Result<(Vec<usize>, Vec<usize>)> {
    cx.steps((old.len() + new.len()) as u64)?;
    let (old, new): (Vec<Digest>, Vec<Digest>) =
        (old.iter().map(Value::digest).collect(), new.iter().map(Value::digest).collect());
    if old == new {
        return Ok((Vec::new(), Vec::new()));
    }
    let (mut is_old_matched, mut is_new_matched) = (vec![false; old.len()], vec![false; new.len()]);
    let matcher = Matcher::new(&old, &new);
    let mut pending = vec![(0..old.len(), 0..new.len())];
    while let Some((in_old, in_new)) = pending.pop() {
        let block = matcher.longest(cx, in_old.clone(), in_new.clone())?;
        if block.len == 0 {
            continue;
        }
        is_old_matched[block.old..block.old + block.len].fill(true);
        is_new_matched[block.new..block.new + block.len].fill(true);
        pending.push((in_old.start..block.old, in_new.start..block.new));
        pending.push((block.old + block.len..in_old.end, block.new + block.len..in_new.end));
    }
    let uncovered = |is_matched: Vec<bool>| {
        is_matched
            .iter()
            .enumerate()
            .filter(|(_, is_matched)| !**is_matched)
            .map(|(position, _)| position)
            .collect()
    };
    Ok((uncovered(is_old_matched), uncovered(is_new_matched)))
}

struct Block {
    old: usize,
    new: usize,
    len: usize,
}

struct Matcher<'d> {
    old: &'d [Digest],
    /// Positions of each item in the new sequence, ascending.
    positions: HashMap<Digest, Vec<usize>>,
}

type Range = std::ops::Range<usize>;

impl<'d> Matcher<'d> {
    fn new(old: &'d [Digest], new: &[Digest]) -> Self {
        let mut positions: HashMap<Digest, Vec<usize>> = HashMap::new();
        for (position, item) in new.iter().enumerate() {
            positions.entry(*item).or_default().push(position);
        }
        Self { old, positions }
    }

    /// The longest block inside the ranges; ties go to the first in the old sequence, then in the new one.
    fn longest(&self, cx: &mut Cx<'_>, in_old: Range, in_new: Range) -> Result<Block> {
        let mut best = Block { old: in_old.start, new: in_new.start, len: 0 };
        if in_old.is_empty() || in_new.is_empty() {
            return Ok(best);
        }
        // By position in the new sequence, the length of the block that ends there and at the previous old
        // item.
        let mut lengths: HashMap<usize, usize> = HashMap::new();
        for old_position in in_old {
            let mut next: HashMap<usize, usize> = HashMap::new();
            let positions =
                self.positions.get(&self.old[old_position]).map(Vec::as_slice).unwrap_or_default();
            let first = positions.partition_point(|position| *position < in_new.start);
            for position in positions[first..].iter().take_while(|position| **position < in_new.end) {
                cx.step()?;
                let len =
                    1 + position.checked_sub(1).and_then(|before| lengths.get(&before)).copied().unwrap_or(0);
                next.insert(*position, len);
                if len > best.len {
                    best = Block { old: old_position + 1 - len, new: position + 1 - len, len };
                }
            }
            cx.step()?;
            lengths = next;
        }
        Ok(best)
    }
}
