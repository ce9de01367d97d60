//! Parameters of `command`.

use std::path::PathBuf;

use regex::Regex;
use stoker_model::Json;

use crate::outcome::Failure;
use crate::parameter::{Parameter, ParameterType};
use crate::types::files::absolute;
use crate::types::shell::spec::Spec as ShellSpec;
use crate::values::Values;

const CHANGED_WHEN: &[Parameter] = &[
    Parameter::optional("codes", ParameterType::Any, "Exit codes of a command that changed the node."),
    Parameter::optional(
        "output",
        ParameterType::Text,
        "Regular expression that the output of such a command matches.",
    ),
];

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::required("cmd", ParameterType::Text, "Command or multi-line script."),
    Parameter::cwd(),
    Parameter::optional(
        "env",
        ParameterType::Map,
        "Environment variables to add; strings, numbers and booleans.",
    ),
    Parameter::optional("creates", ParameterType::Path, "Path; if it exists, the command is not run."),
    Parameter::optional("unless", ParameterType::Text, "Command; if it succeeds, `cmd` is not run."),
    Parameter::optional("only_if", ParameterType::Text, "Command; if it fails, `cmd` is not run."),
    Parameter::optional(
        "changed_when",
        ParameterType::Fields(CHANGED_WHEN),
        "When the command has changed the node (default: always).",
    ),
    Parameter::timeout("300"),
    Parameter::retries("0"),
    Parameter::interval(),
];

#[derive(Debug)]
pub(super) struct Spec {
    pub(super) command: ShellSpec,
    pub(super) creates: Option<PathBuf>,
    pub(super) unless: Option<String>,
    pub(super) only_if: Option<String>,
    pub(super) changed_when: ChangedWhen,
}

/// Rule that decides whether a command has changed the node.
#[derive(Debug)]
pub(super) enum ChangedWhen {
    Always,
    Codes(Vec<i32>),
    Output(Regex),
}

impl Spec {
    pub(super) fn read(values: &Values) -> Result<Self, Failure> {
        Ok(Self {
            command: ShellSpec::read(values)?,
            creates: values.opt_text("creates").map(absolute).transpose()?,
            unless: values.opt_text("unless"),
            only_if: values.opt_text("only_if"),
            changed_when: changed_when(values.json("changed_when"))?,
        })
    }
}

fn changed_when(json: Option<&Json>) -> Result<ChangedWhen, Failure> {
    let Some(json) = json else { return Ok(ChangedWhen::Always) };
    match (json.get("codes"), json.get("output").and_then(Json::as_str)) {
        (Some(codes), None) => {
            let codes = codes.as_array().map_or_else(|| vec![codes.clone()], Clone::clone);
            let codes = codes.iter().map(|code| code.as_i64().and_then(|code| i32::try_from(code).ok()));
            let codes: Option<Vec<i32>> = codes.collect();
            let problem = "`changed_when.codes` must be an exit code or a list of exit codes";
            codes.map(ChangedWhen::Codes).ok_or_else(|| Failure::refused(problem))
        }
        (None, Some(output)) => Regex::new(output).map(ChangedWhen::Output).map_err(|error| {
            Failure::refused(format!("`changed_when.output` is not a valid regular expression: {error}"))
        }),
        _ => Err(Failure::refused("`changed_when` needs either `codes` or `output`")),
    }
}
