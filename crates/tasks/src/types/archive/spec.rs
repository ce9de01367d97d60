//! Parameters of `archive`.

use std::path::PathBuf;

use crate::host::FileOwner;
use crate::outcome::Failure;
use crate::parameter::{Parameter, ParameterType};
use crate::types::files::{GROUP, OWNER, STATE, absolute, is_absent};
use crate::values::Values;

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::optional(
        "source",
        ParameterType::Text,
        "URL of the archive, or its absolute path on the node; required unless it is absent.",
    )
    .aliases(&["src"]),
    Parameter::required("dest", ParameterType::Path, "Directory that holds the content of the archive.")
        .aliases(&["path"]),
    Parameter::optional(
        "digest",
        ParameterType::Text,
        "Digest of the archive, `sha256:` and 64 hexadecimal digits; required unless it is absent.",
    )
    .aliases(&["checksum"]),
    Parameter::default("strip", ParameterType::Count, "0", "Number of leading directories to remove."),
    OWNER,
    GROUP,
    STATE,
    Parameter::timeout("600"),
    Parameter::retries("2"),
    Parameter::interval(),
];

#[derive(Debug)]
pub(super) struct Spec {
    pub(super) dest: PathBuf,
    /// `None`: the directory must not exist.
    pub(super) content: Option<Content>,
}

#[derive(Debug)]
pub(super) struct Content {
    pub(super) source: String,
    /// Hexadecimal SHA-256.
    pub(super) sha256: String,
    pub(super) strip: usize,
    pub(super) owner: FileOwner,
}

impl Spec {
    pub(super) fn read(values: &Values) -> Result<Self, Failure> {
        let dest = absolute(values.text("dest"))?;
        if is_absent(values) {
            return Ok(Self { dest, content: None });
        }
        let required = |name: &str| {
            let missing = || Failure::refused(format!("`{name}` is required, unless `state` is `absent`"));
            values.opt_text(name).ok_or_else(missing)
        };
        let (source, digest) = (required("source")?, required("digest")?);
        if !source.starts_with("http://") && !source.starts_with("https://") {
            absolute(source.clone())?;
        }
        let is_hash = |text: &&str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let Some(sha256) = digest.strip_prefix("sha256:").filter(is_hash) else {
            let message = format!("`digest` must be `sha256:` and 64 hexadecimal digits: `{digest}`");
            return Err(Failure::refused(message));
        };
        let content = Content {
            source,
            sha256: sha256.to_ascii_lowercase(),
            strip: usize::try_from(values.count("strip")).unwrap_or(usize::MAX),
            owner: FileOwner { user: values.opt_text("owner"), group: values.opt_text("group") },
        };
        Ok(Self { dest, content: Some(content) })
    }
}

pub(super) fn validate(values: &Values) -> Result<(), Failure> {
    Spec::read(values).map(drop)
}
