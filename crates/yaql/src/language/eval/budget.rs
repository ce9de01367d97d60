//! Resource limits of an evaluation: steps, nesting depth and memory.

use super::{Cx, Limits, Options};
use crate::error::{Error, ErrorClass, Result};

pub(super) struct Budget {
    /// Number of steps until the step limit and the interrupt flag of the host are checked again.
    until_check: u32,
    steps_left: u64,
    depth: u32,
    depth_max: u32,
    memory_left: u64,
    quota: u64,
}

/// Number of steps between checks for interruption by the host.
const CHECK_EVERY: u32 = 4096;

impl Budget {
    pub(super) fn new(limits: &Limits, options: &Options) -> Self {
        let quota = u64::try_from(options.memory_quota).ok().filter(|quota| *quota > 0);
        let first = limits.steps.min(u64::from(CHECK_EVERY)) as u32;
        Self {
            until_check: first,
            steps_left: limits.steps - u64::from(first),
            depth: 0,
            depth_max: limits.depth,
            memory_left: limits.memory,
            quota: quota.unwrap_or(u64::MAX),
        }
    }

    /// Reports whether the quota is so small (below 64 KiB) that even small values can exceed it.
    pub(super) fn is_tight(&self) -> bool {
        self.quota < 1 << 16
    }
}

impl Cx<'_> {
    /// Charges one step.
    #[inline]
    pub fn step(&mut self) -> Result<()> {
        if self.budget.until_check == 0 {
            return self.refill(0);
        }
        self.budget.until_check -= 1;
        Ok(())
    }

    /// Charges `count` steps.
    pub fn steps(&mut self, count: u64) -> Result<()> {
        match u32::try_from(count) {
            Ok(count) if count <= self.budget.until_check => {
                self.budget.until_check -= count;
                Ok(())
            }
            _ => self.refill(count),
        }
    }

    /// Returns the number of steps left.
    pub(crate) fn steps_left(&self) -> u64 {
        self.budget.steps_left.saturating_add(u64::from(self.budget.until_check))
    }

    #[cold]
    fn refill(&mut self, count: u64) -> Result<()> {
        let missing = count.saturating_sub(u64::from(self.budget.until_check)).max(1);
        if missing > self.budget.steps_left {
            let message = "the expression exceeds the step limit";
            return Err(Box::new(Error::new(ErrorClass::StepLimit, message)));
        }
        if self.host.is_interrupted() {
            let message = "evaluation timed out";
            return Err(Box::new(Error::new(ErrorClass::Interrupted, message)));
        }
        self.budget.steps_left -= missing;
        let next = self.budget.steps_left.min(u64::from(CHECK_EVERY));
        self.budget.steps_left -= next;
        self.budget.until_check = next as u32;
        Ok(())
    }

    /// Runs `work` one nesting level deeper. Fails with a recursion error at the depth limit.
    pub(super) fn nested<R>(&mut self, work: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        if self.budget.depth >= self.budget.depth_max {
            return Err(super::context::recursion_error());
        }
        self.budget.depth += 1;
        let result = work(self);
        self.budget.depth -= 1;
        result
    }

    /// Charges the bytes of a newly allocated value. Freed values are not credited.
    pub fn charge(&mut self, bytes: u64) -> Result<()> {
        match self.budget.memory_left.checked_sub(bytes) {
            Some(left) => {
                self.budget.memory_left = left;
                Ok(())
            }
            None => Err(quota_error()),
        }
    }

    /// Fails if a single value of this size exceeds the memory quota.
    pub fn check_bytes(&self, bytes: u64) -> Result<()> {
        if bytes > self.budget.quota { Err(quota_error()) } else { Ok(()) }
    }

    /// Returns the maximum length in bytes of a string created from a value.
    pub fn text_max(&self) -> usize {
        usize::try_from(self.budget.quota.min(self.budget.memory_left)).unwrap_or(usize::MAX)
    }
}

pub(super) fn quota_error() -> Box<Error> {
    Box::new(Error::new(ErrorClass::MemoryQuota, "Expression consumed too much memory"))
}
