//! Precedence: flags, then environment variables, then the configuration file, then defaults.

use std::ffi::OsString;
use std::path::Path;

use clap::ArgMatches;
use clap::parser::ValueSource;
use serde_json::{Value as Json, json};

use super::catalog::{CONFIG, Catalog, Setting, ValueType};
use super::file;
use crate::exit::Outcome;
use crate::input::read_text;

/// Source of the value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Flag,
    Environment(&'static str),
    File { file: String, line: usize },
    Default,
}

impl Origin {
    /// Returns a human-readable form.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Flag => "flag".to_owned(),
            Self::Environment(variable) => format!("environment {variable}"),
            Self::File { file, line } => format!("file {file}:{line}"),
            Self::Default => "default".to_owned(),
        }
    }
}

/// The value of an option. Not `Debug`, because it can be secret.
#[derive(Clone)]
pub(crate) struct Resolution {
    pub(crate) origin: Origin,
    /// Values to insert into the command line.
    values: Vec<String>,
    /// Contains secrets.
    json: Json,
}

impl Resolution {
    /// Reports whether the option can conflict with other options.
    fn is_active(&self) -> bool {
        self.origin != Origin::Default && self.json != json!(false)
    }
}

/// The values of all options, in the order of the catalog.
pub(crate) struct Resolved {
    resolutions: Vec<Resolution>,
}

/// Resolves the options of a program. An option is ignored if it conflicts with an option of higher
/// precedence; for example, the flag `--data-dir` replaces `database_url` of the file.
pub(crate) fn resolve(
    catalog: &Catalog,
    matches: &ArgMatches,
    variable: impl Fn(&str) -> Option<String>,
) -> Outcome<Resolved> {
    let settings = &catalog.settings;
    let mut resolved =
        Resolved { resolutions: settings.iter().map(|setting| from_flag(setting, matches)).collect() };
    let from_environment = settings.iter().enumerate().filter_map(|(idx, setting)| {
        let name = setting.variable?;
        let value = variable(name)?;
        let json = to_json(setting, &[value.as_str()]);
        Some((idx, Resolution { origin: Origin::Environment(name), values: vec![value], json }))
    });
    resolved.add(catalog, from_environment.collect());
    if let Some(path) = matches.get_raw(CONFIG).and_then(|mut values| values.next()) {
        let text = read_text(Path::new(path))?;
        let entries = file::read(catalog, &text)?.into_iter().map(|entry| {
            let origin = Origin::File { file: text.origin.clone(), line: entry.line };
            (entry.setting, Resolution { origin, values: entry.values, json: entry.json })
        });
        resolved.add(catalog, entries.collect());
    }
    Ok(resolved)
}

fn from_flag(setting: &Setting, matches: &ArgMatches) -> Resolution {
    if is_flag_of(setting, matches) && matches.value_source(&setting.id) == Some(ValueSource::CommandLine) {
        let raw = matches.get_raw(&setting.id).into_iter().flatten();
        let texts: Vec<String> = raw.map(|value| value.to_string_lossy().into_owned()).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        return Resolution { origin: Origin::Flag, values: Vec::new(), json: to_json(setting, &texts) };
    }
    let json = match (&setting.default, setting.value_type) {
        (Some(default), _) => to_json(setting, &[default.as_str()]),
        (None, ValueType::Boolean) => json!(false),
        (None, _) => Json::Null,
    };
    Resolution { origin: Origin::Default, values: Vec::new(), json }
}

/// Reports whether the parsed command has the option. Commands other than `serve` have only some of its
/// options.
fn is_flag_of(setting: &Setting, matches: &ArgMatches) -> bool {
    setting.has_flag && matches.try_contains_id(&setting.id).is_ok()
}

fn to_json(setting: &Setting, values: &[&str]) -> Json {
    let first = values.first().copied().unwrap_or_default();
    match setting.value_type {
        ValueType::Boolean => json!(true),
        ValueType::Integer => first.parse::<i64>().map_or_else(|_| json!(first), |number| json!(number)),
        ValueType::Text => json!(first),
        ValueType::List => json!(values.iter().flat_map(|value| value.split(',')).collect::<Vec<_>>()),
        ValueType::Table => {
            let pairs = values.iter().filter_map(|value| value.split_once('='));
            Json::Object(pairs.map(|(name, value)| (name.to_owned(), json!(value))).collect())
        }
    }
}

impl Resolved {
    /// Adds the values of one origin, except those of options that are already set or conflict with an option
    /// that is set.
    fn add(&mut self, catalog: &Catalog, candidates: Vec<(usize, Resolution)>) {
        let settings = &catalog.settings;
        let is_free = |idx: usize| {
            let conflicts = |(other, resolution): (usize, &Resolution)| {
                resolution.is_active() && catalog.conflict(&settings[idx], &settings[other])
            };
            self.resolutions[idx].origin == Origin::Default
                && !self.resolutions.iter().enumerate().any(conflicts)
        };
        let accepted: Vec<_> = candidates.into_iter().filter(|(idx, _)| is_free(*idx)).collect();
        for (idx, resolution) in accepted {
            self.resolutions[idx] = resolution;
        }
    }

    /// Returns flags for the options of the parsed command that its command line does not set.
    pub(super) fn inserted_arguments(&self, catalog: &Catalog, matches: &ArgMatches) -> Vec<OsString> {
        let mut arguments = Vec::new();
        let pairs = catalog.settings.iter().zip(&self.resolutions);
        for (setting, resolution) in pairs.filter(|(setting, _)| is_flag_of(setting, matches)) {
            if setting.value_type == ValueType::Boolean {
                let is_inserted = resolution.is_active() && resolution.origin != Origin::Flag;
                arguments.extend(is_inserted.then(|| format!("--{}", setting.long).into()));
            } else {
                let argument = |value: &String| format!("--{}={value}", setting.long).into();
                arguments.extend(resolution.values.iter().map(argument));
            }
        }
        arguments
    }

    /// Returns the value of an option without a flag.
    pub(super) fn value_without_flag(&self, catalog: &Catalog, key: &str) -> Option<String> {
        let mut pairs = catalog.settings.iter().zip(&self.resolutions);
        let (_, resolution) = pairs.find(|(setting, _)| !setting.has_flag && setting.key == key)?;
        resolution.values.first().cloned()
    }

    /// Returns one line for each option that a message mentions, with the location where the option is set.
    pub(super) fn explain(&self, catalog: &Catalog, message: &str) -> Vec<String> {
        let words: Vec<&str> = message
            .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-')
            .filter_map(|word| word.strip_prefix("--"))
            .collect();
        let pairs = catalog.settings.iter().zip(&self.resolutions);
        let inserted = pairs.filter(|(setting, resolution)| {
            !matches!(resolution.origin, Origin::Flag | Origin::Default)
                && words.contains(&setting.long.as_str())
        });
        let line = |(setting, resolution): (&Setting, &Resolution)| {
            format!("`{}` is set by: {}", setting.key, resolution.origin.text())
        };
        inserted.map(line).collect()
    }

    /// Iterates over all options with their redacted values and origins.
    pub(crate) fn rows<'a>(
        &'a self,
        catalog: &'a Catalog,
    ) -> impl Iterator<Item = (&'a Setting, Json, &'a Origin)> {
        let pairs = catalog.settings.iter().zip(&self.resolutions);
        pairs.map(|(setting, resolution)| {
            let value = match (setting.redaction, resolution.json.as_str()) {
                (Some(redaction), Some(text)) => json!(redaction.apply(text)),
                _ => resolution.json.clone(),
            };
            (setting, value, &resolution.origin)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Program, inspect};
    use super::*;

    type Environment<'a> = &'a [(&'a str, &'a str)];

    fn serve(file: &str, flags: &[&str], environment: Environment<'_>) -> Outcome<(Catalog, Resolved)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("serve.toml");
        std::fs::write(&path, file).unwrap();
        let config = ["--config".into(), path.into_os_string()];
        let arguments: Vec<OsString> = config.into_iter().chain(flags.iter().map(Into::into)).collect();
        let variable = |name: &str| {
            environment.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        inspect(Program::Serve, &arguments, crate::args::command(), variable)
    }

    #[track_caller]
    fn check(key: &str, file: &str, flags: &[&str], environment: Environment<'_>, expected: &(Json, &str)) {
        let (catalog, resolved) = serve(file, flags, environment).unwrap();
        let (_, value, origin) = resolved.rows(&catalog).find(|(setting, ..)| setting.key == key).unwrap();
        let origin = origin.text();
        let origin = if origin.starts_with("file ") { origin.rsplit_once(':').unwrap().1 } else { &origin };
        assert_eq!((&value, origin), (&expected.0, expected.1));
    }

    #[test]
    fn first_origin_wins() {
        let variable: Environment<'_> = &[("STOKER_LOG", "debug")];
        check("log", "", &[], &[], &(json!("warn"), "default"));
        check("log", "\nlog = 'info'", &[], &[], &(json!("info"), "2"));
        check("log", "log = 'info'", &[], variable, &(json!("debug"), "environment STOKER_LOG"));
        check("log", "log = 'info'", &["--log", "trace"], variable, &(json!("trace"), "flag"));
    }

    #[test]
    fn lists_and_tables_are_replaced() {
        let file = "tls_name = ['a', 'b']\nca_dir = '/ca'\n[hook]\nreboot = '/a'";
        check("tls_name", file, &[], &[], &(json!(["a", "b"]), "1"));
        check("tls_name", file, &["--tls-name", "c"], &[], &(json!(["c"]), "flag"));
        check("hook", file, &[], &[], &(json!({"reboot": "/a"}), "3"));
        let flags = ["--hook", "erase_node=/b"];
        check("hook", file, &flags, &[], &(json!({"erase_node": "/b"}), "flag"));
    }

    #[test]
    fn conflicting_option_of_lower_precedence_is_ignored() {
        let variable: Environment<'_> = &[("STOKER_DATABASE_URL", "postgres://a:b@db/x")];
        let expected = (json!("postgres://a:****@db/x"), "environment STOKER_DATABASE_URL");
        check("database_url", "data_dir = '/a'", &[], variable, &expected);
        check("data_dir", "data_dir = '/a'", &[], variable, &(Json::Null, "default"));
        check("database_url", "", &["--data-dir", "/b"], variable, &(Json::Null, "default"));
        check(
            "data_dir",
            "database_url = 'postgres://db'",
            &["--data-dir", "/b"],
            &[],
            &(json!("/b"), "flag"),
        );
    }

    #[test]
    fn booleans_are_set_and_reset() {
        check("local_agents", "local_agents = true", &[], &[], &(json!(true), "1"));
        check("local_agents", "local_agents = false", &[], &[], &(json!(false), "1"));
        check("local_agents", "local_agents = false", &["--local-agents"], &[], &(json!(true), "flag"));
    }

    #[track_caller]
    fn failure(file: &str, flags: &[&str]) -> (String, Vec<String>) {
        let mut failure = serve(file, flags, &[]).err().unwrap();
        let problem = failure.diagnostics.remove(0);
        let notes = problem.notes.into_iter().map(|note| note.message.into_owned()).collect();
        (problem.message, notes)
    }

    #[test]
    fn invalid_combinations_name_the_origin() {
        let (message, notes) = failure("tls_cert = '/c'", &[]);
        assert!(message.contains("required") && message.contains("--tls-key"), "{message}");
        let (_, notes_of_flag) = failure("", &["--tls-cert", "/c"]);
        assert!(notes_of_flag.is_empty(), "{notes_of_flag:?}");
        // The usage line of the error names the option that requires the missing option.
        assert!(notes.len() == 1 && notes[0].starts_with("`tls_cert` is set by: file "), "{notes:?}");
        assert!(serve("tls_cert = '/c'", &["--tls-key", "/k"], &[]).is_ok());
    }

    #[test]
    fn invalid_flags_are_rejected() {
        assert!(failure("", &["--lisen", "x"]).0.contains("unexpected argument"));
        assert!(failure("", &["--lease", "1"]).0.contains("not in 2..=300"));
        assert!(failure("listen = '127.0.0.1:1'", &["--bogus", "--listen", "x"]).0.contains("--bogus"));
        assert!(failure("", &["--admin-password", "x"]).0.contains("unexpected argument"));
    }
}
