//! Parameters of `line`.

use std::path::PathBuf;

use regex::Regex;

use super::edit::{Edit, Position};
use crate::outcome::Failure;
use crate::parameter::{Parameter, ParameterType};
use crate::types::files::{BACKUP, STATE, VALIDATE, absolute, is_absent, validate_command};
use crate::values::Values;

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::required("path", ParameterType::Path, "Absolute path of the file.").aliases(&["dest"]),
    Parameter::optional("line", ParameterType::Data, "Line that must be in the file."),
    Parameter::optional(
        "regexp",
        ParameterType::Text,
        "Regular expression that finds the line to replace or remove.",
    ),
    Parameter::optional("block", ParameterType::Data, "Lines that must be between the markers."),
    Parameter::default(
        "marker",
        ParameterType::Text,
        "# {mark} STOKER MANAGED BLOCK",
        "Marker lines of a block; `{mark}` stands for `BEGIN` and `END`.",
    ),
    Parameter::optional(
        "insertafter",
        ParameterType::Text,
        "Regular expression: new lines follow the last line that it matches. Default: the end of the file.",
    ),
    Parameter::optional(
        "insertbefore",
        ParameterType::Text,
        "Regular expression: new lines precede the last line that it matches. `BOF` is the beginning of the file.",
    ),
    VALIDATE,
    BACKUP,
    Parameter::default("create", ParameterType::Boolean, "false", "Create a missing file."),
    STATE,
    Parameter::timeout("60"),
    Parameter::retries("0"),
    Parameter::interval(),
];

#[derive(Debug)]
pub(super) struct Spec {
    pub(super) path: PathBuf,
    pub(super) edit: Edit,
    pub(super) creates: bool,
    pub(super) validate: Option<String>,
    pub(super) keeps_backup: bool,
}

impl Spec {
    pub(super) fn read(values: &Values) -> Result<Self, Failure> {
        let regexp = regex(values, "regexp")?;
        let position = position(values)?;
        let is_absent = is_absent(values);
        let edit = match (values.opt_text("line"), values.opt_text("block"), regexp) {
            (None, Some(block), None) => Edit::Block {
                markers: markers(&values.text("marker"))?,
                lines: (!is_absent).then(|| block.lines().map(str::to_owned).collect()),
                position,
            },
            (Some(line), None, _) if line.contains('\n') => {
                return Err(Failure::refused("`line` must be a single line; use `block` for several lines"));
            }
            (Some(line), None, regexp) if !is_absent => Edit::Ensure { line, regexp, position },
            (line, None, regexp) if is_absent && (line.is_some() || regexp.is_some()) => {
                Edit::Remove { line, regexp }
            }
            (None, None, Some(_)) => return Err(Failure::refused("`line` is required with `regexp`")),
            _ => return Err(Failure::refused("either `line` or `block` is required")),
        };
        Ok(Self {
            path: absolute(values.text("path"))?,
            edit,
            creates: values.flag("create"),
            validate: validate_command(values)?,
            keeps_backup: values.flag("backup"),
        })
    }
}

fn regex(values: &Values, name: &str) -> Result<Option<Regex>, Failure> {
    let regex = values.opt_text(name).map(|text| Regex::new(&text)).transpose();
    regex.map_err(|error| Failure::refused(format!("`{name}` is not a valid regular expression: {error}")))
}

fn position(values: &Values) -> Result<Position, Failure> {
    match (values.opt_text("insertafter").as_deref(), values.opt_text("insertbefore").as_deref()) {
        (Some(_), Some(_)) => {
            Err(Failure::refused("`insertafter` and `insertbefore` exclude each other; give one of them"))
        }
        (None, Some("BOF")) => Ok(Position::Start),
        (None | Some("EOF"), None) => Ok(Position::End),
        (Some(_), None) => Ok(regex(values, "insertafter")?.map_or(Position::End, Position::After)),
        (None, Some(_)) => Ok(regex(values, "insertbefore")?.map_or(Position::End, Position::Before)),
    }
}

fn markers(marker: &str) -> Result<[String; 2], Failure> {
    if !marker.contains("{mark}") || marker.contains('\n') {
        return Err(Failure::refused("`marker` must be a single line that contains `{mark}`"));
    }
    Ok(["BEGIN", "END"].map(|mark| marker.replace("{mark}", mark)))
}

pub(super) fn validate(values: &Values) -> Result<(), Failure> {
    Spec::read(values).map(drop)
}
