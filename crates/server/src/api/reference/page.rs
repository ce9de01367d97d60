//! API reference as one HTML page, without scripts and external resources.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pulldown_cmark_escape::escape_html;
use serde_json::Value;
use utoipa::openapi::OpenApi;

use crate::http::document::PERMISSION_EXTENSION;

const STYLE: &str = include_str!("page.css");

/// Operation with its method and path.
struct Entry<'a> {
    method: String,
    path: &'a str,
    operation: &'a Value,
}

pub(crate) fn render(document: &OpenApi) -> String {
    let document = serde_json::to_value(document).unwrap_or_default();
    let groups = groups(&document);
    let mut html = String::new();
    let title = document.pointer("/info/title").and_then(Value::as_str).unwrap_or_default();
    let intro = document.pointer("/info/description").and_then(Value::as_str).unwrap_or_default();
    let _ = write!(
        html,
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{title} API</title><style>{STYLE}</style></head><body>"
    );
    let _ = write!(html, "<nav aria-label=\"Resources\"><h1>{title} API</h1><ul>");
    for (tag, entries) in &groups {
        let _ = write!(html, "<li><a href=\"#{tag}\">{tag}</a> <span>{}</span></li>", entries.len());
    }
    let _ = write!(
        html,
        "</ul><p><a href=\"/api/v1/openapi.json\">openapi.json</a></p></nav><main><p>{}</p>",
        code_marks(intro)
    );
    for (tag, entries) in &groups {
        let _ =
            write!(html, "<section id=\"{tag}\" aria-labelledby=\"h-{tag}\"><h2 id=\"h-{tag}\">{tag}</h2>");
        for entry in entries {
            operation(&mut html, &document, entry);
        }
        html.push_str("</section>");
    }
    html.push_str("<section id=\"schemas\"><h2>Schemas</h2>");
    if let Some(schemas) = document.pointer("/components/schemas").and_then(Value::as_object) {
        schemas.iter().for_each(|(name, schema)| schema_section(&mut html, name, schema));
    }
    html.push_str("</section></main></body></html>");
    html
}

fn groups(document: &Value) -> BTreeMap<String, Vec<Entry<'_>>> {
    let mut groups: BTreeMap<String, Vec<Entry<'_>>> = BTreeMap::new();
    let paths = document.get("paths").and_then(Value::as_object);
    for (path, item) in paths.into_iter().flatten() {
        for (method, operation) in item.as_object().into_iter().flatten() {
            let tag = operation.pointer("/tags/0").and_then(Value::as_str).unwrap_or("other").to_owned();
            groups.entry(tag).or_default().push(Entry { method: method.to_uppercase(), path, operation });
        }
    }
    groups
}

fn operation(html: &mut String, document: &Value, entry: &Entry<'_>) {
    let text = |key: &str| entry.operation.get(key).and_then(Value::as_str).unwrap_or_default();
    let permission = text(PERMISSION_EXTENSION);
    let _ = write!(
        html,
        "<details id=\"{}\"><summary><b class=\"{}\">{}</b> <code>{}</code> <span>{}</span> <em>{permission}</em></summary>",
        escape(text("operationId")),
        entry.method.to_lowercase(),
        entry.method,
        escape(entry.path),
        code_marks(text("summary"))
    );
    let _ = write!(html, "<p>{}</p>", code_marks(text("description")));
    parameters(html, entry.operation);
    if let Some(content) = entry.operation.pointer("/requestBody/content").and_then(Value::as_object) {
        // Other media types have the same schema as the first.
        for (media, body) in content.iter().take(1) {
            let _ = write!(
                html,
                "<p>Body <code>{}</code> {}</p>",
                escape(media),
                schema_link(body.get("schema"))
            );
            example(html, body.get("example"));
        }
    }
    responses(html, document, entry.operation);
    html.push_str("</details>");
}

fn parameters(html: &mut String, operation: &Value) {
    let Some(parameters) =
        operation.get("parameters").and_then(Value::as_array).filter(|list| !list.is_empty())
    else {
        return;
    };
    html.push_str("<table><thead><tr><th>Parameter</th><th>In</th><th>Meaning</th></tr></thead><tbody>");
    for parameter in parameters {
        let text = |key: &str| parameter.get(key).and_then(Value::as_str).unwrap_or_default();
        let _ = write!(
            html,
            "<tr><td><code>{}</code></td><td>{}</td><td>{}</td></tr>",
            escape(text("name")),
            escape(text("in")),
            code_marks(text("description"))
        );
    }
    html.push_str("</tbody></table>");
}

fn responses(html: &mut String, document: &Value, operation: &Value) {
    html.push_str("<table><thead><tr><th>Status</th><th>Meaning</th><th>Body</th></tr></thead><tbody>");
    for (status, response) in operation.get("responses").and_then(Value::as_object).into_iter().flatten() {
        let common =
            response.get("$ref").and_then(Value::as_str).and_then(|path| document.pointer(&path[1..]));
        let response = common.unwrap_or(response);
        let meaning = response.get("description").and_then(Value::as_str).unwrap_or_default();
        let schema =
            response.get("content").and_then(Value::as_object).and_then(|content| content.values().next());
        let body = schema_link(schema.and_then(|body| body.get("schema")));
        let _ = write!(
            html,
            "<tr><td>{}</td><td>{}</td><td>{body}</td></tr>",
            escape(status),
            code_marks(meaning)
        );
    }
    html.push_str("</tbody></table>");
}

fn schema_section(html: &mut String, name: &str, schema: &Value) {
    let name = escape(name);
    let _ = write!(html, "<details id=\"schema-{name}\"><summary><code>{name}</code></summary>");
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let _ = write!(html, "<p>{}</p>", code_marks(description));
    example(html, Some(schema));
    html.push_str("</details>");
}

fn example(html: &mut String, value: Option<&Value>) {
    if let Some(text) = value.and_then(|value| serde_json::to_string_pretty(value).ok()) {
        let _ = write!(html, "<pre><code>{}</code></pre>", escape(&text));
    }
}

/// Returns the name of a schema, linked to its section if it has one.
fn schema_link(schema: Option<&Value>) -> String {
    let Some(schema) = schema else { return String::new() };
    if let Some(name) = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next()) {
        let name = escape(name);
        return format!("<a href=\"#schema-{name}\">{name}</a>");
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("array") => format!("list of {}", schema_link(schema.get("items"))),
        Some(kind) => escape(kind),
        None => String::from("any"),
    }
}

/// Escapes text and renders backticks as `<code>`.
fn code_marks(text: &str) -> String {
    let segments = text.split('`').enumerate();
    segments
        .map(
            |(index, segment)| {
                if index % 2 == 1 { format!("<code>{}</code>", escape(segment)) } else { escape(segment) }
            },
        )
        .collect()
}

/// Escapes a text for elements and quoted attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    // Writing to a `String` cannot fail.
    _ = escape_html(&mut escaped, text);
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_contains_every_operation() {
        let document = crate::api::document::document();
        let html = render(&document);
        for path in document.paths.paths.keys() {
            assert!(html.contains(&format!("<code>{}</code>", escape(path))), "{path}");
        }
        assert!(html.contains("<td>404</td><td>The resource does not exist</td>"), "shared responses");
        assert!(!html.contains("<script"));
    }

    #[test]
    fn markup_is_escaped() {
        assert_eq!(code_marks("a `<b>` & \"c\""), "a <code>&lt;b&gt;</code> &amp; &quot;c&quot;");
    }
}
