//! Parameters of graph tasks, by type.

use stoker_diagnostics::Diagnostics;
use stoker_manifest::reader::{Fields, integer_in};
use stoker_yaml::Node;

use crate::package::codes;
use crate::package::shapes::{is_computed, non_empty_list, non_empty_text, open_map, or_computed, text_like};

/// Types that require parameters.
pub(super) const NEED_PARAMETERS: &[&str] = &["copy_files", "sync", "upload_file"];

pub(super) fn check_parameters(node: &Node, task_type: &str, problems: &mut Diagnostics) {
    // Values that are not maps were reported by the graph reader.
    if is_computed(node) || node.as_map().is_none() {
        return;
    }
    _ = open_map(|fields| match task_type {
        "puppet" => {
            fields.required("puppet_manifest", or_computed(non_empty_text));
            fields.required("puppet_modules", or_computed(non_empty_text));
            fields.required("timeout", or_computed(not_negative()));
            fields.optional("retries", or_computed(not_negative()));
        }
        "shell" => {
            fields.required("cmd", or_computed(non_empty_text));
            optional_integers(fields, &["timeout", "retries", "interval"]);
        }
        "copy_files" => {
            fields.required("files", or_computed(non_empty_list(file_copy)));
            permissions(fields);
        }
        "sync" => {
            fields.required("src", or_computed(non_empty_text));
            fields.required("dst", or_computed(non_empty_text));
            optional_integers(fields, &["timeout"]);
        }
        "upload_file" => {
            fields.required("path", or_computed(non_empty_text));
            fields.required("data", or_computed(stoker_manifest::reader::string));
            optional_integers(fields, &["timeout"]);
        }
        "reboot" => optional_integers(fields, &["timeout"]),
        _ => {}
    })(node, problems);
}

/// Reads a number of seconds or of retries.
fn not_negative() -> impl Fn(&Node, &mut Diagnostics) -> Option<i64> {
    integer_in(0..=i64::MAX)
}

fn optional_integers(fields: &mut Fields<'_, '_>, keys: &[&'static str]) {
    for key in keys {
        fields.optional(key, or_computed(not_negative()));
    }
}

fn file_copy(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    if is_computed(node) {
        return Some(());
    }
    open_map(|fields| {
        fields.required("src", or_computed(non_empty_text));
        fields.required("dst", or_computed(non_empty_text));
    })(node, problems)
}

fn permissions(fields: &mut Fields<'_, '_>) {
    let is_octal = |text: &str| text.len() == 4 && text.bytes().all(|byte| (b'0'..=b'7').contains(&byte));
    for key in ["permissions", "dir_permissions"] {
        let form = "four octal digits in quotes, for example '0644'";
        fields.optional(key, or_computed(text_like(codes::FIELD_PATTERN, form, is_octal)));
    }
}
