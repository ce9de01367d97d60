//! Invalid graphs and missing owners: reported in one line, and nothing is stored.

use serde_json::json;

use crate::harness::Fuel;

#[test]
fn all_problems_of_an_invalid_graph_are_reported() {
    let fuel = Fuel::with_cluster();
    for (text, expected) in [
        ("", "tasks"),
        ("- {type: shell}", "id"),
        ("- {id: a, type: nonsense}", "nonsense"),
        ("- {id: a, type: stage}\n- {id: a, type: stage}", "Tasks duplication found: a"),
        (
            "- {id: a, type: stage, requires: [b]}\n- {id: b, type: stage, requires: [a]}",
            "dependency cycle: a → b → a",
        ),
        ("- {id: a, type: shell, role: '*', parameters: {cmd: {yaql_exp: '$.'}}}", "yaql"),
        ("{tasks: [{id: a, type: stage}], colour: red}", "colour"),
        ("just words", "tasks"),
    ] {
        fuel.write("wrong.yaml", text);
        for owner in ["-e 1", "-r 1"] {
            let message = fuel.rejected(&format!("graph upload {owner} -t wrong -f wrong.yaml"));
            assert!(message.starts_with("400 Client Error"), "{text}: {message}");
            assert!(message.to_lowercase().contains(&expected.to_lowercase()), "{text}: {message}");
        }
    }
    // Both problems are reported.
    fuel.write("wrong.yaml", "- {id: a, type: nonsense}\n- {id: b, type: folly}");
    let message = fuel.rejected("graph upload -e 1 -t wrong -f wrong.yaml");
    assert!(message.contains("nonsense") && message.contains("folly"), "{message}");
    assert_eq!(fuel.column("graph list -e 1 --cluster", "tasks"), [json!("")]);
}

#[test]
fn missing_owners_and_types_are_rejected() {
    let fuel = Fuel::with_cluster();
    fuel.write("tasks.yaml", "- {id: a, type: stage}");
    for (owner, message) in
        [("-e 9", "Cluster not found"), ("-r 9", "Release not found"), ("-p 9", "Plugin not found")]
    {
        fuel.rejected_with(404, message, &format!("graph upload {owner} -t custom -f tasks.yaml"));
        fuel.rejected_with(404, message, &format!("graph delete {owner} -t custom"));
    }
    for layer in ["--all", "--cluster", "--plugins", "--release"] {
        fuel.rejected_with(404, "Cluster not found", &format!("graph download -e 9 {layer}"));
    }
    fuel.rejected_with(404, "Cluster not found", "graph list -e 9");
    fuel.rejected_with(404, "Graph with type: custom is not defined", "graph delete -e 1 -t custom");
    // The client treats any error text that contains 404, including the name of a type, as "not found".
    fuel.ok("graph upload -e 1 -t cve-404 -f tasks.yaml");
    fuel.rejected_with(404, "", "graph upload -e 1 -t 'no such type' -f tasks.yaml");
}

#[test]
fn client_side_errors_are_reported() {
    let fuel = Fuel::with_cluster();
    assert!(fuel.rejected("graph upload -e 1 -t custom -f missing.yaml").contains("doesn't exist"));
    assert!(fuel.rejected("graph upload -e 1 -t custom -d missing").contains("doesn't exist"));
    fuel.write("empty/readme", "");
    assert!(fuel.rejected("graph upload -e 1 -t custom -d empty").contains("Nothing to upload"));
    for line in [
        "graph upload -t custom -f tasks.yaml",
        "graph upload -e 1 -f tasks.yaml",
        "graph upload -e 1 -r 1 -t custom -f tasks.yaml",
        "graph download -e 1",
        "graph download -e 1 --all --cluster",
        "graph execute -e 1",
        "graph delete -e one -t custom",
    ] {
        assert_eq!(fuel.run(line).code, 2, "{line}");
    }
}
