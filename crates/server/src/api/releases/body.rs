//! Parsing of new releases: an update of an empty release.

use stoker_api_types::Request as _;
use stoker_api_types::releases::ReleaseBody;
use stoker_diagnostics::Diagnostic;
use stoker_manifest::codes;
use stoker_model::{JsonMap, NewRelease, ReleaseState};
use stoker_services::metadata::embedded_graphs::EmbeddedGraphs;
use stoker_services::releases::release_apply;

use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult, render_error_item};
use crate::http::response::warning_texts;

/// Required fields of a new release, with the error messages that Fuel's clients expect.
const REQUIRED: [(&str, &str); 3] = [
    ("name", "No release name specified"),
    ("version", "No release version specified"),
    ("operating_system", "No release operating system specified"),
];

/// Parses a new release and checks that the required fields are present. Also returns the warnings.
pub(super) fn read_new(document: &Document) -> ApiResult<(NewRelease, EmbeddedGraphs, Vec<String>)> {
    let mut missing: Vec<(&str, &str)> = Vec::new();
    let mut n_other_errors = 0;
    let update = document.fields_with_warnings(|fields| {
        let update = ReleaseBody::read(fields)?;
        n_other_errors = fields.problems().n_errors();
        let node = fields.node();
        missing.extend(REQUIRED.iter().filter(|(key, _)| node.get(key).is_none()));
        for (key, message) in &missing {
            fields.problems().in_key(key, |problems| _ = problems.error(codes::MISSING, node.span, *message));
        }
        let required = (update.name.clone(), update.version.clone(), update.operating_system.clone());
        let (Some(name), Some(version), Some(operating_system)) = required else { return None };
        Some((empty(name, version, operating_system), update))
    });
    // Clients of Fuel compare the message, so it has no other content if no other field is invalid.
    if !missing.is_empty() && n_other_errors == 0 {
        return Err(only_missing(&missing));
    }
    let ((mut release, update), warnings) = update?;
    let graphs = release_apply(update, &mut release);
    Ok((release, graphs, warning_texts(&warnings)))
}

fn only_missing(missing: &[(&str, &str)]) -> ApiError {
    let messages: Vec<&str> = missing.iter().map(|(_, message)| *message).collect();
    missing.iter().fold(ApiError::bad_request(messages.join("\n")), |error, (key, message)| {
        error.with_item(render_error_item(Diagnostic::error(codes::MISSING, *message).path(*key)))
    })
}

fn empty(name: String, version: String, operating_system: String) -> NewRelease {
    NewRelease {
        name,
        version,
        operating_system,
        description: None,
        state: ReleaseState::Unavailable,
        modes_metadata: JsonMap::new(),
        roles_metadata: JsonMap::new(),
        tags_metadata: JsonMap::new(),
        volumes_roles_mapping: JsonMap::new(),
        attributes_metadata: JsonMap::new(),
        networks_metadata: JsonMap::new(),
        volumes_metadata: JsonMap::new(),
        wizard_metadata: JsonMap::new(),
        components_metadata: Vec::new(),
        required_component_types: Vec::new(),
        extensions: Vec::new(),
        extra: JsonMap::new(),
    }
}
