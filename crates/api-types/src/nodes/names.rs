//! Validation and normalization of addresses, hostnames and labels.

use std::net::IpAddr;

use stoker_diagnostics::Diagnostics;
use stoker_manifest::codes;
use stoker_manifest::reader::{report_wrong_type, string, string_with_length};
use stoker_model::{Json, JsonMap, normal_mac};
use stoker_yaml::Node;

const LABEL_CHARS_MAX: usize = 100;
const HOSTNAME_CHARS_MAX: usize = 255;
const HOSTNAME_PART_CHARS_MAX: usize = 63;

pub(super) fn read_mac(node: &Node, problems: &mut Diagnostics) -> Option<String> {
    let text = string(node, problems)?;
    let mac = normal_mac(&text);
    if mac.is_none() {
        let message = "must be a MAC address, six bytes such as `52:54:00:12:34:56`";
        problems.error(codes::FORM, node.span, message);
    }
    mac
}

pub(super) fn read_ip(node: &Node, problems: &mut Diagnostics) -> Option<String> {
    let text = string(node, problems)?;
    if text.parse::<IpAddr>().is_err() {
        problems.error(codes::FORM, node.span, "must be an IP address");
        return None;
    }
    Some(text)
}

/// Reports whether the text is a hostname: dot-separated labels of letters, digits and hyphens, not starting
/// or ending with `-`.
pub(super) fn is_hostname(text: &str) -> bool {
    let is_part = |part: &str| {
        (1..=HOSTNAME_PART_CHARS_MAX).contains(&part.len())
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    text.len() <= HOSTNAME_CHARS_MAX && text.split('.').all(is_part)
}

pub(super) fn read_hostname(node: &Node, problems: &mut Diagnostics) -> Option<String> {
    let text = string(node, problems)?;
    if is_hostname(&text) {
        return Some(text);
    }
    let message = "invalid hostname: expected dot-separated labels of letters, digits and hyphens, not starting or ending with a hyphen";
    problems.error(codes::FORM, node.span, message);
    None
}

/// Parses a map of labels: names and values of 1 to 100 characters, or null for a label without a value.
pub(super) fn read_labels(node: &Node, problems: &mut Diagnostics) -> Option<JsonMap> {
    let Some(entries) = node.as_map() else {
        report_wrong_type(node, "a map of labels", problems);
        return None;
    };
    let mut labels = JsonMap::with_capacity(entries.len());
    for (key, value) in entries {
        let Some(name) = string_with_length(1..=LABEL_CHARS_MAX)(key, problems) else { continue };
        let read = stoker_manifest::reader::nullable(string_with_length(1..=LABEL_CHARS_MAX));
        if let Some(value) = problems.in_key(&name, |problems| read(value, problems)) {
            labels.insert(name, Json::from(value));
        }
    }
    (labels.len() == entries.len()).then_some(labels)
}

/// Parses an inventory. `interfaces` is required: nodes are identified by the MAC addresses in it.
pub(super) fn read_meta(node: &Node, problems: &mut Diagnostics) -> Option<JsonMap> {
    let meta = stoker_manifest::reader::json_map(node, problems)?;
    let is_list_of_maps =
        |value: &Json| value.as_array().is_some_and(|items| items.iter().all(Json::is_object));
    if meta.get("interfaces").is_some_and(is_list_of_maps) {
        return Some(meta);
    }
    problems.error(codes::MISSING, node.span, "`meta.interfaces` must be a list of maps");
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostname_validation() {
        let long = "a".repeat(63);
        for right in ["node-1", "a", "A.b-c.9", long.as_str()] {
            assert!(is_hostname(right), "{right}");
        }
        let too_long = "a".repeat(64);
        for wrong in ["", "-a", "a-", "a..b", ".a", "a_b", "ä", "a b", too_long.as_str(), &"a.".repeat(200)]
        {
            assert!(!is_hostname(wrong), "{wrong}");
        }
    }
}
