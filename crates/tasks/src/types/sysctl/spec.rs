//! Parameters of `sysctl`.

use std::path::PathBuf;

use stoker_model::Json;

use crate::outcome::Failure;
use crate::parameter::{Parameter, ParameterType};
use crate::types::files::{STATE, is_absent};
use crate::values::Values;

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::required(
        "name",
        ParameterType::Text,
        "Name of the parameter, for example `net.ipv4.ip_forward` or `net/ipv4/conf/eth0.100/forwarding`.",
    ),
    Parameter::optional("value", ParameterType::Any, "Value, text or number; required unless it is absent."),
    STATE,
    Parameter::timeout("60"),
    Parameter::retries("0"),
    Parameter::interval(),
];

#[derive(Debug)]
pub(super) struct Spec {
    pub(super) name: String,
    /// `None`: the value must not be stored.
    pub(super) value: Option<String>,
    /// File of the running kernel.
    pub(super) kernel: PathBuf,
    /// File that stores the value.
    pub(super) stored: PathBuf,
}

impl Spec {
    pub(super) fn read(values: &Values) -> Result<Self, Failure> {
        let name = values.text("name");
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | ':');
        if !name.chars().all(is_plain) || name.starts_with(['.', '/']) || name.contains("..") {
            return Err(Failure::refused(format!("`name` is not the name of a kernel parameter: `{name}`")));
        }
        let value = match values.json("value") {
            _ if is_absent(values) => None,
            None => return Err(Failure::refused("`value` is required, unless `state` is `absent`")),
            Some(Json::String(text)) => Some(normalize(text)),
            Some(value @ Json::Number(_)) => Some(value.to_string()),
            Some(_) => return Err(Failure::refused("`value` must be a text or a number")),
        };
        Ok(Self {
            kernel: PathBuf::from("/proc/sys").join(path_of(&name)),
            stored: PathBuf::from(format!("/etc/sysctl.d/60-{}.conf", name.replace('/', "."))),
            name,
            value,
        })
    }
}

/// Returns the path of a parameter below `/proc/sys`. The first separator decides, as in sysctl.conf(5): after a dot, a slash
/// stands for a dot of the name, such as that of a VLAN interface.
fn path_of(name: &str) -> String {
    let swap = |c: char| match c {
        '.' => '/',
        '/' => '.',
        other => other,
    };
    match name.find(['.', '/']) {
        Some(at) if name[at..].starts_with('.') => name.chars().map(swap).collect(),
        _ => name.to_owned(),
    }
}

/// Separates words by single spaces.
pub(super) fn normalize(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(super) fn validate(values: &Values) -> Result<(), Failure> {
    Spec::read(values).map(drop)
}
