//! Parameters of `user`.

use super::expiry::Expiry;
use crate::outcome::Failure;
use crate::parameter::{Parameter, ParameterType};
use crate::types::accounts::is_account_name;
use crate::types::files::{STATE, is_absent};
use crate::values::Values;

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::required("name", ParameterType::Text, "Name of the user."),
    Parameter::optional(
        "uid",
        ParameterType::Number,
        "Number of the user; chosen by the node if it is not set.",
    ),
    Parameter::optional("group", ParameterType::Text, "Primary group."),
    Parameter::optional("groups", ParameterType::StringList, "Supplementary groups."),
    Parameter::default(
        "append",
        ParameterType::Boolean,
        "false",
        "Keep the user in other supplementary groups.",
    ),
    Parameter::optional("comment", ParameterType::Data, "Full name or description."),
    Parameter::optional("home", ParameterType::Path, "Home directory. It is not moved when it changes."),
    Parameter::optional("shell", ParameterType::Path, "Login shell."),
    Parameter::optional("password", ParameterType::Text, "Hashed password."),
    Parameter::optional(
        "locked",
        ParameterType::Boolean,
        "Whether the password is locked. Keys are not; to close an account, set `expires`.",
    ),
    Parameter::optional(
        "expires",
        ParameterType::Text,
        "First day on which the account cannot be used, as `2027-01-31`, or `never`.",
    ),
    Parameter::optional(
        "authorized_keys",
        ParameterType::StringList,
        "Public keys with which the user can log in over SSH.",
    ),
    Parameter::default(
        "exclusive_keys",
        ParameterType::Boolean,
        "false",
        "Remove other keys from the file of authorized keys.",
    ),
    Parameter::default(
        "create_home",
        ParameterType::Boolean,
        "true",
        "Create the home directory of a new user.",
    ),
    Parameter::default(
        "system",
        ParameterType::Boolean,
        "false",
        "Choose the number of a new user among those of the system.",
    ),
    Parameter::default(
        "remove_home",
        ParameterType::Boolean,
        "false",
        "Remove the home directory with the user.",
    ),
    STATE,
    Parameter::timeout("60"),
    Parameter::retries("0"),
    Parameter::interval(),
];

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "one flag for each parameter")]
pub(super) struct Spec {
    pub(super) name: String,
    pub(super) uid: Option<String>,
    pub(super) group: Option<String>,
    /// Sorted.
    pub(super) groups: Option<Vec<String>>,
    pub(super) appends: bool,
    pub(super) comment: Option<String>,
    pub(super) home: Option<String>,
    pub(super) shell: Option<String>,
    pub(super) password: Option<String>,
    pub(super) locked: Option<bool>,
    /// As days since 1970-01-01, empty for never, and as text for `usermod`.
    pub(super) expires: Option<Expiry>,
    pub(super) keys: Option<Vec<String>>,
    pub(super) exclusive_keys: bool,
    pub(super) creates_home: bool,
    pub(super) is_system: bool,
    pub(super) removes_home: bool,
    pub(super) is_absent: bool,
}

impl Spec {
    pub(super) fn read(values: &Values) -> Result<Self, Failure> {
        let spec = Self {
            name: values.text("name"),
            uid: values.has("uid").then(|| values.count("uid").to_string()),
            group: values.opt_text("group"),
            groups: values.has("groups").then(|| {
                let mut groups = values.texts("groups");
                groups.sort();
                groups.dedup();
                groups
            }),
            appends: values.flag("append"),
            comment: values.opt_text("comment"),
            home: values.opt_text("home"),
            shell: values.opt_text("shell"),
            password: values.opt_text("password"),
            locked: values.has("locked").then(|| values.flag("locked")),
            expires: values.opt_text("expires").map(|text| Expiry::parse(&text)).transpose()?,
            keys: values.has("authorized_keys").then(|| {
                let keys = values.texts("authorized_keys");
                keys.iter().map(|key| key.trim().to_owned()).filter(|key| !key.is_empty()).collect()
            }),
            exclusive_keys: values.flag("exclusive_keys"),
            creates_home: values.flag("create_home"),
            is_system: values.flag("system"),
            removes_home: values.flag("remove_home"),
            is_absent: is_absent(values),
        };
        spec.check().map_or(Ok(spec), |problem| Err(Failure::refused(problem)))
    }

    /// Returns the first problem. Never includes the password.
    fn check(&self) -> Option<String> {
        let groups = self.groups.iter().flatten().chain(&self.group);
        let invalid = [&self.name].into_iter().chain(groups).find(|name| !is_account_name(name));
        if let Some(name) = invalid {
            return Some(format!("`{name}` is not a valid name of a user or group"));
        }
        if self.keys.iter().flatten().any(|key| key.contains('\n')) {
            return Some("each item of `authorized_keys` must be a single line".to_owned());
        }
        let fields = [
            ("comment", &self.comment),
            ("home", &self.home),
            ("shell", &self.shell),
            ("password", &self.password),
        ];
        let is_broken = |text: &Option<String>| text.as_ref().is_some_and(|text| text.contains([':', '\n']));
        let broken = fields.into_iter().find(|(_, text)| is_broken(text));
        broken.map(|(name, _)| format!("`{name}` must not contain colons or line breaks"))
    }
}

pub(super) fn validate(values: &Values) -> Result<(), Failure> {
    Spec::read(values).map(drop)
}
