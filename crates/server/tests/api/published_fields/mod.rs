//! No field of a published format is accepted and ignored: each has an observable effect, which a test shows, or is documented
//! to have none.
//!
//! The fields come from the published documents themselves (the OpenAPI document, the schema of graphs, the reference of modules)
//! and from the readers of documents without a schema, so that a new field without a row fails this test.

mod bodies;
mod documents;
mod effects;
mod functions;
mod queries;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use self::bodies::{BODIES, EXTENDED, FREE};
use self::documents::DOCUMENTS;
use self::queries::QUERIES;

pub(crate) use self::functions::test_functions;

/// What shows that a field is not ignored.
#[derive(Clone, Copy)]
enum Proof {
    /// A test that observes the effect.
    Test(&'static str),
    /// The row of the page about fields without effect.
    Documented,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

fn keys(schema: &Value) -> BTreeSet<String> {
    if let Some(properties) = schema["properties"].as_object() {
        return properties.keys().cloned().collect();
    }
    schema["allOf"].as_array().unwrap_or_else(|| panic!("{schema}")).iter().flat_map(keys).collect()
}

/// Returns the fields that functions of a source file read: the first string of each call.
fn read_by(path: &str, functions: &[&str]) -> BTreeSet<String> {
    let source = read(path);
    let body = |name: &&str| {
        let body = source.split(&format!("fn {name}(")).nth(1).unwrap().split("\n}").next().unwrap();
        body.split("fields.")
            .skip(1)
            .filter_map(|call| Some(call.split('"').nth(1)?.to_owned()))
            .collect::<Vec<_>>()
    };
    functions.iter().flat_map(body).collect()
}

/// Returns the strings of a constant list of a source file.
fn listed_in(path: &str, constant: &str) -> BTreeSet<String> {
    let source = read(path);
    let list = source.split(&format!("const {constant}:")).nth(1).unwrap().split("];").next().unwrap();
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Returns the fields of a format, as published.
fn published(format: &str, document: &Value) -> BTreeSet<String> {
    const RULES: &str = "crates/registry/src/package/rules";
    let schema = |name: &str| keys(&document["components"]["schemas"][name]);
    match format {
        "task" | "graph" => {
            let schema: Value = serde_json::from_str(&read("docs/reference/tasks.schema.json")).unwrap();
            keys(&schema["$defs"][format])
        }
        "module" => {
            let page = read("docs/modules.md");
            let table = page.split("## Reference: fields").nth(1).unwrap().split("\n\n").nth(1).unwrap();
            let cells = table.lines().skip(2).filter_map(|line| line.split('|').nth(1));
            cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
        }
        // Settings, components and controls are documents of their owners. The checks of packages name the fields.
        "setting" => {
            let mut fields = read_by(&format!("{RULES}/settings.rs"), &["attribute"]);
            // Shown to the operator only.
            assert!(fields.remove("description"));
            fields.insert("always_editable".to_owned());
            fields
        }
        "component" => {
            let mut fields = read_by(&format!("{RULES}/components.rs"), &["component"]);
            let predicates = ["any_of", "all_of", "one_of", "none_of", "items", "message", "message_invalid"];
            fields.extend(predicates.map(str::to_owned));
            fields
        }
        "control" => {
            let mut fields = read_by(&format!("{RULES}/wizard.rs"), &["control", "common"]);
            fields.extend(["value", "weight"].map(str::to_owned));
            fields
        }
        "RoleMeta" => {
            let mut fields = schema(format);
            fields.extend(listed_in("crates/api-types/src/metadata.rs", "ROLE_FIELDS"));
            fields
        }
        "ReleaseBody" | "PluginBody" => {
            let resource = if format == "ReleaseBody" { "releases" } else { "plugins" };
            let mut fields = schema(format);
            fields.extend(listed_in(&format!("crates/api-types/src/{resource}.rs"), "STORED"));
            fields
        }
        "NewGraphBody" => BTreeSet::new(),
        name => schema(name),
    }
}

/// Words of which one begins the row of the page about fields without effect.
fn subject(format: &str) -> &str {
    match format {
        "ReleaseBody" => "release",
        "PluginBody" => "plugin",
        "RoleMeta" => "role",
        "NewClusterBody" | "ClusterBody" => "cluster",
        "NewNodeBody" | "NodeBody" | "ReportBody" => "node",
        "query" => "module API",
        other => other,
    }
}

/// Returns the names of the schemas that request bodies refer to.
fn request_schemas(document: &Value) -> BTreeSet<String> {
    fn collect(value: &Value, names: &mut BTreeSet<String>) {
        match value {
            Value::Object(map) => {
                let name = map.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
                names.extend(name.map(str::to_owned));
                map.values().for_each(|value| collect(value, names));
            }
            Value::Array(items) => items.iter().for_each(|value| collect(value, names)),
            _ => {}
        }
    }
    let mut names = BTreeSet::new();
    let items = document["paths"].as_object().unwrap().values();
    for operation in items.flat_map(|item| item.as_object().unwrap().values()) {
        collect(&operation["requestBody"], &mut names);
    }
    names
}

#[test]
fn every_published_field_has_an_effect_or_a_documented_reason() {
    let document = serde_json::to_value(stoker_server::openapi_document()).unwrap();
    let page = read("docs/fuel.md");
    let reasons =
        page.split("## Reference: fields without effect").nth(1).unwrap().split("\n## ").next().unwrap();
    let reasons: Vec<&str> = reasons.lines().filter(|line| line.starts_with("| ")).collect();
    let is_documented = |format: &str, field: &str| {
        let mut rows = reasons.iter().filter(|row| row.contains(&format!("`{field}`")));
        rows.any(|row| row.split('|').nth(1).is_some_and(|cell| cell.contains(subject(format))))
    };
    let tests = test_functions();
    let mut problems = Vec::new();
    // The test of a query parameter sends it, so that its text names it. Other tests may share fixtures of their file.
    let shows = |format: &str, field: &str, name: &str| {
        let key = field.rsplit('.').next().unwrap_or(field);
        let names_it = |test: &functions::TestFunction| {
            (if format == "query" { &test.text } else { &test.file }).contains(key)
        };
        tests.get(name).is_some_and(|found| found.iter().any(names_it))
    };
    let mut check = |format: &str, rows: &[(&str, Proof)], published: &BTreeSet<String>| {
        let listed: BTreeSet<String> = rows.iter().map(|(field, _)| (*field).to_owned()).collect();
        problems.extend(published.difference(&listed).map(|field| format!("{format}: no row for `{field}`")));
        problems.extend(
            listed.difference(published).map(|field| format!("{format}: `{field}` is not published")),
        );
        for (field, proof) in rows {
            match proof {
                Proof::Test(name) if !shows(format, field, name) => {
                    problems.push(format!("{format}.{field}: no test `{name}` that names it"));
                }
                Proof::Documented if !is_documented(format, field) => {
                    problems.push(format!("{format}.{field}: not among the fields without effect"));
                }
                Proof::Test(_) | Proof::Documented => {}
            }
        }
    };
    let mut formats: BTreeSet<String> = request_schemas(&document);
    formats.extend(DOCUMENTS.iter().chain(BODIES).map(|(format, _)| (*format).to_owned()));
    for format in formats.iter().filter(|format| !FREE.iter().any(|(free, _)| free == format)) {
        let rows = DOCUMENTS.iter().chain(BODIES).find(|(known, _)| known == format);
        let mut fields = published(format, &document);
        for (_, base) in EXTENDED.iter().filter(|(extended, _)| extended == format) {
            let base = published(base, &document);
            fields.retain(|field| !base.contains(field));
        }
        check(format, rows.map_or(&[], |(_, rows)| rows), &fields);
    }
    let operations =
        document["paths"].as_object().unwrap().values().flat_map(|item| item.as_object().unwrap().values());
    let parameters =
        operations.flat_map(|operation| operation["parameters"].as_array().into_iter().flatten());
    let queries = parameters.filter(|parameter| parameter["in"] == "query");
    let queries = queries.map(|parameter| parameter["name"].as_str().unwrap().to_owned()).collect();
    check("query", QUERIES, &queries);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
