//! Serializes values as JSON.

use std::fmt::Write as _;

use crate::error::{Error, ErrorClass, Result};
use crate::pytext::{format_float, format_int};
use crate::value::{Map, Value};

/// JSON output options.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent options, always set by name")]
pub struct WriteOptions {
    pub sort_keys: bool,
    /// Whether to omit the blanks after commas and colons.
    pub compact: bool,
    /// Whether to escape all characters outside ASCII.
    pub ascii: bool,
    /// Whether to write tuples as arrays instead of tagged objects.
    pub tuples_as_arrays: bool,
    /// Whether to tag values that JSON cannot represent; otherwise they are written like Python YAQL writes
    /// them.
    pub tags: bool,
    /// Spaces per nesting level; `None` writes a single line.
    pub indent: Option<usize>,
    /// Maximum size of the output in bytes.
    pub bytes_max: usize,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            sort_keys: false,
            compact: false,
            ascii: true,
            tuples_as_arrays: true,
            tags: true,
            indent: None,
            bytes_max: 1 << 30,
        }
    }
}

/// Serializes a value.
pub fn write(value: &Value, options: &WriteOptions) -> Result<String> {
    write_after("", value, options)
}

/// Serializes a value after a prefix, so that a long result need not be copied.
pub(crate) fn write_after(text: &str, value: &Value, options: &WriteOptions) -> Result<String> {
    let mut writer = Writer { out: text.to_owned(), options, level: 0 };
    writer.value(value)?;
    Ok(writer.out)
}

struct Writer<'a> {
    out: String,
    options: &'a WriteOptions,
    level: usize,
}

impl Writer<'_> {
    fn value(&mut self, value: &Value) -> Result<()> {
        if self.out.len() > self.options.bytes_max {
            let message = format!("the JSON result exceeds {} bytes", self.options.bytes_max);
            return Err(Box::new(Error::new(ErrorClass::MemoryQuota, message)));
        }
        match value {
            Value::Null => self.out.push_str("null"),
            Value::Bool(flag) => _ = write!(self.out, "{flag}"),
            Value::Int(number) => _ = write!(self.out, "{number}"),
            Value::BigInt(number) => self.out.push_str(&format_int(number)?),
            Value::Float(number) if number.is_finite() => self.out.push_str(&format_float(*number)),
            Value::Float(number) if !self.options.tags => self.out.push_str(match number {
                number if number.is_nan() => "NaN",
                number if *number > 0.0 => "Infinity",
                _ => "-Infinity",
            }),
            Value::Float(number) => {
                self.tagged("float", &[("value", Value::str(format_float(*number)))])?;
            }
            Value::Str(text) => self.string(text),
            Value::Tuple(seq) if !self.options.tuples_as_arrays => {
                self.tagged("tuple", &[("items", Value::List(seq.clone()))])?;
            }
            Value::Tuple(seq) | Value::List(seq) => self.items(seq.iter())?,
            Value::FrozenDict(map) | Value::Dict(map) => self.map(map)?,
            Value::Set(set) => {
                self.tagged("set", &[("items", Value::list(set.iter().cloned().collect()))])?;
            }
            Value::DateTime(moment) => {
                self.tagged("datetime", &[("value", Value::str(moment.isoformat()?))])?;
            }
            Value::TimeSpan(span) => {
                self.tagged("timespan", &[("us", Value::int(span.as_micros().into()))])?;
            }
            Value::Regex(regex) => {
                let flags = regex.flags();
                let letters = [(flags.ignore_case, 'i'), (flags.multi_line, 'm'), (flags.dot_all, 's')];
                let flags: String =
                    letters.iter().filter(|(set, _)| *set).map(|(_, letter)| *letter).collect();
                let parts = [("pattern", Value::str(regex.pattern())), ("flags", Value::str(flags))];
                self.tagged("regex", &parts)?;
            }
            Value::Context(_) => self.tagged("context", &[])?,
            Value::Callable(_) => self.tagged("callable", &[])?,
            Value::Omitted => self.tagged("novalue", &[])?,
            Value::Keys(view) => {
                let keys = view.map.iter().map(|(key, _)| key.clone()).collect();
                self.tagged("set", &[("items", Value::list(keys))])?;
            }
            Value::Items(view) => {
                let pairs = (0..view.map.len()).filter_map(|index| view.map.pair(index)).collect();
                self.tagged("set", &[("items", Value::list(pairs))])?;
            }
            Value::Values(_) | Value::Ordering(_) | Value::Iterator(_) | Value::Opaque(_) => {
                self.tagged("opaque", &[("type", Value::str(value.type_name()))])?;
            }
        }
        Ok(())
    }

    fn tagged(&mut self, tag: &str, parts: &[(&str, Value)]) -> Result<()> {
        let head = [("$yaql", Value::str(tag))];
        let entries = head.iter().chain(parts);
        self.entries(entries.map(|(key, value)| (*key, value)))
    }

    fn map(&mut self, map: &Map) -> Result<()> {
        let tags = self.options.tags;
        let strings = map.iter().all(|(key, _)| key.as_str().is_some_and(|key| !tags || key != "$yaql"));
        if !strings {
            let pairs: Vec<Value> = (0..map.len())
                .filter_map(|index| map.entry(index))
                .map(|(key, value)| Value::list(vec![key.clone(), value.clone()]))
                .collect();
            return self.tagged("dict", &[("items", Value::list(pairs))]);
        }
        let entries = map.iter().map(|(key, value)| (key.as_str().unwrap_or_default(), value));
        if self.options.sort_keys {
            let mut sorted: Vec<(&str, &Value)> = entries.collect();
            sorted.sort_by_key(|(key, _)| *key);
            return self.entries(sorted.into_iter());
        }
        self.entries(entries)
    }

    fn entries<'a>(&mut self, entries: impl Iterator<Item = (&'a str, &'a Value)>) -> Result<()> {
        self.out.push('{');
        self.level += 1;
        let mut empty = true;
        for (key, value) in entries {
            self.separate(empty);
            empty = false;
            self.string(key);
            self.out.push_str(if self.options.compact { ":" } else { ": " });
            self.value(value)?;
        }
        self.close(empty, '}');
        Ok(())
    }

    fn items<'a>(&mut self, items: impl Iterator<Item = &'a Value>) -> Result<()> {
        self.out.push('[');
        self.level += 1;
        let mut empty = true;
        for item in items {
            self.separate(empty);
            empty = false;
            self.value(item)?;
        }
        self.close(empty, ']');
        Ok(())
    }

    fn separate(&mut self, first: bool) {
        if !first {
            self.out.push(',');
        }
        if self.options.indent.is_some() {
            self.line();
        } else if !first && !self.options.compact {
            self.out.push(' ');
        }
    }

    fn close(&mut self, empty: bool, bracket: char) {
        self.level -= 1;
        if !empty && self.options.indent.is_some() {
            self.line();
        }
        self.out.push(bracket);
    }

    fn line(&mut self) {
        self.out.push('\n');
        let blanks = self.options.indent.unwrap_or(0) * self.level;
        self.out.extend(std::iter::repeat_n(' ', blanks));
    }

    fn string(&mut self, text: &str) {
        self.out.push('"');
        for letter in text.chars() {
            match letter {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                '\u{8}' => self.out.push_str("\\b"),
                '\u{c}' => self.out.push_str("\\f"),
                ' '..='~' => self.out.push(letter),
                letter if !self.options.ascii && !letter.is_control() => self.out.push(letter),
                letter => {
                    for unit in letter.encode_utf16(&mut [0; 2]) {
                        _ = write!(self.out, "\\u{unit:04x}");
                    }
                }
            }
        }
        self.out.push('"');
    }
}
