//! Translates a pattern to the syntax of the linear-time engine, if it is equivalent there.

use super::ast::{Mode, UNBOUNDED};
use super::charset::CharSet;
use super::ir::{At, Class, Ir, Repeat};
use std::fmt::Write;

/// Properties that decide how the linear-time engine can run a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Traits {
    /// Whether every node is regular and has the same meaning in that engine.
    pub(super) regular: bool,
    /// Contains a `$` that also matches before a final newline, which that engine does not support.
    pub(super) end_line: bool,
    /// Whether the pattern contains word boundaries, whose definition differs outside ASCII.
    pub(super) boundary: bool,
    pub(super) empty: Empty,
    /// Approximate number of states with repeats unrolled.
    weight: u64,
}

/// Ways in which a node matches the empty string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Empty {
    Never,
    /// The empty match is tried only after all longer matches.
    Last,
    /// Possibly before a longer match.
    Any,
}

/// Maximum weight; larger automata are slow to build and to run.
const MAX_WEIGHT: u64 = 20_000;

impl Traits {
    fn unit(weight: u64, empty: Empty) -> Self {
        Self { regular: true, end_line: false, boundary: false, empty, weight }
    }

    /// Returns the result for a construct that is not regular, such as a back reference or look-around.
    fn irregular() -> Self {
        Self { regular: false, ..Self::unit(1, Empty::Any) }
    }

    fn join(self, other: Self, empty: Empty) -> Self {
        Self {
            regular: self.regular && other.regular,
            end_line: self.end_line || other.end_line,
            boundary: self.boundary || other.boundary,
            empty,
            weight: self.weight.saturating_add(other.weight),
        }
    }

    fn then(self, other: Self) -> Self {
        let empty = match (self.empty, other.empty) {
            (Empty::Never, _) | (_, Empty::Never) => Empty::Never,
            (Empty::Last, Empty::Last) => Empty::Last,
            _ => Empty::Any,
        };
        self.join(other, empty)
    }

    fn or(self, other: Self) -> Self {
        let empty = match (self.empty, other.empty) {
            (Empty::Never, empty) => empty,
            // An empty match of the first alternative precedes longer matches of the second.
            _ => Empty::Any,
        };
        self.join(other, empty)
    }
}

pub(super) fn traits(ir: &Ir) -> Traits {
    let mut traits = node_traits(ir);
    traits.regular &= traits.weight <= MAX_WEIGHT;
    traits
}

fn node_traits(ir: &Ir) -> Traits {
    match ir {
        Ir::Char(Class::Set(set)) => Traits::unit(1 + set.ranges().len() as u64 / 8, Empty::Never),
        Ir::Char(_) => Traits::unit(1, Empty::Never),
        Ir::At(at) => Traits {
            end_line: *at == At::TextEndLine,
            boundary: matches!(at, At::Boundary { .. }),
            ..Traits::unit(1, Empty::Last)
        },
        Ir::Concat(items) => items.iter().map(node_traits).fold(Traits::unit(0, Empty::Last), Traits::then),
        Ir::Branch(items) => {
            items.iter().map(node_traits).reduce(Traits::or).unwrap_or(Traits::unit(0, Empty::Never))
        }
        Ir::Group(_, body) => {
            let body = node_traits(body);
            Traits { weight: body.weight.saturating_add(2), ..body }
        }
        Ir::Repeat(repeat) => repeated(repeat),
        Ir::Atomic(_) | Ir::Look { .. } | Ir::GroupRef(..) | Ir::Cond { .. } => Traits::irregular(),
    }
}

fn repeated(repeat: &Repeat) -> Traits {
    let body = node_traits(&repeat.body);
    // Engines differ in when they leave a loop whose body matched the empty string, and in the groups of a
    // body that is never entered.
    let loops = repeat.nullable && repeat.max > 1;
    let regular = body.regular && repeat.mode != Mode::Possessive && !loops && repeat.max > 0;
    let empty = match (repeat.min, repeat.mode, body.empty) {
        (1.., _, Empty::Never) => Empty::Never,
        (_, Mode::Greedy, Empty::Never | Empty::Last) => Empty::Last,
        _ => Empty::Any,
    };
    let times = if repeat.max == UNBOUNDED { repeat.min.saturating_add(1) } else { repeat.max };
    Traits { regular, empty, weight: body.weight.saturating_mul(u64::from(times)).saturating_add(1), ..body }
}

/// Emits the pattern for ASCII text (with sets restricted to ASCII) or for all text. The pattern must be
/// regular.
pub(super) fn emit(ir: &Ir, ascii: bool) -> String {
    let mut emitter = Emitter { out: String::new(), ascii };
    emitter.node(ir);
    emitter.out
}

struct Emitter {
    out: String,
    ascii: bool,
}

impl Emitter {
    fn node(&mut self, ir: &Ir) {
        match ir {
            Ir::Char(class) => self.class(class),
            Ir::At(at) => self.out.push_str(anchor(*at)),
            Ir::Concat(items) => items.iter().for_each(|item| self.node(item)),
            Ir::Branch(items) => self.branch(items),
            Ir::Group(_, body) => {
                self.out.push('(');
                self.node(body);
                self.out.push(')');
            }
            Ir::Repeat(repeat) => self.repeat(repeat),
            Ir::Atomic(_) | Ir::Look { .. } | Ir::GroupRef(..) | Ir::Cond { .. } => {}
        }
    }

    fn branch(&mut self, items: &[Ir]) {
        self.out.push_str("(?:");
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.out.push('|');
            }
            self.node(item);
        }
        self.out.push(')');
    }

    fn repeat(&mut self, repeat: &Repeat) {
        let bare = matches!(repeat.body, Ir::Char(_) | Ir::Group(..));
        if !bare {
            self.out.push_str("(?:");
        }
        self.node(&repeat.body);
        if !bare {
            self.out.push(')');
        }
        // Writing to a string does not fail.
        let _ = match (repeat.min, repeat.max) {
            (0, 1) => self.out.write_char('?'),
            (0, UNBOUNDED) => self.out.write_char('*'),
            (1, UNBOUNDED) => self.out.write_char('+'),
            (min, UNBOUNDED) => write!(self.out, "{{{min},}}"),
            (min, max) => write!(self.out, "{{{min},{max}}}"),
        };
        if repeat.mode == Mode::Lazy {
            self.out.push('?');
        }
    }

    fn class(&mut self, class: &Class) {
        match class {
            Class::One(ch) if ch.is_ascii_alphanumeric() => self.out.push(*ch),
            Class::One(ch) => {
                let _ = write!(self.out, "\\x{{{:X}}}", u32::from(*ch));
            }
            Class::Line if self.ascii => self.out.push_str(r"[\x00-\x09\x0B-\x7F]"),
            Class::Line => self.out.push_str(r"[^\n]"),
            Class::Any if self.ascii => self.out.push_str(r"[\x00-\x7F]"),
            Class::Any => self.out.push_str("(?s:.)"),
            Class::Set(set) => self.set(set),
        }
    }

    fn set(&mut self, set: &CharSet) {
        let top = if self.ascii { 0x7F } else { super::charset::MAX_CODE };
        let start = self.out.len();
        self.out.push('[');
        for &(low, high) in set.ranges().iter().take_while(|range| range.0 <= top) {
            let high = high.min(top);
            // Surrogates cannot occur in text or be written in a pattern.
            if low < 0xD800 {
                self.range(low, high.min(0xD7FF));
            }
            if high > 0xDFFF {
                self.range(low.max(0xE000), high);
            }
        }
        self.out.push(']');
        if self.out.len() == start + 2 {
            self.out.truncate(start);
            self.out.push_str(r"[^\x00-\x{10FFFF}]");
        }
    }

    fn range(&mut self, low: u32, high: u32) {
        let _ = write!(self.out, "\\x{{{low:X}}}-\\x{{{high:X}}}");
    }
}

fn anchor(at: At) -> &'static str {
    match at {
        At::TextStart => r"\A",
        At::LineStart => "(?m:^)",
        // Exact for text that does not end in a newline; the backtracking engine handles other text.
        At::TextEnd | At::TextEndLine => r"\z",
        At::LineEnd => "(?m:$)",
        At::Boundary { negate: false, .. } => r"\b",
        At::Boundary { negate: true, .. } => r"\B",
    }
}
