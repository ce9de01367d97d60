//! Writes JSON-like data as block-style YAML that YAML 1.1 and 1.2 parsers read identically.
//!
//! Implement [`Emit`] to write a custom tree; [`crate::Node`] implements it.
//!
//! ```
//! use stoker_yaml::emit::{Atom, Emit, NodeView, to_yaml};
//!
//! struct Task { id: &'static str, roles: Vec<&'static str> }
//!
//! impl Emit for Task {
//!     fn view(&self) -> NodeView<'_> {
//!         NodeView::Map(vec![(Atom::Str("id"), &self.id), (Atom::Str("roles"), &self.roles)])
//!     }
//! }
//!
//! let task = Task { id: "on", roles: vec!["compute"] };
//! assert_eq!(to_yaml(&task), "id: 'on'\nroles:\n  - compute\n");
//! ```

mod python;
mod text;
mod view;

pub use python::{Tree, TreeLevel, to_python_yaml};
pub use view::{Atom, Emit, NodeView};

use text::Style;

use crate::node::float_text;

/// Writes one document, with a trailing newline.
///
/// Recursive: the nesting depth of the tree is limited by the stack.
pub fn to_yaml(root: &dyn Emit) -> String {
    let mut writer = Writer { out: String::new() };
    writer.root(&root.view());
    writer.out
}

const INDENT: usize = 2;

struct Writer {
    out: String,
}

impl Writer {
    fn root(&mut self, view: &NodeView<'_>) {
        match view {
            NodeView::Seq(items) if !items.is_empty() => self.seq(items, 0),
            NodeView::Map(entries) if !entries.is_empty() => self.map(entries, 0),
            other => self.on_line(other, 0),
        }
    }

    /// Writes a value that starts on the current line (a scalar, an empty collection or a block scalar), and
    /// a newline.
    fn on_line(&mut self, view: &NodeView<'_>, indent: usize) {
        match view {
            NodeView::Atom(Atom::Str(text)) if text::style(text) == Style::Block => {
                text::write_block(&mut self.out, text, indent + INDENT);
                return;
            }
            NodeView::Atom(atom) => self.atom(atom),
            NodeView::Seq(_) => self.out.push_str("[]"),
            NodeView::Map(_) => self.out.push_str("{}"),
        }
        self.out.push('\n');
    }

    /// Writes items, the first on the current line.
    fn seq(&mut self, items: &[&dyn Emit], indent: usize) {
        for (item_idx, item) in items.iter().enumerate() {
            if item_idx > 0 {
                self.indent(indent);
            }
            self.out.push_str("- ");
            match item.view() {
                NodeView::Seq(items) if !items.is_empty() => self.seq(&items, indent + INDENT),
                NodeView::Map(entries) if !entries.is_empty() => self.map(&entries, indent + INDENT),
                other => self.on_line(&other, indent),
            }
        }
    }

    /// Writes entries, the first on the current line.
    fn map(&mut self, entries: &[(Atom<'_>, &dyn Emit)], indent: usize) {
        for (entry_idx, (key, value)) in entries.iter().enumerate() {
            if entry_idx > 0 {
                self.indent(indent);
            }
            self.key(key, indent);
            match value.view() {
                NodeView::Seq(items) if !items.is_empty() => {
                    self.next_line(indent + INDENT);
                    self.seq(&items, indent + INDENT);
                }
                NodeView::Map(entries) if !entries.is_empty() => {
                    self.next_line(indent + INDENT);
                    self.map(&entries, indent + INDENT);
                }
                other => {
                    self.out.push(' ');
                    self.on_line(&other, indent);
                }
            }
        }
    }

    /// Writes a key and its colon. A long key needs a `?` and a separate line.
    fn key(&mut self, key: &Atom<'_>, indent: usize) {
        const SIMPLE_KEY_CHARS_MAX: usize = 1000;
        let start = self.out.len();
        self.key_atom(key);
        if self.out[start..].chars().count() > SIMPLE_KEY_CHARS_MAX {
            self.out.insert_str(start, "? ");
            self.next_line(indent);
        }
        self.out.push(':');
    }

    fn key_atom(&mut self, key: &Atom<'_>) {
        match key {
            // A key cannot be a block scalar.
            Atom::Str(text) if text::style(text) == Style::Block => {
                text::write_double_quoted(&mut self.out, text);
            }
            atom => self.atom(atom),
        }
    }

    fn atom(&mut self, atom: &Atom<'_>) {
        match atom {
            Atom::Null => self.out.push_str("null"),
            Atom::Bool(value) => self.out.push_str(if *value { "true" } else { "false" }),
            Atom::Int(value) => self.out.push_str(&value.to_string()),
            Atom::BigInt(value) => self.out.push_str(&value.to_string()),
            Atom::Float(value) => self.out.push_str(&float_text(*value)),
            Atom::Timestamp(timestamp) => self.out.push_str(&timestamp.text),
            Atom::Str(text) => text::write_on_line(&mut self.out, text),
        }
    }

    fn next_line(&mut self, indent: usize) {
        self.out.push('\n');
        self.indent(indent);
    }

    fn indent(&mut self, indent: usize) {
        self.out.extend(std::iter::repeat_n(' ', indent));
    }
}

#[cfg(test)]
mod tests;
