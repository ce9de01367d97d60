//! Parameters of `upload_file`.

use crate::host::FileToWrite;
use crate::outcome::Failure;
use crate::parameter::{Parameter, ParameterType};
use crate::types::files::{DIR_PERMISSIONS, PERMISSIONS, absolute, owner_of};
use crate::values::Values;

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::required("path", ParameterType::Path, "Absolute path of the file."),
    Parameter::required("data", ParameterType::Text, "Content of the file."),
    PERMISSIONS,
    DIR_PERMISSIONS,
    Parameter::optional("user_owner", ParameterType::Text, "Owner of the file."),
    Parameter::optional("group_owner", ParameterType::Text, "Group of the file."),
    Parameter::default("overwrite", ParameterType::Boolean, "true", "Overwrite an existing file."),
    Parameter::default("parents", ParameterType::Boolean, "true", "Create missing parent directories."),
    Parameter::timeout("60"),
    Parameter::retries("3"),
    Parameter::interval(),
];

#[derive(Debug)]
pub(super) struct Spec {
    pub(super) file: FileToWrite,
    pub(super) overwrites: bool,
}

impl Spec {
    pub(super) fn read(values: &Values) -> Result<Self, Failure> {
        let path = absolute(values.text("path"))?;
        let data = values.text("data").into_bytes();
        let file = FileToWrite {
            parents: values.flag("parents").then(|| values.permissions("dir_permissions")),
            owner: owner_of(&values.text("user_owner"), &values.text("group_owner")),
            ..FileToWrite::new(path, data, values.permissions("permissions"))
        };
        Ok(Self { file, overwrites: values.flag("overwrite") })
    }
}
