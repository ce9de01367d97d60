//! Compiles a pattern to instructions of the backtracking engine.

use super::ast::Mode;
use super::charset::CharSet;
use super::ir::{At, Case, Class, Ir, Repeat};

/// Index of an instruction.
pub(super) type Pc = usize;

#[derive(Debug)]
pub(super) enum Op {
    /// Records the position: even numbers start groups, odd numbers end them.
    Mark(u32),
    Char(Class),
    At(At),
    Jump(Pc),
    /// Starts a list of alternatives, each preceded by an `Alt`; the last one is followed by `Fail`.
    Branch,
    /// An alternative; the operand is the location of the next alternative.
    Alt(Pc),
    Fail,
    /// A repeated character, followed by the rest of the pattern.
    RepeatOne {
        class: Class,
        min: u32,
        max: u32,
        mode: Mode,
    },
    /// A loop. Its body follows and ends with the `MaxUntil` or `MinUntil` at `until`.
    Repeat {
        min: u32,
        max: u32,
        until: Pc,
    },
    MaxUntil,
    MinUntil,
    /// A possessive loop. Its body follows, up to a `Success`; the rest of the pattern is at `end`.
    Possessive {
        min: u32,
        max: u32,
        end: Pc,
    },
    Atomic {
        end: Pc,
    },
    Look {
        back: u32,
        negate: bool,
        end: Pc,
    },
    GroupRef(u32, Case),
    /// Jumps if the group did not participate in the match.
    Unless(u32, Pc),
    Success,
}

#[derive(Debug)]
pub(super) struct Program {
    pub(super) ops: Vec<Op>,
    /// Characters that a match can start with; `None` if it may be empty or start with too many characters.
    pub(super) first: Option<CharSet>,
    /// Whether a match can only start at the start of the text.
    pub(super) anchored: bool,
}

pub(super) fn compile(ir: &Ir) -> Program {
    let mut ops = Vec::new();
    node(ir, &mut ops);
    ops.push(Op::Success);
    let anchored = matches!(ops.first(), Some(Op::At(At::TextStart)));
    Program { ops, first: first_set(ir), anchored }
}

fn node(ir: &Ir, ops: &mut Vec<Op>) {
    match ir {
        Ir::Char(class) => ops.push(Op::Char(class.clone())),
        Ir::At(at) => ops.push(Op::At(*at)),
        Ir::Concat(items) => items.iter().for_each(|item| node(item, ops)),
        Ir::Branch(items) => branch(items, ops),
        Ir::Group(index, body) => {
            ops.push(Op::Mark((index - 1) * 2));
            node(body, ops);
            ops.push(Op::Mark((index - 1) * 2 + 1));
        }
        Ir::Repeat(item) => repeat(item, ops),
        Ir::Atomic(body) => enclosed(body, ops, |end| Op::Atomic { end }),
        Ir::Look { back, negate, body } => {
            enclosed(body, ops, |end| Op::Look { back: *back, negate: *negate, end });
        }
        Ir::GroupRef(group, case) => ops.push(Op::GroupRef(group - 1, *case)),
        Ir::Cond { group, yes, no } => condition(group - 1, yes, no, ops),
    }
}

/// Reserves an instruction to be filled in once its jump target is known.
fn hole(ops: &mut Vec<Op>) -> Pc {
    ops.push(Op::Fail);
    ops.len() - 1
}

fn fill(ops: &mut [Op], hole: Pc, op: Op) {
    if let Some(slot) = ops.get_mut(hole) {
        *slot = op;
    }
}

fn enclosed(body: &Ir, ops: &mut Vec<Op>, op: impl FnOnce(Pc) -> Op) {
    let start = hole(ops);
    node(body, ops);
    ops.push(Op::Success);
    let end = ops.len();
    fill(ops, start, op(end));
}

fn branch(items: &[Ir], ops: &mut Vec<Op>) {
    ops.push(Op::Branch);
    let mut exits = Vec::with_capacity(items.len());
    for item in items {
        let alternative = hole(ops);
        node(item, ops);
        exits.push(hole(ops));
        let next = ops.len();
        fill(ops, alternative, Op::Alt(next));
    }
    ops.push(Op::Fail);
    let end = ops.len();
    for exit in exits {
        fill(ops, exit, Op::Jump(end));
    }
}

fn repeat(item: &Repeat, ops: &mut Vec<Op>) {
    let Repeat { min, max, mode, .. } = *item;
    if let Ir::Char(class) = &item.body {
        ops.push(Op::RepeatOne { class: class.clone(), min, max, mode });
        return;
    }
    if mode == Mode::Possessive {
        enclosed(&item.body, ops, |end| Op::Possessive { min, max, end });
        return;
    }
    let start = hole(ops);
    node(&item.body, ops);
    let until = ops.len();
    ops.push(if mode == Mode::Greedy { Op::MaxUntil } else { Op::MinUntil });
    fill(ops, start, Op::Repeat { min, max, until });
}

fn condition(group: u32, yes: &Ir, no: &Ir, ops: &mut Vec<Op>) {
    let start = hole(ops);
    node(yes, ops);
    let exit = hole(ops);
    let other = ops.len();
    fill(ops, start, Op::Unless(group, other));
    node(no, ops);
    let end = ops.len();
    fill(ops, exit, Op::Jump(end));
}

/// Maximum number of ranges in a first-character set; searching larger sets costs more than it saves.
const MAX_FIRST: usize = 4096;

/// Returns the characters that a match must start with, if there are few enough.
fn first_set(ir: &Ir) -> Option<CharSet> {
    let mut ranges = Vec::new();
    match first_of(ir, &mut ranges) {
        Some(true) => Some(CharSet::new(ranges)),
        _ => None,
    }
}

/// Collects the characters that a node can start with and reports whether it always consumes a character;
/// `None` if it can start with any character.
fn first_of(ir: &Ir, ranges: &mut Vec<(u32, u32)>) -> Option<bool> {
    match ir {
        Ir::Char(Class::One(ch)) => ranges.push((u32::from(*ch), u32::from(*ch))),
        Ir::Char(Class::Set(set)) => ranges.extend(set.ranges()),
        Ir::Char(Class::Line | Class::Any) | Ir::GroupRef(..) | Ir::Cond { .. } => return None,
        Ir::At(_) | Ir::Look { .. } => return Some(false),
        Ir::Concat(items) => {
            for item in items {
                if first_of(item, ranges)? {
                    return Some(true);
                }
            }
            return Some(false);
        }
        Ir::Branch(items) => {
            let mut all = true;
            for item in items {
                all &= first_of(item, ranges)?;
            }
            return Some(all);
        }
        Ir::Group(_, body) | Ir::Atomic(body) => return first_of(body, ranges),
        Ir::Repeat(item) => return Some(first_of(&item.body, ranges)? && item.min > 0),
    }
    (ranges.len() <= MAX_FIRST).then_some(true)
}
