//! Backtracking stack: continuations that run when a subpattern succeeds or fails.

use super::ast::UNBOUNDED;
use super::machine::{Flow, Machine, UNSET};
use super::program::{Op, Pc};
use crate::error::Result;

/// Group state to restore when a choice fails.
pub(super) struct Save {
    pub(super) last_mark: isize,
    pub(super) base: usize,
    /// Whether the positions of the groups have been saved too.
    pub(super) includes_marks: bool,
}

pub(super) enum Frame {
    Branch {
        next: Pc,
        at: usize,
        save: Save,
    },
    MaxOne {
        rest: Pc,
        at: usize,
        least: usize,
        save: Save,
    },
    MinOne {
        rest: Pc,
        at: usize,
        count: u32,
        save: Save,
    },
    /// A loop together with the rest of the pattern.
    Loop {
        rep: usize,
    },
    /// An iteration below the minimum count.
    Required {
        rep: usize,
        count: i64,
    },
    /// An optional iteration of a greedy loop.
    MaxMore {
        rep: usize,
        count: i64,
        at: usize,
        last: usize,
        tail: Pc,
        save: Save,
    },
    /// The rest of the pattern after a loop.
    Tail {
        rep: usize,
    },
    /// The rest of the pattern after a lazy loop, tried before a further iteration.
    MinTail {
        rep: usize,
        count: i64,
        at: usize,
        save: Save,
    },
    MinMore {
        rep: usize,
        count: i64,
        last: usize,
    },
    PossessiveMinimum {
        body: Pc,
        count: u32,
        at: usize,
        top: bool,
    },
    PossessiveMore {
        body: Pc,
        count: u32,
        at: usize,
        top: bool,
        save: Save,
    },
    Atomic {
        end: Pc,
        top: bool,
    },
    Look {
        end: Pc,
        at: usize,
        top: bool,
    },
    LookNot {
        end: Pc,
        at: usize,
        top: bool,
        save: Save,
    },
}

impl Machine<'_> {
    /// Continues a frame after its subpattern succeeded or failed.
    pub(super) fn resume(&mut self, frame: Frame, matched: bool) -> Result<Flow> {
        match frame {
            Frame::Branch { next, at, save } => {
                if matched {
                    return Ok(self.discard(&save));
                }
                self.restore(&save);
                self.alternative(next, at, save)
            }
            Frame::MaxOne { rest, at, least, save } => {
                if matched {
                    return Ok(self.discard(&save));
                }
                self.restore(&save);
                self.give_back(rest, at, least, save)
            }
            Frame::MinOne { rest, at, count, save } => {
                if matched {
                    return Ok(self.discard(&save));
                }
                self.restore(&save);
                self.one_more(rest, at, count, save)
            }
            Frame::Loop { rep } => {
                self.leave_loop(rep);
                Ok(Flow::Return(matched))
            }
            Frame::Required { rep, count } => {
                if !matched {
                    self.set_count(rep, count - 1);
                }
                Ok(Flow::Return(matched))
            }
            Frame::MaxMore { rep, count, at, last, tail, save } => {
                self.set_last(rep, last);
                if matched {
                    return Ok(self.discard(&save));
                }
                self.restore(&save);
                self.discard_saved(&save);
                self.set_count(rep, count - 1);
                self.after_loop(rep, tail, at)
            }
            Frame::Tail { rep } => {
                self.repeat = Some(rep);
                Ok(Flow::Return(matched))
            }
            Frame::MinTail { rep, count, at, save } => {
                self.repeat = Some(rep);
                if matched {
                    return Ok(self.discard(&save));
                }
                self.restore(&save);
                self.discard_saved(&save);
                self.min_more(rep, count, at)
            }
            Frame::MinMore { rep, count, last } => {
                self.set_last(rep, last);
                if !matched {
                    self.set_count(rep, count - 1);
                }
                Ok(Flow::Return(matched))
            }
            Frame::PossessiveMinimum { body, count, at, top } => {
                self.top = top;
                if !matched {
                    return Ok(Flow::Return(false));
                }
                self.possessive_minimum(body, count + 1, at, top)
            }
            Frame::PossessiveMore { body, count, at, top, save } => {
                self.top = top;
                if matched {
                    self.discard_saved(&save);
                    return self.possessive_more(body, count.saturating_add(1), at, top);
                }
                self.restore(&save);
                self.discard_saved(&save);
                Ok(self.after_possessive(body, at))
            }
            Frame::Atomic { end, top } => {
                self.top = top;
                Ok(if matched { Flow::Go(end, self.end) } else { Flow::Return(false) })
            }
            Frame::Look { end, at, top } => {
                self.top = top;
                Ok(if matched { Flow::Go(end, at) } else { Flow::Return(false) })
            }
            Frame::LookNot { end, at, top, save } => {
                self.top = top;
                if !matched {
                    self.restore(&save);
                }
                self.discard_saved(&save);
                Ok(if matched { Flow::Return(false) } else { Flow::Go(end, at) })
            }
        }
    }

    fn discard(&mut self, save: &Save) -> Flow {
        self.discard_saved(save);
        Flow::Return(true)
    }

    /// Gives back characters of a greedy repeat: one, or as many as the following literal requires.
    fn give_back(&mut self, rest: Pc, mut at: usize, least: usize, save: Save) -> Result<Flow> {
        let needed = match self.program.ops.get(rest) {
            Some(Op::Char(class)) => Some(class),
            _ => None,
        };
        let from = at;
        while at > least {
            at = self.back(at);
            let fits = needed.is_none_or(|class| self.char_at(at).is_some_and(|ch| class.contains(ch)));
            if fits {
                self.spend(from - at)?;
                self.push(Frame::MaxOne { rest, at, least, save })?;
                return Ok(Flow::Go(rest, at));
            }
        }
        self.spend(from - at)?;
        self.discard_saved(&save);
        Ok(Flow::Return(false))
    }

    /// Consumes one more character of a lazy repeat.
    fn one_more(&mut self, rest: Pc, at: usize, count: u32, save: Save) -> Result<Flow> {
        let next = match self.program.ops.get(rest - 1) {
            Some(Op::RepeatOne { class, max, .. }) if *max == UNBOUNDED || count < *max => {
                self.char_at(at).filter(|ch| class.contains(*ch))
            }
            _ => None,
        };
        let Some(ch) = next else {
            self.discard_saved(&save);
            return Ok(Flow::Return(false));
        };
        let at = at + ch.len_utf8();
        self.push(Frame::MinOne { rest, at, count: count.saturating_add(1), save })?;
        Ok(Flow::Go(rest, at))
    }

    fn possessive_bounds(&self, body: Pc) -> (u32, u32, Pc) {
        match self.program.ops.get(body - 1) {
            Some(Op::Possessive { min, max, end }) => (*min, *max, *end),
            _ => (0, 0, body),
        }
    }

    /// Runs the required iterations; each ends at `self.end`.
    pub(super) fn possessive_minimum(&mut self, body: Pc, count: u32, at: usize, top: bool) -> Result<Flow> {
        let (min, ..) = self.possessive_bounds(body);
        if count >= min {
            return self.possessive_more(body, count, UNSET, top);
        }
        self.push(Frame::PossessiveMinimum { body, count, at, top })?;
        self.top = false;
        Ok(Flow::Go(body, self.end))
    }

    /// Runs optional iterations until one fails or consumes no text.
    fn possessive_more(&mut self, body: Pc, count: u32, before: usize, top: bool) -> Result<Flow> {
        let (_, max, _) = self.possessive_bounds(body);
        let at = self.end;
        if (max != UNBOUNDED && count >= max) || at == before {
            return Ok(self.after_possessive(body, at));
        }
        let save = self.save(true)?;
        self.push(Frame::PossessiveMore { body, count, at, top, save })?;
        self.top = false;
        Ok(Flow::Go(body, at))
    }

    fn after_possessive(&mut self, body: Pc, at: usize) -> Flow {
        let (.., end) = self.possessive_bounds(body);
        Flow::Go(end, at)
    }

    /// Enters a look-around and returns where its body starts; `None` if there is too little text before
    /// `at`.
    pub(super) fn look(&mut self, back: u32, negate: bool, end: Pc, at: usize) -> Result<Option<usize>> {
        let mut start = at;
        self.spend(back.min(at as u32) as usize)?;
        for _ in 0..back {
            if start == 0 {
                return Ok(None);
            }
            start = self.back(start);
        }
        let top = self.top;
        if negate {
            let save = self.save(self.repeat.is_some())?;
            self.push(Frame::LookNot { end, at, top, save })?;
        } else {
            self.push(Frame::Look { end, at, top })?;
        }
        self.top = false;
        Ok(Some(start))
    }
}
