//! Loops of the backtracking engine whose body is more than a single character.

use super::ast::UNBOUNDED;
use super::frames::Frame;
use super::machine::{Flow, Machine, UNSET};
use super::program::{Op, Pc};
use crate::error::Result;

/// An active loop.
pub(super) struct Rep {
    /// Number of iterations; -1 before the first decision.
    count: i64,
    /// Start of the loop body, after its `Repeat` instruction.
    body: Pc,
    outer: Option<usize>,
    /// Position at which the last optional iteration started. An iteration that consumed no text is not
    /// repeated.
    last: usize,
}

/// The state of the innermost loop at a decision.
struct Loop {
    rep: usize,
    /// Number of completed iterations.
    count: i64,
    body: Pc,
    min: i64,
    max: i64,
    last: usize,
}

impl Machine<'_> {
    pub(super) fn enter_loop(&mut self, body: Pc) -> Result<()> {
        let rep = self.reps.len();
        self.push(Frame::Loop { rep })?;
        self.reps.push(Rep { count: -1, body, outer: self.repeat, last: UNSET });
        self.repeat = Some(rep);
        Ok(())
    }

    pub(super) fn leave_loop(&mut self, rep: usize) {
        self.repeat = self.reps.get(rep).and_then(|rep| rep.outer);
        self.reps.truncate(rep);
    }

    pub(super) fn set_count(&mut self, rep: usize, count: i64) {
        if let Some(rep) = self.reps.get_mut(rep) {
            rep.count = count;
        }
    }

    pub(super) fn set_last(&mut self, rep: usize, last: usize) {
        if let Some(rep) = self.reps.get_mut(rep) {
            rep.last = last;
        }
    }

    fn current(&self) -> Option<Loop> {
        let index = self.repeat?;
        let rep = self.reps.get(index)?;
        let Some(Op::Repeat { min, max, .. }) = self.program.ops.get(rep.body - 1) else { return None };
        let (min, max) = (i64::from(*min), if *max == UNBOUNDED { i64::MAX } else { i64::from(*max) });
        Some(Loop { rep: index, count: rep.count + 1, body: rep.body, min, max, last: rep.last })
    }

    pub(super) fn max_until(&mut self, tail: Pc, at: usize) -> Result<Flow> {
        let Some(Loop { rep, count, body, min, max, last }) = self.current() else {
            return Ok(Flow::Return(false));
        };
        if count < min {
            return self.required(rep, count, body, at);
        }
        if count < max && at != last {
            self.set_count(rep, count);
            let save = self.save(true)?;
            self.push(Frame::MaxMore { rep, count, at, last, tail, save })?;
            self.set_last(rep, at);
            return Ok(Flow::Go(body, at));
        }
        self.after_loop(rep, tail, at)
    }

    fn required(&mut self, rep: usize, count: i64, body: Pc, at: usize) -> Result<Flow> {
        self.set_count(rep, count);
        self.push(Frame::Required { rep, count })?;
        Ok(Flow::Go(body, at))
    }

    pub(super) fn after_loop(&mut self, rep: usize, tail: Pc, at: usize) -> Result<Flow> {
        self.repeat = self.reps.get(rep).and_then(|rep| rep.outer);
        self.push(Frame::Tail { rep })?;
        Ok(Flow::Go(tail, at))
    }

    pub(super) fn min_until(&mut self, tail: Pc, at: usize) -> Result<Flow> {
        let Some(Loop { rep, count, body, min, .. }) = self.current() else {
            return Ok(Flow::Return(false));
        };
        if count < min {
            return self.required(rep, count, body, at);
        }
        self.repeat = self.reps.get(rep).and_then(|rep| rep.outer);
        let save = self.save(self.repeat.is_some())?;
        self.push(Frame::MinTail { rep, count, at, save })?;
        Ok(Flow::Go(tail, at))
    }

    pub(super) fn min_more(&mut self, rep: usize, count: i64, at: usize) -> Result<Flow> {
        let Some(Loop { body, max, last, .. }) = self.current() else {
            return Ok(Flow::Return(false));
        };
        if count >= max || at == last {
            return Ok(Flow::Return(false));
        }
        self.set_count(rep, count);
        self.push(Frame::MinMore { rep, count, last })?;
        self.set_last(rep, at);
        Ok(Flow::Go(body, at))
    }
}
