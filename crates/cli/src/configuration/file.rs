//! Reads a configuration file. All problems are reported at once, each with its position.

use std::ops::Range;
use std::sync::Arc;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use serde_json::{Value as Json, json};
use stoker_diagnostics::{Diagnostic, Span, sort};
use stoker_yaql::eval::suggest::closest_name;
use toml::de::{DeTable, DeValue};

use super::catalog::{Catalog, Program, Setting, ValueType};
use crate::exit::{Exit, Failure, Outcome};
use crate::input::Text;

/// The value of one option in the file.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Index in the catalog.
    pub(super) setting: usize,
    /// Values of the flag; empty for booleans.
    pub(super) values: Vec<String>,
    pub(super) json: Json,
    /// Number of the line, from 1.
    pub(super) line: usize,
}

pub(super) fn read(catalog: &Catalog, text: &Text) -> Outcome<Vec<Entry>> {
    let (table, errors) = DeTable::parse_recoverable(&text.content);
    let masked = mask(catalog, &text.content, table.get_ref(), errors.is_empty());
    let mut reader = Reader { catalog, text, masked: masked.into(), problems: Vec::new() };
    let entries = reader.read(table.get_ref(), &errors);
    if reader.problems.is_empty() {
        return Ok(entries.into_iter().map(|(entry, _)| entry).collect());
    }
    sort(&mut reader.problems);
    Err(Failure { exit: Exit::Input, diagnostics: reader.problems })
}

struct Reader<'a> {
    catalog: &'a Catalog,
    text: &'a Text,
    /// The content without secrets, for display; positions are the same.
    masked: Arc<str>,
    problems: Vec<Diagnostic>,
}

/// The values of the flag, and the value as JSON.
type Values = (Vec<String>, Json);

impl Reader<'_> {
    fn read(&mut self, table: &DeTable<'_>, errors: &[toml::de::Error]) -> Vec<(Entry, Range<usize>)> {
        for error in errors {
            let span = error.span().unwrap_or_default();
            // A message of the parser can have several lines; only the first describes the error.
            self.report(span, error.message().lines().next().unwrap_or_default(), None);
        }
        // Values after a syntax error may be parsed from the wrong text, so that their problems would mislead.
        let is_valid = errors.is_empty();
        let mut entries = Vec::new();
        for (key, value) in table {
            let Some(idx) = self.find(key.get_ref(), key.span()) else { continue };
            if !is_valid {
                continue;
            }
            let setting = &self.catalog.settings[idx];
            if let Some((values, json)) = self.values(setting, value.get_ref(), value.span()) {
                let line = 1 + self.text.content[..key.span().start].matches('\n').count();
                entries.push((Entry { setting: idx, values, json, line }, key.span()));
            }
        }
        entries.sort_by_key(|(_, span)| span.start);
        self.check_conflicts(&entries);
        entries
    }

    fn report(&mut self, span: Range<usize>, message: impl Into<String>, help: Option<String>) {
        let diagnostic = Diagnostic::plain(message).at(self.span(span)).help_if(help);
        self.problems.push(diagnostic.in_source(&self.text.origin, self.masked.clone()));
    }

    fn span(&self, range: Range<usize>) -> Span {
        Span::in_text(&self.text.content, range)
    }

    /// Returns the index of the setting with this key.
    fn find(&mut self, key: &str, span: Range<usize>) -> Option<usize> {
        let settings = &self.catalog.settings;
        if let Some(idx) = settings.iter().position(|setting| setting.key == key) {
            return Some(idx);
        }
        let other = Program::ALL
            .into_iter()
            .find(|program| *program != self.catalog.program && self.catalog.is_key_of(*program, key));
        let normalized = key.replace('-', "_");
        let help =
            match (closest_name(&normalized, settings.iter().map(|setting| setting.key.as_str())), other) {
                (_, Some(other)) => format!("`{key}` is an option of `stoker {}`", other.name()),
                (Some(best), None) => format!("did you mean `{best}`?"),
                (None, None) => {
                    format!("`stoker config show {}` lists all keys", self.catalog.program.name())
                }
            };
        let message = format!("unknown key `{key}` for `stoker {}`", self.catalog.program.name());
        self.report(span, message, Some(help));
        None
    }

    /// Returns the values of an entry, or `None` after reporting problems.
    fn values(&mut self, setting: &Setting, value: &DeValue<'_>, span: Range<usize>) -> Option<Values> {
        let (value_type, key) = (setting.value_type, &setting.key);
        match (value_type, value) {
            (ValueType::Boolean, DeValue::Boolean(flag)) => Some((Vec::new(), json!(flag))),
            (ValueType::Integer, DeValue::Integer(number)) => {
                let Ok(number) = i64::from_str_radix(number.as_str(), number.radix()) else {
                    self.report(span, format!("invalid value for `{key}`: number out of range"), None);
                    return None;
                };
                let values = vec![number.to_string()];
                self.check(setting, &values[0], span).then_some((values, json!(number)))
            }
            (ValueType::Text, DeValue::String(text)) => {
                self.check(setting, text, span).then(|| (vec![text.to_string()], json!(text)))
            }
            (ValueType::List, DeValue::Array(items)) if !items.is_empty() => {
                let items = items.iter().map(|item| (item.get_ref(), item.span()));
                let values: Vec<Option<String>> = items
                    .map(|(item, span)| {
                        let text = self.text_item(setting, item, span.clone())?;
                        self.check(setting, &text, span).then_some(text)
                    })
                    .collect();
                let values = values.into_iter().collect::<Option<Vec<_>>>()?;
                let json = json!(values);
                Some((values, json))
            }
            (ValueType::Table, DeValue::Table(table)) if !table.is_empty() => {
                let values: Vec<Option<(String, String)>> = table
                    .iter()
                    .map(|(name, value)| {
                        let text = self.text_item(setting, value.get_ref(), value.span())?;
                        let pair = format!("{}={text}", name.get_ref());
                        self.check(setting, &pair, name.span()).then(|| (name.get_ref().to_string(), text))
                    })
                    .collect();
                let pairs = values.into_iter().collect::<Option<Vec<_>>>()?;
                let values = pairs.iter().map(|(name, text)| format!("{name}={text}")).collect();
                let json = pairs.into_iter().map(|(name, text)| (name, Json::String(text))).collect();
                Some((values, Json::Object(json)))
            }
            (ValueType::List, DeValue::Array(_)) | (ValueType::Table, DeValue::Table(_)) => {
                let help = "remove the key to use the default".to_owned();
                self.report(span, format!("the value of `{key}` is empty"), Some(help));
                None
            }
            (_, other) => {
                self.report_type(setting, value_type.name(), other, span);
                None
            }
        }
    }

    fn text_item(&mut self, setting: &Setting, item: &DeValue<'_>, span: Range<usize>) -> Option<String> {
        let text = item.as_str().map(str::to_owned);
        if text.is_none() {
            self.report_type(setting, "string", item, span);
        }
        text
    }

    fn report_type(&mut self, setting: &Setting, expected: &str, value: &DeValue<'_>, span: Range<usize>) {
        let message = format!(
            "invalid type of `{}`: expected {} {expected}, found {} {}",
            setting.key,
            article(expected),
            article(value.type_str()),
            value.type_str(),
        );
        self.report(span, message, None);
    }

    /// Validates a value with the parser of its flag.
    fn check(&mut self, setting: &Setting, value: &str, span: Range<usize>) -> bool {
        if !setting.has_flag {
            return true;
        }
        let arguments = [self.catalog.program.name().to_owned(), format!("--{}={value}", setting.long)];
        let parsed = self.catalog.command().clone().try_get_matches_from(arguments);
        // Relations between options, such as missing required options, are checked when all options are
        // known.
        let is_about_value = |error: &clap::Error| {
            matches!(error.kind(), ErrorKind::ValueValidation | ErrorKind::InvalidValue)
        };
        let Some(error) = parsed.err().filter(is_about_value) else { return true };
        let reason = std::error::Error::source(&error).map(ToString::to_string);
        let reason = reason.unwrap_or_else(|| match error.get(ContextKind::ValidValue) {
            Some(ContextValue::Strings(valid)) if !valid.is_empty() => {
                format!("expected {}", valid.join(" or "))
            }
            _ => "expected a value".to_owned(),
        });
        self.report(span, format!("invalid value for `{}`: {reason}", setting.key), None);
        false
    }

    fn check_conflicts(&mut self, entries: &[(Entry, Range<usize>)]) {
        let settings = &self.catalog.settings;
        let active: Vec<_> = entries.iter().filter(|(entry, _)| entry.json != json!(false)).collect();
        for (idx, (entry, span)) in active.iter().enumerate() {
            for (earlier, earlier_span) in &active[..idx] {
                let (one, other) = (&settings[entry.setting], &settings[earlier.setting]);
                if !self.catalog.conflict(one, other) {
                    continue;
                }
                let message = format!("`{}` conflicts with `{}`", one.key, other.key);
                self.report(span.clone(), message, Some("remove one of them".to_owned()));
                let related = self.span(earlier_span.clone());
                if let Some(diagnostic) = self.problems.pop() {
                    self.problems.push(diagnostic.related(related, "set here"));
                }
            }
        }
    }
}

/// Replaces values that are or may be secret by asterisks of the same length: values of secret options, and
/// values of unknown keys, which may be misspelled. If the syntax is invalid, the end of a value is unknown,
/// and whole lines are masked.
fn mask(catalog: &Catalog, content: &str, table: &DeTable<'_>, is_valid: bool) -> String {
    let is_public =
        |key: &str| catalog.settings.iter().any(|setting| setting.key == key && setting.redaction.is_none());
    let mut ranges: Vec<Range<usize>> = Vec::new();
    if is_valid {
        let masked = table.iter().filter(|(key, _)| !is_public(key.get_ref()));
        ranges.extend(masked.map(|(_, value)| value.span()));
    } else {
        let mut start = 0;
        for line in content.split_inclusive('\n') {
            let key = line.split_once('=').map(|(key, _)| key.trim());
            if !key.is_some_and(is_public) {
                // Keep the key, which the diagnostic is about.
                ranges.push(start + line.find('=').unwrap_or_default()..start + line.len());
            }
            start += line.len();
        }
    }
    let is_masked = |at: usize| ranges.iter().any(|range| range.contains(&at));
    let mask_letter = |(at, letter): (usize, char)| {
        if is_masked(at) && !letter.is_whitespace() && letter != '=' {
            "*".repeat(letter.len_utf8())
        } else {
            letter.to_string()
        }
    };
    content.char_indices().map(mask_letter).collect()
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_serve(content: &str) -> Outcome<Vec<Entry>> {
        let text = Text { origin: "serve.toml".to_owned(), content: content.into() };
        read(&Catalog::of(Program::Serve, crate::args::command()), &text)
    }

    fn problems(content: &str) -> Vec<String> {
        let failure = read_serve(content).unwrap_err();
        assert_eq!(failure.exit, Exit::Input);
        let line = |diagnostic: &Diagnostic| diagnostic.location.line().unwrap();
        failure.diagnostics.iter().map(|problem| format!("{}: {}", line(problem), problem.message)).collect()
    }

    #[test]
    fn all_problems_are_reported_in_the_order_of_lines() {
        let content = "\
lisen = '127.0.0.1:1'
lease = 1
max-body = 5
keep_runs = 'x'
local_agents = 'yes'
module_types = []
tls_name = ['a', 5]
merge_mode = 'mix'
node = 'n'
data_dir = '/a'
database_url = 'postgres://db'
lost_after = 99999999999999999999

[hook]
dance = '/x'
";
        insta::assert_snapshot!(problems(content).join("\n"), @"
        1: unknown key `lisen` for `stoker serve`
        2: invalid value for `lease`: 1 is not in 2..=300
        3: unknown key `max-body` for `stoker serve`
        4: invalid type of `keep_runs`: expected an integer, found a string
        5: invalid type of `local_agents`: expected a boolean, found a string
        6: the value of `module_types` is empty
        7: invalid type of `tls_name`: expected a string, found an integer
        8: invalid value for `merge_mode`: expected attributes or replace
        9: unknown key `node` for `stoker serve`
        11: `database_url` conflicts with `data_dir`
        12: invalid value for `lost_after`: number out of range
        15: invalid value for `hook`: unknown hook `dance`; expected one of cobbler_sync, erase_node, move_to_bootstrap, reboot
        ");
    }

    #[test]
    fn syntax_errors_do_not_hide_unknown_keys() {
        insta::assert_snapshot!(problems("lease = \nlisen = 'x'\nname = 'a\n").join("\n"), @"
        1: string values must be quoted, expected literal string
        2: unknown key `lisen` for `stoker serve`
        3: invalid literal string, expected `'`
        ");
    }

    #[test]
    fn diagnostics_show_no_secrets() {
        let contents = [
            "admin_password = 'hunter2'\nlisen = 1",
            "data_dir = '/a'\ndatabase_url = 'postgres://a:hunter2@db'",
            "admin_pasword = 'hunter2'",
            "admin_password = ['hunter2', 5]",
            "admin_password = 'hunter2",
            "admin_pasword = 'hünter2 hunter2",
            "'admin_password' = 'hunter2",
            "admin_password = \"\"\"\nhunter2\n\"\"\"\nlisen = 1",
            "admin_password = \"\"\"\nhunter2\n",
            "hunter2",
        ];
        for content in contents {
            for problem in read_serve(content).unwrap_err().diagnostics {
                let output = crate::diagnostic::render(&problem);
                assert!(!output.contains("hunter2"), "{content}\n{output}");
            }
            let catalog = Catalog::of(Program::Serve, crate::args::command());
            let (table, errors) = DeTable::parse_recoverable(content);
            let masked = mask(&catalog, content, table.get_ref(), errors.is_empty());
            assert_eq!(masked.len(), content.len(), "{masked}");
        }
        let failure = read_serve("lease = 1 # ä").unwrap_err();
        assert!(crate::diagnostic::render(&failure.diagnostics[0]).contains("lease = 1 # ä"));
    }

    #[test]
    fn values_become_arguments() {
        let content =
            "lease = 0x10\nhook = { reboot = '/x' }\nmodule_types = ['a', 'b']\nlocal_agents = false";
        let entries = read_serve(content).unwrap();
        let values: Vec<(usize, Vec<String>, String)> =
            entries.into_iter().map(|entry| (entry.line, entry.values, entry.json.to_string())).collect();
        let expected = [
            (1, vec!["16"], "16"),
            (2, vec!["reboot=/x"], r#"{"reboot":"/x"}"#),
            (3, vec!["a", "b"], r#"["a","b"]"#),
            (4, vec![], "false"),
        ];
        assert_eq!(values.len(), expected.len());
        for ((line, values, json), expected) in values.iter().zip(expected) {
            assert_eq!((*line, values.iter().map(String::as_str).collect(), json.as_str()), expected);
        }
    }
}
