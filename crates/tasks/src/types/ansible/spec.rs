//! Parameters of `ansible`, the command line, and parsing of the play recap.

use stoker_model::{Json, JsonMap};

use crate::host::{Command, CommandEffect};
use crate::parameter::{Parameter, ParameterType};
use crate::values::Values;

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::required("playbook", ParameterType::CwdPath, "Path of the playbook on the node."),
    Parameter::optional("extra_vars", ParameterType::Map, "Extra variables; they override all others."),
    Parameter::optional("tags", ParameterType::StringList, "Run only tasks with one of these tags."),
    Parameter::optional("skip_tags", ParameterType::StringList, "Skip tasks with one of these tags."),
    Parameter::default("become", ParameterType::Boolean, "false", "Become another user, usually root."),
    Parameter::optional(
        "python",
        ParameterType::Text,
        "Python interpreter for modules; by default Ansible discovers one.",
    ),
    Parameter::cwd(),
    Parameter::timeout("3600"),
    Parameter::retries("0"),
    Parameter::interval(),
];

const VARIABLES: &str = "variables.json";

pub(super) fn command(values: &Values, is_noop: bool, is_debug: bool) -> Command {
    let mut words: Vec<String> =
        ["ansible-playbook", "-i", "localhost,", "-c", "local"].map(str::to_owned).into();
    for (option, name) in [("--tags", "tags"), ("--skip-tags", "skip_tags")] {
        let tags = values.texts(name);
        if !tags.is_empty() {
            words.extend([option.to_owned(), tags.join(",")]);
        }
    }
    let flags =
        [(values.flag("become"), "--become"), (is_noop, "--check"), (is_noop, "--diff"), (is_debug, "-vvv")];
    words.extend(flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag.to_owned()));
    let mut variables = values.json("extra_vars").and_then(Json::as_object).cloned().unwrap_or_default();
    if values.has("python") {
        variables.insert("ansible_python_interpreter".to_owned(), values.text("python").into());
    }
    if !variables.is_empty() {
        words.extend(["-e".to_owned(), format!("@{{scratch}}/{VARIABLES}")]);
    }
    words.push(values.text("playbook"));
    let mut command = Command::argv(words)
        .cwd(values.text("cwd"))
        .effect(if is_noop { CommandEffect::Reads } else { CommandEffect::Changes })
        .env("ANSIBLE_NOCOLOR", "1")
        .env("ANSIBLE_RETRY_FILES_ENABLED", "0")
        // The recap is parsed in the format of this callback, regardless of the configuration of the site.
        .env("ANSIBLE_STDOUT_CALLBACK", "default");
    if !variables.is_empty() {
        command = command.scratch(VARIABLES, Json::Object(variables).to_string().into_bytes());
    }
    command
}

/// Parses the counts of the play recap: `localhost : ok=2 changed=1 unreachable=0 failed=0 …`.
pub(super) fn read_recap(output: &str) -> JsonMap {
    let after = output.rsplit_once("PLAY RECAP").map_or("", |(_, after)| after);
    let line = after.lines().find(|line| line.trim_start().starts_with("localhost")).unwrap_or_default();
    let counts = line.split_whitespace().filter_map(|word| word.split_once('='));
    counts.filter_map(|(name, count)| Some((name.to_owned(), count.parse::<u64>().ok()?.into()))).collect()
}

/// Returns the reason for failure. A missing recap is a failure too: no play matched this node.
pub(super) fn failure(is_success: bool, recap: &JsonMap) -> Option<String> {
    let count = |name: &str| recap.get(name).and_then(Json::as_u64).unwrap_or(0);
    let (failed, unreachable) = (count("failed"), count("unreachable"));
    if failed + unreachable > 0 {
        return Some(format!("{failed} tasks failed, {unreachable} unreachable"));
    }
    if !is_success {
        return Some("the playbook failed".to_owned());
    }
    recap.is_empty().then(|| "no play in the playbook matches this node; use `hosts: all`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_recap_is_parsed() {
        let output = "ok: [localhost] => PLAY RECAP\n\nPLAY RECAP ****\nlocalhost   : ok=2    changed=1    unreachable=0    failed=0    skipped=3\n";
        let recap = read_recap(output);
        assert_eq!(
            Json::Object(recap.clone()),
            serde_json::json!({"ok": 2, "changed": 1, "unreachable": 0, "failed": 0, "skipped": 3})
        );
        assert_eq!(failure(true, &recap), None);
        assert!(failure(false, &recap).is_some());
        assert!(failure(true, &read_recap("skipping: no hosts matched\nPLAY RECAP ***\n\n")).is_some());
        assert_eq!(
            failure(false, &read_recap("PLAY RECAP *\nlocalhost : ok=0 failed=1")).as_deref(),
            Some("1 tasks failed, 0 unreachable")
        );
    }
}
