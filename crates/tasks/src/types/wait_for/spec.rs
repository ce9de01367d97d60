//! Parameters of `wait_for`.

use std::path::PathBuf;
use std::time::Duration;

use regex::Regex;

use crate::host::Probe;
use crate::outcome::Failure;
use crate::parameter::{Parameter, ParameterType};
use crate::types::files::{absolute, is_absent};
use crate::values::Values;

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::optional("port", ParameterType::Number, "TCP port."),
    Parameter::default("host", ParameterType::Text, "127.0.0.1", "Name or address of the host of the port."),
    Parameter::optional("path", ParameterType::Path, "Absolute path of a file or directory."),
    Parameter::optional(
        "regexp",
        ParameterType::Text,
        "Regular expression that a line of the file must match.",
    )
    .aliases(&["search_regex"]),
    Parameter::optional("url", ParameterType::Text, "Address of an HTTP or HTTPS resource."),
    Parameter::default("status", ParameterType::Count, "200", "Status that the response must have."),
    Parameter::default(
        "state",
        ParameterType::Choice(&["present", "absent"]),
        "present",
        "Whether to wait until it is there or until it is gone.",
    ),
    Parameter::timeout("300"),
    Parameter::retries("0"),
    Parameter::interval(),
];

#[derive(Debug)]
pub(super) struct Spec {
    pub(super) condition: Condition,
    pub(super) is_absent: bool,
    /// Ends before the timeout of the attempt, which could not say what was found.
    pub(super) patience: Duration,
}

#[derive(Debug)]
pub(super) enum Condition {
    Probe(Probe),
    File(PathBuf, Option<Regex>),
}

impl Spec {
    pub(super) fn read(values: &Values) -> Result<Self, Failure> {
        let port = values.has("port").then(|| values.count("port"));
        let condition = match (port, values.opt_text("path"), values.opt_text("url")) {
            (Some(port), None, None) => {
                let port = u16::try_from(port).ok().filter(|port| *port > 0);
                let port = port.ok_or_else(|| Failure::refused("`port` must be from 1 to 65535"))?;
                Condition::Probe(Probe::Port { host: values.text("host"), port })
            }
            (None, Some(path), None) => {
                let regexp = values.opt_text("regexp").map(|text| Regex::new(&text)).transpose();
                let regexp = regexp.map_err(|error| {
                    Failure::refused(format!("`regexp` is not a valid regular expression: {error}"))
                })?;
                Condition::File(absolute(path)?, regexp)
            }
            (None, None, Some(url)) => {
                if !url.starts_with("http://") && !url.starts_with("https://") {
                    let message = format!("`url` must start with `http://` or `https://`: `{url}`");
                    return Err(Failure::refused(message));
                }
                let status = u16::try_from(values.count("status")).unwrap_or(u16::MAX);
                Condition::Probe(Probe::Url { url, status })
            }
            _ => return Err(Failure::refused("exactly one of `port`, `path` and `url` is required")),
        };
        if values.has("regexp") && !matches!(condition, Condition::File(..)) {
            return Err(Failure::refused("`regexp` is possible with `path` only"));
        }
        let patience = values.duration("timeout").mul_f64(0.95);
        Ok(Self { condition, is_absent: is_absent(values), patience })
    }
}
