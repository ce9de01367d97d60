//! Parameters of `upload_files`.

use crate::host::FileToWrite;
use crate::outcome::Failure;
use crate::parameter::{Parameter, ParameterType};
use crate::types::files::{
    DATA_BASE64, DIR_PERMISSIONS, OWN_DIR_PERMISSIONS, OWN_PERMISSIONS, PERMISSIONS, file_of,
};
use crate::values::Values;

const FILE: &[Parameter] = &[
    Parameter::required("dst", ParameterType::Path, "Absolute path of the file."),
    Parameter::optional("data", ParameterType::Data, "Content of the file."),
    Parameter::optional(DATA_BASE64, ParameterType::Text, "Content in Base64, if it is not UTF-8."),
    OWN_PERMISSIONS,
    OWN_DIR_PERMISSIONS,
];

const NODE: &[Parameter] = &[
    Parameter::required("uid", ParameterType::Any, "Node UID."),
    Parameter::required("files", ParameterType::MapList(FILE), "Files of the node."),
];

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::required("nodes", ParameterType::MapList(NODE), "Nodes and their files."),
    PERMISSIONS,
    DIR_PERMISSIONS,
    Parameter::timeout("60"),
    Parameter::retries("3"),
    Parameter::interval(),
];

/// Returns the files of one node.
pub(super) fn files_of(values: &Values, node: &str) -> Result<Vec<FileToWrite>, Failure> {
    let entries = values.maps("nodes").into_iter().filter(|entry| {
        entry
            .json("uid")
            .is_some_and(|uid| uid.as_str().map_or_else(|| uid.to_string(), str::to_owned) == node)
    });
    entries.flat_map(|entry| entry.maps("files")).map(|file| file_of(&file, values)).collect()
}
