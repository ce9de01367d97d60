//! Parameters of `puppet`, the command line, and evaluation of the run summary.

use stoker_diagnostics::Diagnostics;
use stoker_manifest::reader::json_map;
use stoker_model::{Json, JsonMap};

use crate::host::{Command, CommandEffect};
use crate::parameter::{Parameter, ParameterType};
use crate::values::Values;

/// Reason for ignoring the polling parameters of other tools.
const NO_POLLING: &str = "the agent runs Puppet as a child process and does not poll it";

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::required("puppet_manifest", ParameterType::CwdPath, "Path of the manifest on the node."),
    Parameter::default(
        "puppet_modules",
        ParameterType::CwdPath,
        "/etc/puppet/modules",
        "Module path; several directories are separated by `:`.",
    ),
    Parameter::cwd(),
    Parameter::timeout("5400"),
    Parameter::retries("2"),
    Parameter::interval(),
    Parameter::default("debug", ParameterType::Boolean, "false", "Run Puppet with debug output."),
    Parameter::default(
        "raw_report",
        ParameterType::Boolean,
        "false",
        "Store the full report with the result.",
    ),
    Parameter::optional("command_prefix", ParameterType::Data, "Command prefix, for example `nice -n 10`."),
    Parameter::ignored("succeed_retries", NO_POLLING),
    Parameter::ignored("undefined_retries", NO_POLLING),
    Parameter::ignored("puppet_start_timeout", NO_POLLING),
    Parameter::ignored("puppet_start_interval", NO_POLLING),
];

/// Files in the private directory of the command, so that a stale file of an earlier run cannot be mistaken
/// for a new one.
pub(super) const SUMMARY: &str = "last_run_summary.yaml";
pub(super) const REPORT: &str = "last_run_report.yaml";

pub(super) fn command(values: &Values, is_noop: bool, is_debug: bool) -> Command {
    let prefix = values.text("command_prefix");
    let mut words: Vec<String> = prefix.split_whitespace().map(str::to_owned).collect();
    words.extend(["puppet", "apply", "--detailed-exitcodes", "--color=false"].map(str::to_owned));
    if is_debug {
        words.extend(["--debug", "--trace", "--evaltrace"].map(str::to_owned));
    } else {
        words.push("--verbose".to_owned());
    }
    if is_noop {
        words.push("--noop".to_owned());
    }
    words.push(format!("--lastrunfile={{scratch}}/{SUMMARY}"));
    words.push(format!("--lastrunreport={{scratch}}/{REPORT}"));
    words.push(format!("--modulepath={}", values.text("puppet_modules")));
    words.push(values.text("puppet_manifest"));
    let effect = if is_noop { CommandEffect::Reads } else { CommandEffect::Changes };
    let command = Command::argv(words).cwd(values.text("cwd")).effect(effect).collect(SUMMARY);
    if values.flag("raw_report") { command.collect(REPORT) } else { command }
}

/// Parses the run summary; empty if it is malformed.
pub(super) fn read_summary(text: &str) -> JsonMap {
    let loaded = stoker_yaml::load(text, &stoker_yaml::LoadLimits::default());
    let root = loaded.documents.first().map(|document| &document.root);
    root.and_then(|root| json_map(root, &mut Diagnostics::default())).unwrap_or_default()
}

/// Reports whether resources changed or, in noop mode, would change. `None` without a summary.
pub(super) fn changed(summary: &JsonMap, is_noop: bool) -> Option<bool> {
    let name = if is_noop { "out_of_sync" } else { "changed" };
    let n_changed = summary.get("resources")?.get(name)?.as_u64()?;
    Some(n_changed > 0)
}

/// Returns the reason for failure. A run without a summary is a failure, even with exit code 0.
pub(super) fn failure(code: Option<i32>, summary: &JsonMap) -> Option<String> {
    let count = |name: &str| {
        summary.get("resources").and_then(|resources| resources.get(name)).and_then(Json::as_u64)
    };
    let (failed, failed_to_restart) = (count("failed"), count("failed_to_restart").unwrap_or(0));
    match (code, failed) {
        (Some(0 | 2), Some(0)) if failed_to_restart == 0 => None,
        (Some(1), None) => Some("cannot apply the manifest".to_owned()),
        (_, None) => Some("Puppet wrote no run summary".to_owned()),
        (_, Some(0)) if failed_to_restart == 0 => Some("Puppet failed".to_owned()),
        (_, Some(failed)) => {
            Some(format!("{failed} resources failed, {failed_to_restart} failed to restart"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn success_requires_exit_code_and_summary() {
        let good = read_summary(
            "---\nversion:\n  puppet: 7.23.0\nresources:\n  changed: 1\n  failed: 0\n  failed_to_restart: 0\n",
        );
        let bad = read_summary("resources: {failed: 2, failed_to_restart: 1}");
        assert_eq!(failure(Some(0), &good), None);
        assert_eq!(failure(Some(2), &good), None);
        assert_eq!(failure(Some(6), &bad).as_deref(), Some("2 resources failed, 1 failed to restart"));
        assert_eq!(failure(Some(0), &bad).as_deref(), Some("2 resources failed, 1 failed to restart"));
        assert_eq!(failure(Some(4), &good).as_deref(), Some("Puppet failed"));
        assert_eq!(failure(Some(0), &JsonMap::new()).as_deref(), Some("Puppet wrote no run summary"));
        assert_eq!(failure(None, &good).as_deref(), Some("Puppet failed"));
        assert!(failure(Some(1), &read_summary("- no: {map")).is_some());
    }
}
