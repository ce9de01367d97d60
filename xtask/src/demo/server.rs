//! The server at work: three layers of a graph, merged and checked, then deployed, over REST.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::deploy;
use crate::failure::{Context as _, Failure, Outcome};
use crate::terminal::{Style, paint};

const EXAMPLES: &str = "examples/demo";
const PASSWORD: &str = "demo";

pub(super) fn run(root: &Path, program: &Path, folder: &Path) -> Outcome {
    println!();
    println!(
        "{}",
        paint(
            Style::Bold,
            "Stoker: graphs in layers, planned and deployed, on a server with embedded defaults"
        )
    );
    let server = Server::start(program, folder)?;
    println!("stoker serve listens on {}, its data is in {}", server.base, folder.display());
    let api = Api::log_in(&server.base)?;
    let example = |name: &str| {
        let path = root.join(EXAMPLES).join(name);
        std::fs::read_to_string(&path).context(format!("cannot read `{}`", path.display()))
    };

    step("A release brings roles, settings and a graph", "POST releases < examples/demo/release.yaml");
    let release = api.create("releases", &example("release.yaml")?)?;
    step("A plugin adds a task and changes another", "POST plugins < examples/demo/plugin.yaml");
    let plugin = api.create("plugins", &example("plugin.yaml")?)?;
    step(
        "A cluster of that release enables the plugin and has its own opinion",
        "POST clusters; PUT …/attributes",
    );
    let cluster = api.create("clusters", &json!({"name": "shop", "release_id": release}).to_string())?;
    let enable = json!({"editable": {"monitoring": {
        "metadata": {"class": "plugin", "enabled": true, "chosen_id": plugin}}}});
    api.call("PUT", &format!("clusters/{cluster}/attributes"), &enable.to_string())?;
    let own = format!("clusters/{cluster}/deployment_graphs/default");
    api.call("PUT", &own, &example("cluster-graph.yaml")?)?;

    step("What the cluster runs, and who said so", "GET clusters/1/deployment_tasks?provenance=1");
    show_merged(&api.call("GET", &format!("clusters/{cluster}/deployment_tasks?provenance=1"), "")?);
    step(
        "A graph with mistakes is told all of them, and nothing is stored",
        "PUT < examples/demo/broken-graph.yaml",
    );
    show_problems(&api.refused("PUT", &own, &example("broken-graph.yaml")?)?);
    deploy::run(&api, cluster)?;
    step("Who did all this?", "GET audit?limit=4");
    for entry in api.call("GET", "audit?limit=4", "")?.as_array().into_iter().flatten() {
        println!("  {} {} {}", text(&entry["user_name"]), text(&entry["action"]), text(&entry["target"]));
    }
    Ok(())
}

pub(super) fn step(title: &str, request: &str) {
    println!();
    println!("{}", paint(Style::Bold, title));
    println!("{}", paint(Style::Dim, &format!("$ {request}")));
}

fn show_merged(tasks: &Value) {
    for task in tasks.as_array().into_iter().flatten() {
        println!("  {}", text(&task["id"]));
        for (field, from) in task["provenance"].as_object().into_iter().flatten() {
            let plugin = from["plugin"].as_str().map(|name| format!(" {name}")).unwrap_or_default();
            let losers: Vec<&str> =
                from["overrides"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let over =
                if losers.is_empty() { String::new() } else { format!(", over {}", losers.join(", ")) };
            println!("    {field:<14} {:<48} {}{plugin}{over}", short(&task[field]), text(&from["layer"]));
        }
    }
}

fn show_problems(answer: &Value) {
    for error in answer["errors"].as_array().into_iter().flatten() {
        let line = error["line"].as_u64().map(|line| format!("line {line}: ")).unwrap_or_default();
        println!("  {line}{}", text(&error["message"]));
        if let Some(help) = error["help"].as_str() {
            println!("    {}", paint(Style::Dim, help));
        }
    }
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() > 46 { text.chars().take(45).chain(['…']).collect() } else { text }
}

/// A server that ends with this value.
struct Server {
    child: Child,
    base: String,
}

impl Server {
    fn start(program: &Path, folder: &Path) -> Outcome<Self> {
        let mut child = Command::new(program)
            .args(["serve", "--local-agents", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(folder)
            .env("STOKER_ADMIN_PASSWORD", PASSWORD)
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot start `stoker serve`")?;
        let stderr = child.stderr.take();
        let mut server = Self { child, base: String::new() };
        let mut lines =
            stderr.map(BufReader::new).into_iter().flat_map(BufReader::lines).map_while(Result::ok);
        for line in lines.by_ref() {
            if let Some((_, rest)) = line.split_once("listens on ") {
                rest.split_whitespace().next().unwrap_or_default().clone_into(&mut server.base);
                // Whoever stops reading makes the other one wait when it logs.
                std::thread::spawn(move || lines.for_each(drop));
                return Ok(server);
            }
        }
        Err(Failure::new("`stoker serve` ended before it listened"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already; then there is nothing to end.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

pub(super) struct Api {
    agent: ureq::Agent,
    base: String,
    token: String,
}

impl Api {
    fn log_in(base: &str) -> Outcome<Self> {
        let agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let api = Self { agent, base: base.to_owned(), token: String::new() };
        let body = json!({"auth": {"passwordCredentials": {"username": "admin", "password": PASSWORD}}});
        let (_, answer) = api.send("POST", "/keystone/v2.0/tokens", &body.to_string())?;
        let token = answer.pointer("/access/token/id").and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok(Self { token, ..api })
    }

    /// A request that must succeed.
    pub(super) fn call(&self, method: &str, path: &str, body: &str) -> Outcome<Value> {
        match self.send(method, &format!("/api/v1/{path}"), body)? {
            (200..300, answer) => Ok(answer),
            (status, answer) => Err(Failure::new(format!("{method} {path}: {status} {answer}"))),
        }
    }

    /// A request that must not.
    fn refused(&self, method: &str, path: &str, body: &str) -> Outcome<Value> {
        match self.send(method, &format!("/api/v1/{path}"), body)? {
            (400, answer) => Ok(answer),
            (status, answer) => Err(Failure::new(format!("{method} {path}: {status} {answer}"))),
        }
    }

    pub(super) fn create(&self, path: &str, body: &str) -> Outcome<i64> {
        let answer = self.call("POST", path, body)?;
        answer["id"].as_i64().ok_or_else(|| Failure::new(format!("POST {path} gave no id")))
    }

    fn send(&self, method: &str, path: &str, body: &str) -> Outcome<(u16, Value)> {
        let kind = if body.starts_with('{') { "application/json" } else { "application/x-yaml" };
        let request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header("x-auth-token", &self.token)
            .header("content-type", kind)
            .body(body.to_owned())
            .context("the demo made a request that is none")?;
        let mut response = self.agent.run(request).context("the server does not answer")?;
        let text = response.body_mut().read_to_string().context("the server broke off")?;
        Ok((response.status().as_u16(), serde_json::from_str(&text).unwrap_or(Value::Null)))
    }
}
