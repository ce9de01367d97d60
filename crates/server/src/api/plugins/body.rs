//! Parsing of new plugins: an update of an empty plugin.

use stoker_api_types::Request as _;
use stoker_api_types::plugins::PluginBody;
use stoker_manifest::codes;
use stoker_model::NewPlugin;
use stoker_services::metadata::embedded_graphs::EmbeddedGraphs;
use stoker_services::plugins::plugin_apply;

use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::response::warning_texts;

const REQUIRED: [&str; 6] = ["name", "title", "version", "package_version", "fuel_version", "releases"];

/// Parses a new plugin and checks that the required fields are present. Also returns the warnings.
pub(super) fn read_new(document: &Document) -> ApiResult<(NewPlugin, EmbeddedGraphs, Vec<String>)> {
    let (update, warnings) = document.fields_with_warnings(|fields| {
        let update = PluginBody::read(fields);
        let node = fields.node();
        for key in REQUIRED.into_iter().filter(|key| node.get(key).is_none()) {
            fields.problems().in_key(key, |problems| {
                problems.error(codes::MISSING, node.span, format!("`{key}` is missing"));
            });
        }
        update
    })?;
    let mut plugin = NewPlugin::default();
    let graphs = plugin_apply(update, &mut plugin);
    Ok((plugin, graphs, warning_texts(&warnings)))
}
