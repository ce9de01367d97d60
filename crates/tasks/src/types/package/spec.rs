//! Parameters of `package`.

use crate::outcome::Failure;
use crate::parameter::{Parameter, ParameterType};
use crate::values::Values;

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::required("names", ParameterType::StringList, "Names of the packages, or `name=version`.")
        .aliases(&["name", "pkg"]),
    Parameter::optional(
        "version",
        ParameterType::Text,
        "Version of a single package; `*` at the end matches any rest.",
    ),
    Parameter::default(
        "state",
        ParameterType::Choice(&["present", "latest", "absent"]),
        "present",
        "Whether the packages are installed.",
    ),
    Parameter::optional("hold", ParameterType::Boolean, "Whether other programs may upgrade them."),
    Parameter::default(
        "update_cache",
        ParameterType::Boolean,
        "false",
        "Update the package lists before installing packages; with `state: latest` each time the task runs.",
    ),
    Parameter::timeout("1800"),
    Parameter::retries("2"),
    Parameter::interval(),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PackageState {
    Present,
    Latest,
    Absent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DesiredPackage {
    pub(super) name: String,
    /// Required version; `*` at the end matches any rest.
    pub(super) version: Option<String>,
}

#[derive(Debug)]
pub(super) struct Spec {
    pub(super) packages: Vec<DesiredPackage>,
    pub(super) state: PackageState,
    pub(super) hold: Option<bool>,
    pub(super) updates_lists: bool,
}

impl Spec {
    pub(super) fn read(values: &Values) -> Result<Self, Failure> {
        let mut packages: Vec<DesiredPackage> =
            values.texts("names").iter().map(|text| package(text)).collect::<Result<_, _>>()?;
        if packages.is_empty() {
            return Err(Failure::refused("`names` is empty"));
        }
        match (&mut packages[..], values.opt_text("version")) {
            ([single], Some(version)) => single.version = Some(version),
            (_, Some(_)) => {
                let message = "`version` needs a single package; write `name=version` in `names`";
                return Err(Failure::refused(message));
            }
            _ => {}
        }
        let state = match values.text("state").as_str() {
            "latest" => PackageState::Latest,
            "absent" => PackageState::Absent,
            _ => PackageState::Present,
        };
        if state != PackageState::Present && packages.iter().any(|package| package.version.is_some()) {
            return Err(Failure::refused("a version is possible with `state: present` only"));
        }
        let hold = values.has("hold").then(|| values.flag("hold"));
        if hold.is_some() && state == PackageState::Absent {
            return Err(Failure::refused("`hold` is not possible with `state: absent`"));
        }
        Ok(Self { packages, state, hold, updates_lists: values.flag("update_cache") })
    }
}

fn package(text: &str) -> Result<DesiredPackage, Failure> {
    let (name, version) = text.split_once('=').map_or((text, None), |(name, version)| (name, Some(version)));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | ':' | '_');
    let is_name = name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(is_plain);
    if !is_name || version.is_some_and(str::is_empty) {
        return Err(Failure::refused(format!(
            "`names` contains `{text}`, which is not the name of a package"
        )));
    }
    Ok(DesiredPackage { name: name.to_owned(), version: version.map(str::to_owned) })
}

impl DesiredPackage {
    pub(super) fn accepts(&self, version: &str) -> bool {
        match self.version.as_deref() {
            None => true,
            Some(desired) => match desired.strip_suffix('*') {
                Some(prefix) => version.starts_with(prefix),
                None => version == desired,
            },
        }
    }
}

pub(super) fn validate(values: &Values) -> Result<(), Failure> {
    Spec::read(values).map(drop)
}
