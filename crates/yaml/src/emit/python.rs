//! Writes YAML byte for byte like `PyYAML`'s `safe_dump(…, default_flow_style=False)`.
//!
//! Agents compare these documents with files on disk that `PyYAML` wrote, so another style would make every
//! file appear changed. Unlike `safe_dump`, keys are not sorted.

use std::fmt::Write as _;

use smallvec::SmallVec;

use super::Atom;
use crate::node::float_text;
use crate::resolve;
use crate::tag::Tag;

/// A tree that can be written without copying it.
pub trait Tree<'t>: Copy {
    /// Returns the outermost level only; the writer calls this for children when it reaches them.
    fn level(self) -> TreeLevel<'t, Self>;
}

/// A node of the tree to emit: a scalar, or a collection with its children.
pub enum TreeLevel<'t, T> {
    Atom(Atom<'t>),
    Seq(SmallVec<[T; 8]>),
    /// Entries in output order.
    Map(SmallVec<[(Atom<'t>, T); 8]>),
}

/// Writes one document, with a trailing newline.
///
/// Recursive: the nesting depth of the tree is limited by the stack.
pub fn to_python_yaml<'t>(root: impl Tree<'t>) -> String {
    let mut writer = Writer { out: String::new(), line_start: 0 };
    match root.level() {
        TreeLevel::Seq(items) if !items.is_empty() => writer.seq(&items, 0),
        TreeLevel::Map(entries) if !entries.is_empty() => writer.map(&entries, 0),
        TreeLevel::Seq(_) => writer.out.push_str("[]\n"),
        TreeLevel::Map(_) => writer.out.push_str("{}\n"),
        TreeLevel::Atom(atom) => writer.root_scalar(&atom),
    }
    writer.out
}

const INDENT: usize = 2;
const WIDTH: usize = 80;
/// Minimum length of keys that are written with `?` on a separate line.
const SIMPLE_KEY_CHARS: usize = 128;

struct Writer {
    out: String,
    /// Byte offset of the current line.
    line_start: usize,
}

impl Writer {
    /// Writes a document that is a scalar. An unquoted scalar could be continued, so it needs a document end
    /// marker.
    fn root_scalar(&mut self, atom: &Atom<'_>) {
        self.atom(atom, Some(INDENT));
        let is_open = !matches!(atom, Atom::Str(text) if style(text, false) != Style::Plain);
        self.out.push_str(if is_open { "\n...\n" } else { "\n" });
    }

    fn seq<'t, T: Tree<'t>>(&mut self, items: &[T], indent: usize) {
        for (item_idx, item) in items.iter().enumerate() {
            if item_idx > 0 {
                self.spaces(indent);
            }
            self.out.push('-');
            match item.level() {
                TreeLevel::Seq(items) if !items.is_empty() => {
                    self.out.push(' ');
                    self.seq(&items, indent + INDENT);
                }
                TreeLevel::Map(entries) if !entries.is_empty() => {
                    self.out.push(' ');
                    self.map(&entries, indent + INDENT);
                }
                other => self.on_line(&other, indent),
            }
        }
    }

    fn map<'t, T: Tree<'t>>(&mut self, entries: &[(Atom<'t>, T)], indent: usize) {
        for (entry_idx, (key, value)) in entries.iter().enumerate() {
            if entry_idx > 0 {
                self.spaces(indent);
            }
            let is_simple = is_simple_key(key);
            if is_simple {
                self.atom(key, None);
            } else {
                self.out.push_str("? ");
                self.atom(key, Some(indent + INDENT));
                self.new_line(indent);
            }
            self.out.push(':');
            match value.level() {
                // Sequences in mappings are not indented.
                TreeLevel::Seq(items) if !items.is_empty() => {
                    let indent = if is_simple { indent } else { indent + INDENT };
                    self.child(indent, is_simple);
                    self.seq(&items, indent);
                }
                TreeLevel::Map(entries) if !entries.is_empty() => {
                    self.child(indent + INDENT, is_simple);
                    self.map(&entries, indent + INDENT);
                }
                other => self.on_line(&other, indent),
            }
        }
    }

    /// Starts a collection on the next line or, after a `?` key, on the same line.
    fn child(&mut self, indent: usize, is_on_next_line: bool) {
        if is_on_next_line {
            self.new_line(indent);
        } else {
            self.out.push(' ');
        }
    }

    fn on_line<'t, T: Tree<'t>>(&mut self, level: &TreeLevel<'t, T>, indent: usize) {
        self.out.push(' ');
        match level {
            TreeLevel::Atom(atom) => self.atom(atom, Some(indent + INDENT)),
            TreeLevel::Seq(_) => self.out.push_str("[]"),
            TreeLevel::Map(_) => self.out.push_str("{}"),
        }
        self.end_line();
    }

    /// Writes a scalar. `split` is the indentation of continuation lines; without it the scalar stays on one
    /// line.
    fn atom(&mut self, atom: &Atom<'_>, split: Option<usize>) {
        match atom {
            Atom::Null => self.out.push_str("null"),
            Atom::Bool(value) => self.out.push_str(if *value { "true" } else { "false" }),
            Atom::Int(value) => self.out.push_str(&value.to_string()),
            Atom::BigInt(value) => self.out.push_str(&value.to_string()),
            Atom::Float(value) => self.out.push_str(&float_text(*value)),
            Atom::Timestamp(timestamp) => self.out.push_str(&timestamp.text),
            Atom::Str(text) => match style(text, split.is_none()) {
                Style::Plain => self.plain(text, split),
                Style::Single => self.single_quoted(text, split),
                Style::Double => self.double_quoted(text, split),
            },
        }
    }

    fn plain(&mut self, text: &str, split: Option<usize>) {
        // Short text never exceeds the line width.
        let Some(indent) = split.filter(|_| self.column() + text.len() > WIDTH) else {
            self.out.push_str(text);
            return;
        };
        for (run, is_blank) in runs(text) {
            if is_blank && run.len() == 1 && self.column() > WIDTH {
                self.new_line(indent);
            } else {
                self.out.push_str(run);
            }
        }
    }

    fn single_quoted(&mut self, text: &str, split: Option<usize>) {
        self.out.push('\'');
        let mut end = 0;
        for (line_idx, line) in text.split('\n').enumerate() {
            if line_idx > 0 {
                end += 1;
                // A single line break is read as a blank, so the first of several is doubled.
                let is_first = line_idx == 1 || !text[..end - 1].ends_with('\n');
                if is_first {
                    self.end_line();
                }
                self.end_line();
                if !line.is_empty() || end == text.len() {
                    self.spaces(split.unwrap_or_default());
                }
            }
            for (run, is_blank) in runs(line) {
                let start = end;
                end += run.len();
                let is_inside = start != 0 && end != text.len();
                match split {
                    Some(indent) if is_blank && run.len() == 1 && self.column() > WIDTH && is_inside => {
                        self.new_line(indent);
                    }
                    _ => self.out.push_str(&run.replace('\'', "''")),
                }
            }
        }
        self.out.push('\'');
    }

    fn double_quoted(&mut self, text: &str, split: Option<usize>) {
        let letters: Vec<char> = text.chars().collect();
        self.out.push('"');
        // Characters from here on are not written yet.
        let mut start = 0;
        for end in 0..=letters.len() {
            let letter = letters.get(end).copied();
            if letter.is_none_or(|letter| !matches!(letter, ' '..='~') || matches!(letter, '"' | '\\')) {
                self.out.extend(&letters[start..end]);
                start = end;
                if let Some(letter) = letter {
                    self.escape(letter);
                    start = end + 1;
                }
            }
            let Some(indent) = split else { continue };
            let is_inside = 0 < end && end + 1 < letters.len();
            let pending = end.saturating_sub(start);
            if is_inside && (letter == Some(' ') || start >= end) && self.column() + pending > WIDTH {
                self.out.extend(&letters[start.min(end)..end]);
                start = start.max(end);
                self.out.push('\\');
                self.new_line(indent);
                if letters.get(start) == Some(&' ') {
                    self.out.push('\\');
                }
            }
        }
        self.out.push('"');
    }

    fn escape(&mut self, letter: char) {
        let short = match letter {
            '\0' => "0",
            '\u{7}' => "a",
            '\u{8}' => "b",
            '\t' => "t",
            '\n' => "n",
            '\u{b}' => "v",
            '\u{c}' => "f",
            '\r' => "r",
            '\u{1b}' => "e",
            '"' => "\"",
            '\\' => "\\",
            '\u{85}' => "N",
            '\u{a0}' => "_",
            '\u{2028}' => "L",
            '\u{2029}' => "P",
            _ => "",
        };
        let code = u32::from(letter);
        self.out.push('\\');
        // Writing to a string cannot fail.
        let _ = match code {
            _ if !short.is_empty() => self.out.write_str(short),
            0..=0xff => write!(self.out, "x{code:02X}"),
            0x100..=0xffff => write!(self.out, "u{code:04X}"),
            _ => write!(self.out, "U{code:08X}"),
        };
    }

    /// Returns the number of characters on the current line.
    fn column(&self) -> usize {
        self.out[self.line_start..].chars().count()
    }

    fn end_line(&mut self) {
        self.out.push('\n');
        self.line_start = self.out.len();
    }

    fn new_line(&mut self, indent: usize) {
        self.end_line();
        self.spaces(indent);
    }

    fn spaces(&mut self, indent: usize) {
        if self.out.ends_with('\n') {
            self.line_start = self.out.len();
        }
        self.out.extend(std::iter::repeat_n(' ', indent));
    }
}

/// Splits a line into alternating runs of blanks and other characters.
fn runs(line: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let is_blank = rest.starts_with(' ');
        let end = rest.find(|letter| (letter == ' ') != is_blank).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        rest = after;
        (!run.is_empty()).then_some((run, is_blank))
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Plain,
    Single,
    Double,
}

fn is_simple_key(key: &Atom<'_>) -> bool {
    match key {
        Atom::Str(text) => {
            !text.is_empty() && !text.contains(is_break) && text.chars().count() < SIMPLE_KEY_CHARS
        }
        _ => true,
    }
}

fn is_break(letter: char) -> bool {
    matches!(letter, '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_space(letter: Option<char>) -> bool {
    letter.is_none_or(|letter| matches!(letter, '\0' | ' ' | '\t' | '\r') || is_break(letter))
}

/// Returns the style in which PyYAML writes a text. Keys stay on one line.
fn style(text: &str, is_key: bool) -> Style {
    let is_multiline = text.contains(is_break);
    if !is_multiline && allows_plain(text) && resolve::implicit(text) == Tag::Str {
        return Style::Plain;
    }
    if allows_single(text) && !(is_key && is_multiline) { Style::Single } else { Style::Double }
}

fn allows_single(text: &str) -> bool {
    let is_special = |letter: char| !matches!(letter, '\n' | ' '..='~');
    !text.contains(is_special) && !text.contains(" \n") && !text.contains("\n ")
}

fn allows_plain(text: &str) -> bool {
    if text.starts_with(' ') || text.ends_with(' ') || text.starts_with("---") || text.starts_with("...") {
        return false;
    }
    let mut before = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_ended = is_space(letters.peek().copied());
        let is_indicator = match (before, letter) {
            (_, letter) if !matches!(letter, ' '..='~') => true,
            (None, letter) if "#,[]{}&*!|>'\"%@`".contains(letter) => true,
            (None, '?' | ':' | '-') | (Some(_), ':') => is_ended,
            (Some(before), '#') => is_space(Some(before)),
            _ => false,
        };
        if is_indicator {
            return false;
        }
        before = Some(letter);
    }
    true
}
