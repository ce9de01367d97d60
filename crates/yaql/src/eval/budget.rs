//! The bounds of an evaluation: steps, depth, memory.

use super::{Cx, Limits, Options};
use crate::error::{Error, ErrorClass, Result};

pub(super) struct Budget {
    /// Steps until something has to be looked at: the host, or the end.
    until_check: u32,
    steps_left: u64,
    depth: u32,
    depth_max: u32,
    memory_left: u64,
    quota: u64,
}

/// How often the host is asked whether to go on.
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

    /// Quotas so small that even a small value could exceed them.
    pub(super) fn is_tight(&self) -> bool {
        self.quota < 1 << 16
    }
}

impl Cx<'_> {
    /// Counts one step of work.
    #[inline]
    pub fn step(&mut self) -> Result<()> {
        if self.budget.until_check == 0 {
            return self.refill(0);
        }
        self.budget.until_check -= 1;
        Ok(())
    }

    /// Counts work that costs as much as this many steps.
    pub fn steps(&mut self, count: u64) -> Result<()> {
        match u32::try_from(count) {
            Ok(count) if count <= self.budget.until_check => {
                self.budget.until_check -= count;
                Ok(())
            }
            _ => self.refill(count),
        }
    }

    /// Steps that may still be taken.
    pub(crate) fn steps_left(&self) -> u64 {
        self.budget.steps_left.saturating_add(u64::from(self.budget.until_check))
    }

    #[cold]
    fn refill(&mut self, wanted: u64) -> Result<()> {
        let missing = wanted.saturating_sub(u64::from(self.budget.until_check)).max(1);
        if missing > self.budget.steps_left {
            let message = "the expression takes more steps than allowed";
            return Err(Box::new(Error::new(ErrorClass::StepLimit, message)));
        }
        if self.host.is_interrupted() {
            let message = "the evaluation was stopped: it took too long";
            return Err(Box::new(Error::new(ErrorClass::Interrupted, message)));
        }
        self.budget.steps_left -= missing;
        let next = self.budget.steps_left.min(u64::from(CHECK_EVERY));
        self.budget.steps_left -= next;
        self.budget.until_check = next as u32;
        Ok(())
    }

    /// Does work one level deeper, unless that is one level too deep.
    pub(super) fn nested<R>(&mut self, work: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        if self.budget.depth >= self.budget.depth_max {
            return Err(super::context::recursion_error());
        }
        self.budget.depth += 1;
        let result = work(self);
        self.budget.depth -= 1;
        result
    }

    /// Counts bytes of a new value.
    pub fn charge(&mut self, bytes: u64) -> Result<()> {
        match self.budget.memory_left.checked_sub(bytes) {
            Some(left) => {
                self.budget.memory_left = left;
                Ok(())
            }
            None => Err(quota_error()),
        }
    }

    /// Refuses a value of that many bytes if the quota for one value says so.
    pub fn check_bytes(&self, bytes: u64) -> Result<()> {
        if bytes > self.budget.quota { Err(quota_error()) } else { Ok(()) }
    }

    /// The longest text that may be made of a value.
    pub fn text_max(&self) -> usize {
        usize::try_from(self.budget.quota.min(self.budget.memory_left)).unwrap_or(usize::MAX)
    }
}

pub(super) fn quota_error() -> Box<Error> {
    Box::new(Error::new(ErrorClass::MemoryQuota, "Expression consumed too much memory"))
}
