//! Parameters of `mount`.

use crate::outcome::Failure;
use crate::parameter::{Parameter, ParameterType};
use crate::types::files::absolute;
use crate::values::Values;

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::required("path", ParameterType::Path, "Mount point.").aliases(&["dest", "name"]),
    Parameter::optional(
        "source",
        ParameterType::Text,
        "Device, `UUID=…`, `LABEL=…`, or address; required unless it is unmounted or absent.",
    )
    .aliases(&["src", "device"]),
    Parameter::optional("fstype", ParameterType::Text, "Type of the file system; required with `source`."),
    Parameter::default("options", ParameterType::Text, "defaults", "Mount options, separated by commas.")
        .aliases(&["opts"]),
    Parameter::default("passno", ParameterType::Count, "0", "Order of the check at boot; 0 omits it."),
    Parameter::default(
        "state",
        ParameterType::Choice(&["mounted", "present", "unmounted", "absent"]),
        "mounted",
        "Desired state.",
    ),
    Parameter::timeout("120"),
    Parameter::retries("0"),
    Parameter::interval(),
];

#[derive(Debug)]
pub(super) struct Spec {
    pub(super) path: String,
    pub(super) state: MountState,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum MountState {
    Mounted(FileSystem),
    Present(FileSystem),
    Unmounted,
    Absent,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct FileSystem {
    pub(super) source: String,
    pub(super) fstype: String,
    pub(super) options: String,
    pub(super) passno: u64,
}

impl Spec {
    pub(super) fn read(values: &Values) -> Result<Self, Failure> {
        let path = absolute(values.text("path"))?.display().to_string();
        let path = if path.len() > 1 { path.trim_end_matches('/').to_owned() } else { path };
        let state = values.text("state");
        let file_system = || -> Result<FileSystem, Failure> {
            let required = |name: &str| {
                let text = values.opt_text(name);
                text.ok_or_else(|| Failure::refused(format!("`{name}` is required with `state: {state}`")))
            };
            let (source, fstype) = (required("source")?, required("fstype")?);
            Ok(FileSystem { source, fstype, options: values.text("options"), passno: values.count("passno") })
        };
        let state = match state.as_str() {
            "unmounted" => MountState::Unmounted,
            "absent" => MountState::Absent,
            "present" => MountState::Present(file_system()?),
            _ => MountState::Mounted(file_system()?),
        };
        if let MountState::Mounted(file_system) | MountState::Present(file_system) = &state {
            let FileSystem { fstype, options, .. } = file_system;
            let fields = [("fstype", fstype), ("options", options)];
            let is_broken = |text: &str| text.contains(|c: char| c.is_whitespace() || c == '#');
            if let Some((name, text)) = fields.into_iter().find(|(_, text)| is_broken(text)) {
                return Err(Failure::refused(format!(
                    "`{name}` must not contain white space or `#`: `{text}`"
                )));
            }
        }
        Ok(Self { path, state })
    }
}

pub(super) fn validate(values: &Values) -> Result<(), Failure> {
    Spec::read(values).map(drop)
}
