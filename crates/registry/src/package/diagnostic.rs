//! Codes of package problems.

use std::borrow::Cow;

use stoker_diagnostics::Diagnostic;
use stoker_manifest::codes as manifest;

/// Stable problem codes. Codes of stage problems correspond to those in `stages`, with dashes.
pub mod codes {
    pub const FILE_MISSING: &str = "file-missing";
    pub const FILE_EMPTY: &str = "file-empty";
    pub const YAML_SYNTAX: &str = "yaml-syntax";
    pub const FIELD_REQUIRED: &str = "field-required";
    pub const FIELD_TYPE: &str = "field-type";
    pub const FIELD_PATTERN: &str = "field-pattern";
    pub const FIELD_ENUM: &str = "field-enum";
    pub const FIELD_MIN: &str = "field-min";
    pub const NOT_UNIQUE: &str = "not-unique";
    pub const TOO_SHORT: &str = "too-short";
    pub const UNEXPECTED_FIELD: &str = "unexpected-field";
    /// File in a repository that is not a valid package.
    pub const PACKAGE_UNREADABLE: &str = "package-unreadable";
    pub const PACKAGE_VERSION_UNKNOWN: &str = "package-version-unknown";
    pub const VERSION_MALFORMED: &str = "version-malformed";
    pub const FUEL_VERSION_TOO_OLD: &str = "fuel-version-too-old";
    /// Release for another product version than `fuel_version`; always a warning.
    pub const PRODUCT_VERSION: &str = "product-version";
    pub const RELEASE_PATH_MISSING: &str = "release-path-missing";
    pub const TASK_TYPE_UNKNOWN: &str = "task-type-unknown";
    pub const ROLE_FORMAT: &str = "role-format";
    pub const EXPRESSION_SYNTAX: &str = "expression-syntax";
    pub const DUPLICATE_ID: &str = "duplicate-id";
    pub const COMPONENT_NAME: &str = "component-name";
    pub const COMPONENT_PATTERN: &str = "component-pattern";
    pub const REQUIRES_MIXED: &str = "requires-mixed";
    pub const REQUIRES_PREDICATE: &str = "requires-predicate";
    pub const SPECIFIC_NAME_REQUIRED: &str = "specific-name-required";
    pub const BAD_TOKEN: &str = "bad-token";
    pub const WIZARD_SHAPE: &str = "wizard-shape";
    pub const RESTRICTION_PLACEHOLDER: &str = "restriction-placeholder";
    pub const BIND_TARGET: &str = "bind-target";
    pub const STAGE_MISSING: &str = "stage-missing";
    pub const STAGE_NOT_STRING: &str = "stage-not-string";
    pub const STAGE_UNKNOWN: &str = "stage-unknown";
    pub const STAGE_BAD_POSTFIX: &str = "stage-bad-postfix";
    pub const STAGE_POSTFIX_NOT_ALLOWED: &str = "stage-postfix-not-allowed";
    pub const STAGE_POSTFIX_RANGE: &str = "stage-postfix-range";
    /// Number in a range that is reserved by convention; always a warning.
    pub const STAGE_RESERVED: &str = "stage-reserved";
    /// The list of problems was truncated.
    pub const TOO_MANY: &str = "too-many";
}

/// Converts a diagnostic of the document reader.
pub(super) fn in_package(file: &str, mut problem: Diagnostic) -> Diagnostic {
    problem.code = code_of(problem.code);
    problem.in_file(file)
}

/// Maps codes of the document reader to package codes.
fn code_of(code: Cow<'static, str>) -> Cow<'static, str> {
    let package_code = match &*code {
        manifest::EMPTY => codes::FILE_EMPTY,
        manifest::MISSING => codes::FIELD_REQUIRED,
        manifest::TYPE | manifest::KEY | manifest::CONFLICT => codes::FIELD_TYPE,
        manifest::FORM => codes::FIELD_PATTERN,
        manifest::CHOICE => codes::FIELD_ENUM,
        manifest::RANGE => codes::FIELD_MIN,
        manifest::LENGTH => codes::TOO_SHORT,
        manifest::UNKNOWN_KEY => codes::UNEXPECTED_FIELD,
        manifest::DUPLICATE_TASK => codes::DUPLICATE_ID,
        manifest::EXPRESSION => codes::EXPRESSION_SYNTAX,
        manifest::TOO_MANY => codes::TOO_MANY,
        own if !own.starts_with("yaml-") && !own.starts_with("json-") && own != manifest::DOCUMENTS => {
            return code;
        }
        _ => codes::YAML_SYNTAX,
    };
    package_code.into()
}
