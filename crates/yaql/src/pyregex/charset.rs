//! Sets of code points as sorted ranges.

/// Disjoint, sorted, non-adjacent inclusive ranges, with a bitmap for the ASCII part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CharSet {
    ranges: Vec<(u32, u32)>,
    ascii: u128,
}

pub(super) const MAX_CODE: u32 = 0x0010_FFFF;

impl CharSet {
    pub(super) fn new(mut ranges: Vec<(u32, u32)>) -> Self {
        ranges.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (low, high) in ranges {
            match merged.last_mut() {
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => merged.push((low, high)),
            }
        }
        Self::from_sorted(merged)
    }

    fn from_sorted(ranges: Vec<(u32, u32)>) -> Self {
        let mut ascii = 0;
        for &(low, high) in ranges.iter().take_while(|range| range.0 < 128) {
            for code in low..=high.min(127) {
                ascii |= 1u128 << code;
            }
        }
        Self { ranges, ascii }
    }

    pub(super) fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges
    }

    pub(super) fn contains(&self, code: u32) -> bool {
        if code < 128 {
            return self.ascii >> code & 1 == 1;
        }
        let index = self.ranges.partition_point(|range| range.1 < code);
        self.ranges.get(index).is_some_and(|range| range.0 <= code)
    }

    pub(super) fn complement(&self) -> Self {
        let mut out = Vec::with_capacity(self.ranges.len() + 1);
        let mut next = 0;
        for &(low, high) in &self.ranges {
            if low > next {
                out.push((next, low - 1));
            }
            next = high + 1;
        }
        if next <= MAX_CODE {
            out.push((next, MAX_CODE));
        }
        Self::from_sorted(out)
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        Self::new(self.ranges.iter().chain(&other.ranges).copied().collect())
    }

    /// Returns the set without the given codes, which must be sorted.
    pub(super) fn without(&self, codes: &[u32]) -> Self {
        let mut out = Vec::with_capacity(self.ranges.len() + codes.len());
        let mut codes = codes.iter().copied().peekable();
        for &(mut low, high) in &self.ranges {
            while let Some(&code) = codes.peek() {
                if code > high {
                    break;
                }
                if code > low {
                    out.push((low, code - 1));
                }
                low = low.max(code + 1);
                codes.next();
            }
            if low <= high {
                out.push((low, high));
            }
        }
        Self::from_sorted(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merge_complement_and_subtraction() {
        let set = CharSet::new(vec![(5, 9), (1, 2), (3, 4), (20, 20)]);
        assert_eq!(set.ranges(), [(1, 9), (20, 20)]);
        assert_eq!(set.complement().ranges(), [(0, 0), (10, 19), (21, MAX_CODE)]);
        assert_eq!(set.complement().complement(), set);
        assert_eq!(set.without(&[0, 1, 4, 9, 20, 30]).ranges(), [(2, 3), (5, 8)]);
        assert!(set.contains(7) && !set.contains(10));
        assert!(CharSet::new(vec![(0x400, 0x4FF)]).contains(0x4FF));
    }
}
