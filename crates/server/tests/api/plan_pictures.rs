//! Diagrams of plans and merged graphs.

use serde_json::json;

use crate::plans::prepared_server;

#[tokio::test]
async fn plan_diagram_supports_formats_and_filters() {
    let server = prepared_server().await;
    server.post("clusters/1/plans", &json!({})).await.expect(201);
    for (query, media, included, excluded) in [
        ("", "image/svg+xml", "<svg", "digraph"),
        ("?format=dot", "text/vnd.graphviz", "reads-debug", "flowchart"),
        ("?format=dot&task=always", "text/vnd.graphviz", "always", "reads-debug"),
        ("?format=dot&node=1", "text/vnd.graphviz", "reads-password", "always"),
        ("?format=dot&runs_only=1", "text/vnd.graphviz", "always", "legacy"),
        ("?format=dot&parents_of=always", "text/vnd.graphviz", "reads-debug", "legacy"),
        ("?format=mermaid", "text/vnd.mermaid", "flowchart", "digraph"),
        ("?format=dot&graph=tasks", "text/vnd.graphviz", "yellowgreen", "flowchart"),
    ] {
        let reply = server.get(&format!("plans/1/picture{query}")).await;
        assert_eq!((reply.status, reply.header("content-type")), (200, media), "{query}");
        assert!(reply.header("content-security-policy").contains("default-src 'none'"));
        let text = reply.body.as_str().unwrap();
        assert!(text.contains(included) && !text.contains(excluded), "{query}: {text}");
    }
    for query in [
        "format=png",
        "graph=cities",
        "runs_only=perhaps",
        "graph=tasks&runs_only=1",
        "graph=tasks&node=1",
        "task=nobody",
        "graph=tasks&task=nobody",
        "parents_of=nobody",
    ] {
        let message = server.get(&format!("plans/1/picture?{query}")).await.expect_error(400);
        assert!(!message.is_empty(), "{query}");
    }
    assert_eq!(server.get("plans/9/picture").await.expect_error(404), "Plan not found");
}

#[tokio::test]
async fn merged_graph_is_rendered_as_dot() {
    let server = prepared_server().await;
    let path = "clusters/1/deploy_tasks/graph.gv";
    let reply = server.get(path).await;
    assert_eq!((reply.status, reply.header("content-type")), (200, "text/vnd.graphviz"));
    let text = reply.body.as_str().unwrap();
    assert!(text.starts_with("strict digraph") && text.contains("deploy_start"), "{text}");
    let parents = server.get(&format!("{path}?parents_for=always&remove=stage")).await.expect(200);
    let parents = parents.as_str().unwrap();
    assert!(parents.contains("reads-debug") && !parents.contains("legacy"), "{parents}");
    for (query, message) in [
        ("tasks=always,nobody", "Tasks nobody are not present in deployment graph"),
        ("parents_for=nobody", "Task nobody is not present in graph"),
        ("remove=shell", "Task types shell do not exist"),
        ("graph_type=no/type", "type"),
    ] {
        let error = server.get(&format!("{path}?{query}")).await.expect_error(400);
        assert!(error.contains(message), "{query}: {error}");
    }
    server.get("clusters/9/deploy_tasks/graph.gv").await.expect_error(404);
}
