//! Computation budget of a check. The author of an upload decides how many patterns are matched against how
//! many names, and the product of two numbers that fit into an upload could keep a server busy for a day.

/// A budget in steps of about 0.1 µs.
pub(super) struct Budget {
    n_remaining: u64,
    is_exhausted: bool,
}

/// The cost of compiling a pattern, in steps.
pub(super) const COMPILE_STEPS: u64 = 300;

impl Budget {
    pub(super) fn new(steps_max: u64) -> Self {
        Self { n_remaining: steps_max, is_exhausted: false }
    }

    /// Consumes steps; `false` if the budget is exceeded. Once exceeded, all further calls fail.
    pub(super) fn spend(&mut self, steps: u64) -> bool {
        self.is_exhausted |= steps > self.n_remaining;
        self.n_remaining = self.n_remaining.saturating_sub(steps);
        !self.is_exhausted
    }

    /// Reports whether any work was skipped.
    pub(super) fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }
}
