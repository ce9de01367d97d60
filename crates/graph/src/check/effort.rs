//! What a check may cost. Whoever uploads a graph decides how many patterns meet how many names, and the product of
//! two numbers that fit into an upload can keep a server busy for a day.

/// Steps of about a tenth of a microsecond.
pub(super) struct Effort {
    left: u64,
    is_exhausted: bool,
}

/// What it costs to compile a pattern.
pub(super) const COMPILE_STEPS: u64 = 300;

impl Effort {
    pub(super) fn new(steps_max: u64) -> Self {
        Self { left: steps_max, is_exhausted: false }
    }

    /// Whether so much may still be done. After the first no everything is too much.
    pub(super) fn spend(&mut self, steps: u64) -> bool {
        self.is_exhausted |= steps > self.left;
        self.left = self.left.saturating_sub(steps);
        !self.is_exhausted
    }

    /// Whether something was left undone.
    pub(super) fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }
}
