//! The backtracking engine. It makes the same choices in the same order as Python, so that groups in loops,
//! empty iterations and conditionals have the same results. Its stack is on the heap; the number of steps and
//! the size of the stack are bounded.

use super::ast::{Mode, UNBOUNDED};
use super::frames::{Frame, Save};
use super::ir::{At, Case, Class};
use super::loops::Rep;
use super::program::{Op, Pc, Program};
use super::unicode;
use crate::error::{Error, ErrorClass, Result};

/// Base step limit of a search, increased by the length of the text. Lower in tests, which run unoptimized.
const BASE_STEPS: u64 = if cfg!(test) { 300_000 } else { 30_000_000 };
const STEPS_PER_BYTE: u64 = 64;
/// Maximum number of pending choices.
const MAX_FRAMES: usize = 1 << 20;
/// Maximum number of saved group positions.
const MAX_SAVED: usize = 1 << 22;

/// Marks a position that is not set.
pub(super) const UNSET: usize = usize::MAX;

pub(super) struct Machine<'a> {
    pub(super) program: &'a Program,
    text: &'a str,
    pub(super) marks: Vec<usize>,
    /// The highest valid mark, or -1.
    pub(super) last_mark: isize,
    pub(super) saved: Vec<usize>,
    pub(super) reps: Vec<Rep>,
    /// The innermost loop whose body is being matched.
    pub(super) repeat: Option<usize>,
    pub(super) frames: Vec<Frame>,
    /// End of the last successful match of a (sub)pattern.
    pub(super) end: usize,
    start: usize,
    must_advance: bool,
    /// Whether the machine is outside look-arounds and atomic groups.
    pub(super) top: bool,
    /// Remaining steps.
    steps: u64,
    steps_max: u64,
}

/// The next action of the engine.
pub(super) enum Flow {
    Go(Pc, usize),
    Return(bool),
}

pub(super) fn too_many_steps<T>() -> Result<T> {
    Err(Box::new(Error::new(ErrorClass::StepLimit, "regular expression takes too many steps")))
}

impl<'a> Machine<'a> {
    pub(super) fn new(program: &'a Program, text: &'a str, groups: usize, steps_max: u64) -> Self {
        let usual = BASE_STEPS.saturating_add(STEPS_PER_BYTE.saturating_mul(text.len() as u64));
        let steps_max = usual.min(steps_max);
        Self {
            program,
            text,
            marks: vec![UNSET; groups * 2],
            last_mark: -1,
            saved: Vec::new(),
            reps: Vec::new(),
            repeat: None,
            frames: Vec::new(),
            end: 0,
            start: 0,
            must_advance: false,
            top: true,
            steps: steps_max,
            steps_max,
        }
    }

    /// Returns the number of steps used.
    pub(super) fn spent(&self) -> u64 {
        self.steps_max - self.steps
    }

    /// Returns the first match at or after `from`; with `must_advance`, not an empty match at `from`.
    pub(super) fn search(&mut self, from: usize, must_advance: bool) -> Result<Option<(usize, usize)>> {
        let mut start = from;
        self.must_advance = must_advance;
        loop {
            if let Some(first) = &self.program.first {
                match self.skip_to(start, first)? {
                    Some(position) => start = position,
                    None => return Ok(None),
                }
            }
            if self.match_at(start)? {
                return Ok(Some((start, self.end)));
            }
            self.must_advance = false;
            let Some(ch) = self.char_at(start) else { return Ok(None) };
            if self.program.anchored {
                return Ok(None);
            }
            start += ch.len_utf8();
        }
    }

    fn skip_to(&mut self, start: usize, first: &super::charset::CharSet) -> Result<Option<usize>> {
        let rest = self.text.get(start..).unwrap_or_default();
        let first_match = rest.char_indices().find(|(_, ch)| first.contains(u32::from(*ch)));
        self.spend(first_match.map_or(rest.len(), |(offset, _)| offset))?;
        Ok(first_match.map(|(offset, _)| start + offset))
    }

    /// Returns the span of a group, numbered from 1, after a match.
    pub(super) fn group(&self, index: usize) -> Option<(usize, usize)> {
        let (start, end) = self.span((index - 1) * 2)?;
        (start <= end).then_some((start, end))
    }

    fn span(&self, mark: usize) -> Option<(usize, usize)> {
        if mark as isize >= self.last_mark {
            return None;
        }
        let start = *self.marks.get(mark)?;
        let end = *self.marks.get(mark + 1)?;
        (start != UNSET && end != UNSET).then_some((start, end))
    }

    fn match_at(&mut self, start: usize) -> Result<bool> {
        self.last_mark = -1;
        self.saved.clear();
        self.reps.clear();
        self.repeat = None;
        self.frames.clear();
        self.start = start;
        self.top = true;
        let mut flow = Flow::Go(0, start);
        loop {
            flow = match flow {
                Flow::Go(pc, at) => self.run(pc, at)?,
                Flow::Return(matched) => match self.frames.pop() {
                    None => return Ok(matched),
                    Some(frame) => self.resume(frame, matched)?,
                },
            };
        }
    }

    pub(super) fn spend(&mut self, steps: usize) -> Result<()> {
        match self.steps.checked_sub(steps as u64) {
            Some(left) => self.steps = left,
            None => return too_many_steps(),
        }
        Ok(())
    }

    pub(super) fn push(&mut self, frame: Frame) -> Result<()> {
        if self.frames.len() >= MAX_FRAMES {
            return too_many_steps();
        }
        self.frames.push(frame);
        Ok(())
    }

    /// Saves which groups are set and, inside loops, also their positions, which an earlier iteration may
    /// have set.
    pub(super) fn save(&mut self, includes_marks: bool) -> Result<Save> {
        let base = self.saved.len();
        if includes_marks {
            let count = (self.last_mark + 1) as usize;
            self.spend(count / 8)?;
            if base + count > MAX_SAVED {
                return too_many_steps();
            }
            self.saved.extend(self.marks.iter().take(count));
        }
        Ok(Save { last_mark: self.last_mark, base, includes_marks })
    }

    /// Restores the saved groups without discarding them.
    pub(super) fn restore(&mut self, save: &Save) {
        if save.includes_marks {
            let saved = self.saved.get(save.base..).unwrap_or_default();
            for (mark, position) in self.marks.iter_mut().zip(saved) {
                *mark = *position;
            }
        }
        self.last_mark = save.last_mark;
    }

    pub(super) fn discard_saved(&mut self, save: &Save) {
        self.saved.truncate(save.base);
    }

    pub(super) fn char_at(&self, at: usize) -> Option<char> {
        match self.text.as_bytes().get(at) {
            Some(byte) if byte.is_ascii() => Some(char::from(*byte)),
            Some(_) => self.text.get(at..)?.chars().next(),
            None => None,
        }
    }

    pub(super) fn char_before(&self, at: usize) -> Option<char> {
        match self.text.as_bytes().get(at.checked_sub(1)?) {
            Some(byte) if byte.is_ascii() => Some(char::from(*byte)),
            _ => self.text.get(..at)?.chars().next_back(),
        }
    }

    /// Returns the position of the previous character.
    pub(super) fn back(&self, at: usize) -> usize {
        at - self.char_before(at).map_or(0, char::len_utf8)
    }

    fn mark(&mut self, index: u32, at: usize) {
        let index = index as usize;
        if index as isize > self.last_mark {
            let from = (self.last_mark + 1) as usize;
            if let Some(between) = self.marks.get_mut(from..index) {
                between.fill(UNSET);
            }
            self.last_mark = index as isize;
        }
        if let Some(mark) = self.marks.get_mut(index) {
            *mark = at;
        }
    }

    /// Runs until the pattern, a subpattern or an alternative ends.
    fn run(&mut self, mut pc: Pc, mut at: usize) -> Result<Flow> {
        let program = self.program;
        loop {
            self.spend(1)?;
            let Some(op) = program.ops.get(pc) else { return Ok(Flow::Return(false)) };
            pc += 1;
            match op {
                Op::Mark(index) => self.mark(*index, at),
                Op::Char(class) => match self.char_at(at) {
                    Some(ch) if class.contains(ch) => at += ch.len_utf8(),
                    _ => return Ok(Flow::Return(false)),
                },
                Op::At(anchor) if self.is_at(*anchor, at) => {}
                Op::At(_) | Op::Fail | Op::Alt(_) => return Ok(Flow::Return(false)),
                Op::Jump(target) => pc = *target,
                Op::Branch => {
                    let save = self.save(self.repeat.is_some())?;
                    return self.alternative(pc, at, save);
                }
                Op::RepeatOne { class, min, max, mode } => {
                    match self.repeat_one(class, *min, *max, *mode, pc, at)? {
                        Some(after) => at = after,
                        None => return Ok(Flow::Return(false)),
                    }
                }
                Op::Repeat { until, .. } => {
                    self.enter_loop(pc)?;
                    pc = *until;
                }
                Op::MaxUntil => return self.max_until(pc, at),
                Op::MinUntil => return self.min_until(pc, at),
                Op::Possessive { .. } => {
                    self.end = at;
                    return self.possessive_minimum(pc, 0, at, self.top);
                }
                Op::Atomic { end } => {
                    self.push(Frame::Atomic { end: *end, top: self.top })?;
                    self.top = false;
                }
                Op::Look { back, negate, end } => {
                    match self.look(*back, *negate, *end, at)? {
                        Some(position) => at = position,
                        // The position is too close to the start of the text for the look-behind.
                        None if *negate => pc = *end,
                        None => return Ok(Flow::Return(false)),
                    }
                }
                Op::GroupRef(group, case) => match self.group_ref(*group, *case, at)? {
                    Some(after) => at = after,
                    None => return Ok(Flow::Return(false)),
                },
                Op::Unless(group, target) => {
                    let set = self.span(*group as usize * 2).is_some_and(|(start, end)| start <= end);
                    if !set {
                        pc = *target;
                    }
                }
                Op::Success => return Ok(Flow::Return(self.succeed(at))),
            }
        }
    }

    fn succeed(&mut self, at: usize) -> bool {
        if self.top && self.must_advance && at == self.start {
            return false;
        }
        self.end = at;
        true
    }

    /// Tries the alternative at `pc`, if there is one.
    pub(super) fn alternative(&mut self, pc: Pc, at: usize, save: Save) -> Result<Flow> {
        let Some(Op::Alt(next)) = self.program.ops.get(pc) else {
            self.discard_saved(&save);
            return Ok(Flow::Return(false));
        };
        self.push(Frame::Branch { next: *next, at, save })?;
        Ok(Flow::Go(pc + 1, at))
    }

    /// Matches a single-character repeat and returns the position after it. Other repeat counts are pushed as
    /// choices.
    fn repeat_one(
        &mut self,
        class: &Class,
        min: u32,
        max: u32,
        mode: Mode,
        rest: Pc,
        at: usize,
    ) -> Result<Option<usize>> {
        let lazy = mode == Mode::Lazy;
        let Some((least, most)) = self.count(class, min, if lazy { min } else { max }, at)? else {
            return Ok(None);
        };
        if lazy && max > min {
            let save = self.save(self.repeat.is_some())?;
            self.push(Frame::MinOne { rest, at: least, count: min, save })?;
        } else if mode == Mode::Greedy && most > least {
            let save = self.save(self.repeat.is_some())?;
            self.push(Frame::MaxOne { rest, at: most, least, save })?;
        }
        Ok(Some(most))
    }

    /// Returns the end positions of the minimum and maximum number of repetitions.
    fn count(&mut self, class: &Class, min: u32, max: u32, from: usize) -> Result<Option<(usize, usize)>> {
        let mut at = from;
        let mut least = from;
        let mut count = 0;
        while max == UNBOUNDED || count < max {
            let Some(ch) = self.char_at(at).filter(|ch| class.contains(*ch)) else { break };
            at += ch.len_utf8();
            count = count.saturating_add(1);
            if count == min {
                least = at;
            }
        }
        self.spend(count as usize)?;
        Ok((count >= min).then_some((least, at)))
    }

    fn group_ref(&mut self, group: u32, case: Case, at: usize) -> Result<Option<usize>> {
        let Some((start, end)) = self.span(group as usize * 2).filter(|(start, end)| start <= end) else {
            return Ok(None);
        };
        // Comparing bytes is cheaper than case-folding characters.
        self.spend(if case == Case::Exact { (end - start) / 16 } else { end - start })?;
        let text = self.text;
        let (captured, rest) = (text.get(start..end).unwrap_or_default(), text.get(at..).unwrap_or_default());
        if case == Case::Exact {
            return Ok(rest.starts_with(captured).then(|| at + captured.len()));
        }
        let fold = |ch: char| match case {
            Case::Unicode => unicode::lower(u32::from(ch)),
            _ => unicode::lower_ascii(u32::from(ch)),
        };
        let mut chars = rest.chars();
        let same = captured.chars().all(|ch| chars.next().is_some_and(|other| fold(ch) == fold(other)));
        Ok(same.then(|| text.len() - chars.as_str().len()))
    }

    fn is_at(&self, anchor: At, at: usize) -> bool {
        let text = self.text;
        match anchor {
            At::TextStart => at == 0,
            At::LineStart => at == 0 || self.char_before(at) == Some('\n'),
            At::TextEnd => at == text.len(),
            At::TextEndLine => at == text.len() || (at + 1 == text.len() && text.ends_with('\n')),
            At::LineEnd => at == text.len() || self.char_at(at) == Some('\n'),
            At::Boundary { negate, ascii } => {
                let test = if ascii { unicode::is_ascii_word } else { unicode::is_word };
                let differ = self.char_before(at).is_some_and(test) != self.char_at(at).is_some_and(test);
                // Python matches neither `\b` nor `\B` in an empty text.
                !text.is_empty() && differ != negate
            }
        }
    }
}
