//! String representations of values, as the reference prints them.

use std::fmt::Write as _;

use super::{MapView, Value};
use crate::error::{Error, ErrorClass, Result};
use crate::pytext::{format_float, format_int, write_quoted};

impl Value {
    /// Formats like the function `str`: words for null and booleans, strings unquoted.
    pub fn to_text(&self, limit: usize) -> Result<String> {
        let mut out = Text { out: String::new(), limit };
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(true) => out.push_str("true"),
            Self::Bool(false) => out.push_str("false"),
            _ => self.write_plain(&mut out)?,
        }
        Ok(out.out)
    }

    /// Formats like Python's `str`, for the receiver in an error message. Returns the formatting error if
    /// there is one; as in the reference, it replaces the error to be reported.
    pub fn to_message_text(&self) -> Result<String> {
        const LONGEST: usize = 10_000;
        let mut text = Text { out: String::new(), limit: LONGEST };
        let complete = match self.write_plain(&mut text) {
            Ok(()) => true,
            Err(error) if error.class == ErrorClass::Value => return Err(error),
            Err(_) => false,
        };
        let mut out = text.out;
        if !complete || out.len() > LONGEST {
            let end = (0..=LONGEST.min(out.len())).rev().find(|at| out.is_char_boundary(*at));
            out.truncate(end.unwrap_or(0));
            out.push('…');
        }
        Ok(out)
    }

    /// Formats like Python's `repr`, the form used inside containers.
    pub fn to_repr(&self, limit: usize) -> Result<String> {
        let mut out = Text { out: String::new(), limit };
        self.write_repr(&mut out)?;
        Ok(out.out)
    }

    fn write_plain(&self, out: &mut Text) -> Result<()> {
        match self {
            Self::Str(text) => out.push_str(text),
            Self::DateTime(moment) => out.push_str(&moment.to_text()?),
            Self::TimeSpan(span) => out.push_str(&span.to_text()),
            _ => self.write_repr(out)?,
        }
        Ok(())
    }

    fn write_repr(&self, out: &mut Text) -> Result<()> {
        match self {
            Self::Null => out.push_str("None"),
            Self::Bool(true) => out.push_str("True"),
            Self::Bool(false) => out.push_str("False"),
            Self::Int(number) => out.push_str(itoa::Buffer::new().format(*number)),
            Self::BigInt(number) => out.push_str(&format_int(number)?),
            Self::Float(number) => out.push_str(&format_float(*number)),
            Self::Str(text) => write_quoted(&mut out.out, text),
            Self::Tuple(seq) => {
                write_list(out, "(", seq.iter(), if seq.len() == 1 { ",)" } else { ")" })?;
            }
            Self::List(seq) => write_list(out, "[", seq.iter(), "]")?,
            Self::FrozenDict(map) | Self::Dict(map) => write_map(out, map)?,
            Self::Set(set) if set.is_empty() => out.push_str("frozenset()"),
            Self::Set(set) => write_list(out, "frozenset({", set.iter(), "})")?,
            Self::Keys(view) => write_view(out, view, "KeysView", "dict_keys", |out, view| {
                write_list(out, "[", view.map.iter().map(|(key, _)| key), "]")
            })?,
            Self::Items(view) => write_view(out, view, "ItemsView", "dict_items", |out, view| {
                let pairs: Vec<Value> =
                    (0..view.map.len()).filter_map(|index| view.map.pair(index)).collect();
                write_list(out, "[", pairs.iter(), "]")
            })?,
            Self::Values(view) => write_view(out, view, "ValuesView", "dict_values", |out, view| {
                write_list(out, "[", view.map.iter().map(|(_, value)| value), "]")
            })?,
            Self::DateTime(moment) => out.push_str(&moment.to_repr()),
            Self::TimeSpan(span) => out.push_str(&span.to_repr()),
            Self::Regex(regex) => out.push_str(&crate::pyregex::python_repr(regex)),
            Self::Omitted => out.push_str("<NoValue>"),
            Self::Ordering(_)
            | Self::Iterator(_)
            | Self::Context(_)
            | Self::Callable(_)
            | Self::Opaque(_) => {
                _ = write!(out.out, "<{} object>", self.type_name());
            }
        }
        Ok(())
    }
}

/// Output with a length limit: a small value that shares subvalues can have a very long representation.
struct Text {
    out: String,
    limit: usize,
}

impl Text {
    fn push_str(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn push(&mut self, letter: char) {
        self.out.push(letter);
    }

    fn check(&self) -> Result<()> {
        if self.out.len() <= self.limit {
            return Ok(());
        }
        Err(Box::new(Error::new(ErrorClass::MemoryQuota, "Expression consumed too much memory")))
    }
}

fn write_list<'a>(
    out: &mut Text,
    open: &str,
    items: impl Iterator<Item = &'a Value>,
    close: &str,
) -> Result<()> {
    out.push_str(open);
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        out.check()?;
        item.write_repr(out)?;
    }
    out.push_str(close);
    Ok(())
}

fn write_map(out: &mut Text, map: &super::Map) -> Result<()> {
    out.push('{');
    for (index, (key, value)) in map.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        out.check()?;
        key.write_repr(out)?;
        out.push_str(": ");
        value.write_repr(out)?;
    }
    out.push('}');
    Ok(())
}

fn write_view(
    out: &mut Text,
    view: &MapView,
    frozen_name: &str,
    plain_name: &str,
    write: impl Fn(&mut Text, &MapView) -> Result<()>,
) -> Result<()> {
    if view.frozen {
        out.push_str(frozen_name);
        out.push('(');
        write_map(out, &view.map)?;
    } else {
        out.push_str(plain_name);
        out.push('(');
        write(out, view)?;
    }
    out.push(')');
    Ok(())
}
