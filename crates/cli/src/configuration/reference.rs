//! Documentation of all options: the reference page and commented example files.

use std::fmt::Write as _;

use clap::Command;

use super::catalog::{Catalog, Program, Setting, ValueType};
use super::redact::Redaction;
use crate::text::wrap;

/// The text around the tables of options.
const PAGE: &str = include_str!("page.md.template");
/// Line width of example files.
const WIDTH: u16 = 100;

/// Options that an example file sets, because the program cannot start without them.
const REQUIRED: &[(Program, &str, &str)] = &[(Program::Agent, "server", r#"["http://127.0.0.1:8000"]"#)];

/// Returns the reference page as Markdown.
pub(crate) fn page(root: &Command) -> String {
    let sections = Program::ALL.map(|program| {
        let rows: String = Catalog::of(program, root.clone()).settings.iter().map(row).collect();
        format!(
            "### `stoker {}`\n\n| key | type | default | flag and variable | meaning |\n|---|---|---|---|---|\n{rows}\n",
            program.name()
        )
    });
    PAGE.replace("@OPTIONS@\n", &sections.concat())
}

fn row(setting: &Setting) -> String {
    let flag = match (setting.has_flag, setting.value_name.as_str()) {
        (false, _) => None,
        (true, "") => Some(format!("`--{}`", setting.long)),
        (true, value) => Some(format!("`--{} {value}`", setting.long)),
    };
    let variable = setting.variable.map(|variable| format!("`{variable}`"));
    let sources: Vec<String> = flag.into_iter().chain(variable).collect();
    let unit = setting.unit.map(|unit| format!(", {unit}")).unwrap_or_default();
    let default = match (&setting.default, &setting.computed_default) {
        (Some(default), _) => format!("`{default}`"),
        (None, Some(text)) => text.clone(),
        (None, None) if setting.value_type == ValueType::Boolean => "`false`".to_owned(),
        (None, None) => "unset".to_owned(),
    };
    let secret = match setting.redaction {
        None => "",
        Some(Redaction::Whole) => "; secret",
        Some(Redaction::Credentials) => "; may contain a secret",
    };
    format!(
        "| `{}` | {}{unit} | {} | {} | {}{secret} |\n",
        setting.key,
        setting.value_type.name(),
        escape(&default),
        escape(&sources.join(", ")),
        escape(&setting.help),
    )
}

fn escape(cell: &str) -> String {
    cell.replace('|', "\\|")
}

/// Returns a configuration file with all options, commented out except required ones.
pub(crate) fn example(program: Program, root: Command) -> String {
    let name = program.name();
    let mut text = format!(
        "# Configuration of `stoker {name}`, read with `--config`. Flags and environment variables have precedence.\n\
         # `stoker config show {name} --config FILE` checks this file and shows the origin of each value.\n"
    );
    let catalog = Catalog::of(program, root);
    // In TOML, keys after a table header belong to the table, so tables come last.
    let is_table = |setting: &&Setting| setting.value_type == ValueType::Table;
    let settings = &catalog.settings;
    for setting in
        settings.iter().filter(|setting| !is_table(setting)).chain(settings.iter().filter(is_table))
    {
        let computed = setting.computed_default.as_ref().map(|default| format!(" (default: {default})"));
        let secret = match (setting.redaction, setting.variable) {
            (Some(_), Some(variable)) => {
                format!("; to keep secrets out of this file, set {variable} instead")
            }
            _ => String::new(),
        };
        let help = format!("{}{}{secret}", setting.help, computed.unwrap_or_default());
        let lines = wrap(&help, Some(WIDTH - 2), 0);
        text.push('\n');
        for line in lines.lines() {
            _ = writeln!(text, "# {line}");
        }
        let required = REQUIRED.iter().find(|(of, key, _)| *of == program && *key == setting.key);
        if let Some((_, key, value)) = required {
            _ = writeln!(text, "{key} = {value}");
            continue;
        }
        for line in assignment(setting).lines() {
            _ = writeln!(text, "#{line}");
        }
    }
    text
}

/// Returns a TOML assignment of the default, or of a placeholder of the same type.
fn assignment(setting: &Setting) -> String {
    let Setting { key, default, value_name, .. } = setting;
    match (setting.value_type, default) {
        (ValueType::Integer, Some(default)) => format!("{key} = {default}"),
        (ValueType::Integer, None) => format!("{key} = 1000"),
        (ValueType::Boolean, _) => format!("{key} = false"),
        (ValueType::Text, default) => {
            format!("{key} = \"{}\"", default.as_ref().unwrap_or(value_name))
        }
        (ValueType::List, _) => format!("{key} = [\"{value_name}\"]"),
        (ValueType::Table, _) => {
            format!("[{key}]\nerase_node = \"/usr/local/sbin/erase-node\"")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args;

    #[test]
    fn page_documents_every_option_in_one_row() {
        let page = page(&args::command());
        for program in Program::ALL {
            let (_, section) = page.split_once(&format!("### `stoker {}`", program.name())).unwrap();
            let (section, _) = section.split_once("\n## ").unwrap();
            let (section, _) = section.split_once("\n### ").unwrap_or((section, ""));
            for setting in Catalog::of(program, args::command()).settings {
                let n_rows = section.matches(&format!("\n| `{}` |", setting.key)).count();
                assert_eq!(n_rows, 1, "{}", setting.key);
            }
        }
        let is_row = |line: &&str| line.starts_with("| `");
        assert!(page.lines().filter(is_row).all(|row| row.replace("\\|", "").matches('|').count() >= 3));
    }

    /// Uncommenting any line of an example file must give a valid file.
    #[test]
    fn example_has_every_key_with_a_value_of_its_type() {
        for program in Program::ALL {
            let example = example(program, args::command());
            let uncommented: Vec<&str> = example
                .lines()
                .filter(|line| !line.starts_with("# "))
                .map(|line| line.strip_prefix('#').unwrap_or(line))
                .collect();
            let uncommented = uncommented.join("\n");
            let table = toml::de::DeTable::parse(&uncommented).unwrap();
            for setting in Catalog::of(program, args::command()).settings {
                let value = table.get_ref().get(setting.key.as_str()).unwrap().get_ref();
                let expected = match setting.value_type {
                    ValueType::Boolean => value.is_bool(),
                    ValueType::Integer => value.is_integer(),
                    ValueType::Text => value.is_str(),
                    ValueType::List => value.is_array(),
                    ValueType::Table => value.is_table(),
                };
                assert!(expected, "{}", setting.key);
            }
            assert!(example.lines().all(|line| line.chars().count() <= 120));
        }
    }
}
