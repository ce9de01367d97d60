//! Parameters of `repository`.

use crate::outcome::Failure;
use crate::parameter::{Parameter, ParameterType};
use crate::types::files::{STATE, is_absent};
use crate::values::Values;

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::required("name", ParameterType::Text, "Name of the source, which names its file."),
    Parameter::optional(
        "uris",
        ParameterType::StringList,
        "Addresses of the repository; required unless it is absent.",
    )
    .aliases(&["baseurl"]),
    Parameter::optional(
        "suites",
        ParameterType::StringList,
        "Suites, for example `bookworm`; required with apt.",
    ),
    Parameter::optional("components", ParameterType::StringList, "Components, for example `main`."),
    Parameter::default("types", ParameterType::StringList, "deb", "`deb`, `deb-src` or both."),
    Parameter::optional("architectures", ParameterType::StringList, "Architectures, if not all of the node."),
    Parameter::optional("key", ParameterType::Text, "ASCII-armored public key that signs the repository."),
    Parameter::optional(
        "signed_by",
        ParameterType::Text,
        "Path of a key file on the node; with dnf also a URL. Instead of `key`.",
    )
    .aliases(&["gpgkey"]),
    Parameter::default("gpgcheck", ParameterType::Boolean, "true", "Whether signatures are required."),
    Parameter::default("enabled", ParameterType::Boolean, "true", "Whether packages are taken from it."),
    Parameter::default(
        "update_cache",
        ParameterType::Boolean,
        "true",
        "Whether apt downloads the package lists of the repository when it changes.",
    ),
    STATE,
    Parameter::timeout("300"),
    Parameter::retries("2"),
    Parameter::interval(),
];

#[derive(Debug)]
pub(super) struct Spec {
    pub(super) name: String,
    /// `None`: the source must not exist.
    pub(super) source: Option<PackageSource>,
}

#[derive(Debug)]
pub(super) struct PackageSource {
    pub(super) uris: Vec<String>,
    pub(super) suites: Vec<String>,
    pub(super) components: Vec<String>,
    pub(super) types: Vec<String>,
    pub(super) architectures: Vec<String>,
    pub(super) key: Option<String>,
    pub(super) signed_by: Option<String>,
    pub(super) checks_signatures: bool,
    pub(super) is_enabled: bool,
    pub(super) updates_lists: bool,
}

impl Spec {
    pub(super) fn read(values: &Values) -> Result<Self, Failure> {
        let name = values.text("name");
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.starts_with('.') || !name.chars().all(is_plain) {
            let hint = "use letters, digits, `-`, `_` and `.`";
            return Err(Failure::refused(format!(
                "`name` cannot name a file of package sources: `{name}`; {hint}"
            )));
        }
        if is_absent(values) {
            return Ok(Self { name, source: None });
        }
        let source = PackageSource {
            uris: words(values, "uris")?,
            suites: words(values, "suites")?,
            components: words(values, "components")?,
            types: words(values, "types")?,
            architectures: words(values, "architectures")?,
            key: values.opt_text("key"),
            signed_by: values.opt_text("signed_by"),
            checks_signatures: values.flag("gpgcheck"),
            is_enabled: values.flag("enabled"),
            updates_lists: values.flag("update_cache"),
        };
        let problem = if source.uris.is_empty() {
            "`uris` is required, unless `state` is `absent`"
        } else if source.key.is_some() && source.signed_by.is_some() {
            "`key` and `signed_by` exclude each other; give one of them"
        } else if source.checks_signatures && source.key.is_none() && source.signed_by.is_none() {
            "`key` or `signed_by` is required, unless `gpgcheck` is `false`"
        } else if source.signed_by.as_ref().is_some_and(|path| path.contains(char::is_whitespace)) {
            "`signed_by` must not contain white space"
        } else {
            return Ok(Self { name, source: Some(source) });
        };
        Err(Failure::refused(problem))
    }
}

/// Reads a list whose items become words of a line.
fn words(values: &Values, name: &str) -> Result<Vec<String>, Failure> {
    let words = values.texts(name);
    match words.iter().find(|word| word.is_empty() || word.contains(char::is_whitespace)) {
        Some(word) => {
            Err(Failure::refused(format!("`{name}` contains `{word}`, which is not a single word")))
        }
        None => Ok(words),
    }
}

pub(super) fn validate(values: &Values) -> Result<(), Failure> {
    Spec::read(values).map(drop)
}
