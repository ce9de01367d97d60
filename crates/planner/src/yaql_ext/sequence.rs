//! Two sequences compared by their longest matching blocks: the longest stretch that both have is matched, then what
//! is left of it, then what is right of it, and so on.

use std::collections::HashMap;

use stoker_yaql::eval::Cx;
use stoker_yaql::value::Digest;
use stoker_yaql::{Result, Value};

/// The places in the old and in the new sequence that no block covers.
pub(super) fn unmatched(cx: &mut Cx<'_>, old: &[Value], new: &[Value]) -> Result<(Vec<usize>, Vec<usize>)> {
    cx.steps((old.len() + new.len()) as u64)?;
    let (old, new): (Vec<Digest>, Vec<Digest>) =
        (old.iter().map(Value::digest).collect(), new.iter().map(Value::digest).collect());
    if old == new {
        return Ok((Vec::new(), Vec::new()));
    }
    let (mut is_old_matched, mut is_new_matched) = (vec![false; old.len()], vec![false; new.len()]);
    let matcher = Matcher::new(&old, &new);
    let mut waiting = vec![(0..old.len(), 0..new.len())];
    while let Some((in_old, in_new)) = waiting.pop() {
        let block = matcher.longest(cx, in_old.clone(), in_new.clone())?;
        if block.len == 0 {
            continue;
        }
        is_old_matched[block.old..block.old + block.len].fill(true);
        is_new_matched[block.new..block.new + block.len].fill(true);
        waiting.push((in_old.start..block.old, in_new.start..block.new));
        waiting.push((block.old + block.len..in_old.end, block.new + block.len..in_new.end));
    }
    let free = |is_matched: Vec<bool>| {
        is_matched
            .iter()
            .enumerate()
            .filter(|(_, is_matched)| !**is_matched)
            .map(|(place, _)| place)
            .collect()
    };
    Ok((free(is_old_matched), free(is_new_matched)))
}

struct Block {
    old: usize,
    new: usize,
    len: usize,
}

struct Matcher<'d> {
    old: &'d [Digest],
    /// Where each item stands in the new sequence, ascending.
    places: HashMap<Digest, Vec<usize>>,
}

type Range = std::ops::Range<usize>;

impl<'d> Matcher<'d> {
    fn new(old: &'d [Digest], new: &[Digest]) -> Self {
        let mut places: HashMap<Digest, Vec<usize>> = HashMap::new();
        for (place, item) in new.iter().enumerate() {
            places.entry(*item).or_default().push(place);
        }
        Self { old, places }
    }

    /// The longest block inside these ranges; of several the first in the old sequence, then in the new one.
    fn longest(&self, cx: &mut Cx<'_>, in_old: Range, in_new: Range) -> Result<Block> {
        let mut best = Block { old: in_old.start, new: in_new.start, len: 0 };
        if in_old.is_empty() || in_new.is_empty() {
            return Ok(best);
        }
        // By place in the new sequence, how long the block is that ends there and at the previous old item.
        let mut lengths: HashMap<usize, usize> = HashMap::new();
        for old_place in in_old {
            let mut next: HashMap<usize, usize> = HashMap::new();
            let places = self.places.get(&self.old[old_place]).map(Vec::as_slice).unwrap_or_default();
            let first = places.partition_point(|place| *place < in_new.start);
            for place in places[first..].iter().take_while(|place| **place < in_new.end) {
                cx.step()?;
                let len =
                    1 + place.checked_sub(1).and_then(|before| lengths.get(&before)).copied().unwrap_or(0);
                next.insert(*place, len);
                if len > best.len {
                    best = Block { old: old_place + 1 - len, new: place + 1 - len, len };
                }
            }
            cx.step()?;
            lengths = next;
        }
        Ok(best)
    }
}
