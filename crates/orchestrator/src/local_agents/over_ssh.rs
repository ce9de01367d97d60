//! Parses and validates the node attributes for agents over SSH.
//!
//! A node with `transport: ssh` is reached over SSH. The map `ssh` configures the connection: `host`
//! (default: the node's address), `user`, `port`, `options`, `program` (path of `stoker` on the node),
//! `state` (directory of the agent's journal on the node) and `hooks`.

use stoker_diagnostics::Diagnostic;
use stoker_model::{Json, JsonMap, Node};

use super::AgentPlace;

/// Hooks that a node supports: operations that only its operator can implement.
const HOOKS: &[&str] = &["erase_node", "reboot"];

/// Returns the location of the agent of a node reached over SSH; `None` if the agent of the node connects by
/// itself. On failure, returns all validation errors.
pub fn parse_ssh_location(node: &Node) -> Result<Option<AgentPlace>, Vec<Diagnostic>> {
    let mut reading = Reading::default();
    let is_meant = match present(&node.attributes, "transport") {
        None => false,
        Some(value) if value == "ssh" => true,
        Some(_) => {
            let why = "`transport` must be `ssh`, or absent if the agent connects to the server";
            reading.wrong("transport", why);
            false
        }
    };
    let place = reading.place(node);
    match (reading.problems.is_empty(), is_meant) {
        (false, _) => Err(reading.problems),
        (true, true) => Ok(Some(place)),
        (true, false) => Ok(None),
    }
}

/// Returns a value that is not null. Attributes are merged, so a null value means that the key is unset.
fn present<'m>(map: &'m JsonMap, key: &str) -> Option<&'m Json> {
    map.get(key).filter(|value| !value.is_null())
}

#[derive(Default)]
struct Reading {
    problems: Vec<Diagnostic>,
}

const SSH_KEYS: &[&str] = &["host", "user", "port", "options", "program", "state", "hooks"];

impl Reading {
    fn wrong(&mut self, place: impl Into<String>, message: impl Into<String>) {
        self.problems.push(Diagnostic::plain(message).path(place));
    }

    fn place(&mut self, node: &Node) -> AgentPlace {
        let empty = JsonMap::new();
        let ssh = match present(&node.attributes, "ssh") {
            None => &empty,
            Some(Json::Object(map)) => map,
            Some(_) => {
                self.wrong("ssh", format!("`ssh` must be a map with some of {}", SSH_KEYS.join(", ")));
                &empty
            }
        };
        for key in ssh.keys().filter(|key| !SSH_KEYS.contains(&key.as_str())) {
            self.wrong(
                format!("ssh.{key}"),
                format!("unknown key `ssh.{key}`; supported keys: {}", SSH_KEYS.join(", ")),
            );
        }
        let host =
            self.word(ssh, "host").or_else(|| node.ip.clone()).unwrap_or_else(|| node.hostname.clone());
        let destination = match self.word(ssh, "user") {
            Some(user) => format!("{user}@{host}"),
            None => host,
        };
        let mut command = vec![self.text(ssh, "program").unwrap_or_else(|| "stoker".to_owned())];
        command.extend(["agent", "--stdio", "--node", &node.id.to_string()].map(str::to_owned));
        command.extend(self.path(ssh, "state").into_iter().flat_map(|state| ["--state".to_owned(), state]));
        command.extend(self.hooks(ssh).into_iter().flat_map(|hook| ["--hook".to_owned(), hook]));
        AgentPlace::Ssh { destination, port: self.port(ssh), options: self.options(ssh), command }
    }

    fn text(&mut self, ssh: &JsonMap, key: &str) -> Option<String> {
        let value = present(ssh, key)?;
        let text = value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned);
        if text.is_none() {
            self.wrong(format!("ssh.{key}"), format!("`ssh.{key}` must be a non-blank string"));
        }
        text
    }

    /// Reads a component of an SSH destination. A leading dash is rejected, because `ssh` would parse it as
    /// an option.
    fn word(&mut self, ssh: &JsonMap, key: &str) -> Option<String> {
        let text = self.text(ssh, key)?;
        if text.starts_with('-') || text.contains(char::is_whitespace) {
            let why = format!("`ssh.{key}` must be a single word that does not start with `-`");
            self.wrong(format!("ssh.{key}"), why);
        }
        Some(text)
    }

    fn path(&mut self, ssh: &JsonMap, key: &str) -> Option<String> {
        let text = self.text(ssh, key)?;
        if !text.starts_with('/') {
            self.wrong(format!("ssh.{key}"), format!("`ssh.{key}` must be an absolute path"));
        }
        Some(text)
    }

    fn port(&mut self, ssh: &JsonMap) -> Option<u16> {
        let value = present(ssh, "port")?;
        let port = value.as_u64().and_then(|port| u16::try_from(port).ok()).filter(|port| *port > 0);
        if port.is_none() {
            self.wrong("ssh.port", "`ssh.port` must be a number from 1 to 65535");
        }
        port
    }

    fn options(&mut self, ssh: &JsonMap) -> Vec<String> {
        let Some(value) = present(ssh, "options") else { return Vec::new() };
        let items = value.as_array().map(Vec::as_slice);
        let texts =
            items.and_then(|items| items.iter().map(|item| item.as_str().map(str::to_owned)).collect());
        texts.unwrap_or_else(|| {
            self.wrong("ssh.options", "`ssh.options` must be a list of strings, one argument of `ssh` each");
            Vec::new()
        })
    }

    fn hooks(&mut self, ssh: &JsonMap) -> Vec<String> {
        let empty = JsonMap::new();
        let hooks = match present(ssh, "hooks") {
            None => &empty,
            Some(Json::Object(map)) => map,
            Some(_) => {
                self.wrong(
                    "ssh.hooks",
                    format!(
                        "`ssh.hooks` must be a map from hook names ({}) to absolute paths",
                        HOOKS.join(", ")
                    ),
                );
                &empty
            }
        };
        let mut pairs = Vec::new();
        for (name, path) in hooks.iter().filter(|(_, path)| !path.is_null()) {
            let place = format!("ssh.hooks.{name}");
            if !HOOKS.contains(&name.as_str()) {
                let why = format!("unknown hook `{name}`; supported hooks: {}", HOOKS.join(", "));
                self.wrong(place, why);
            } else if let Some(path) = path.as_str().filter(|path| path.starts_with('/')) {
                pairs.push(format!("{name}={path}"));
            } else {
                self.wrong(place.as_str(), format!("`{place}` must be an absolute path"));
            }
        }
        pairs
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use stoker_model::{Micros, NodeId, NodeStatus};

    use super::*;

    fn node(attributes: &Json) -> Node {
        Node {
            id: NodeId(7),
            generation: 1,
            cluster_id: None,
            name: "seven".to_owned(),
            mac: "52:54:00:00:00:07".to_owned(),
            ip: Some("10.0.0.7".to_owned()),
            hostname: "node-7".to_owned(),
            status: NodeStatus::Discover,
            online: true,
            roles: Vec::new(),
            pending_roles: Vec::new(),
            pending_addition: false,
            pending_deletion: false,
            error_type: None,
            error_msg: None,
            progress: 0,
            group_id: None,
            manufacturer: None,
            platform_name: None,
            os_platform: None,
            kernel_params: None,
            labels: JsonMap::new(),
            meta: JsonMap::new(),
            attributes: attributes.as_object().cloned().unwrap_or_default(),
            facts: JsonMap::new(),
            agent_checksum: None,
            last_seen_at: None,
            created_at: Micros(0),
            instance_options: JsonMap::new(),
        }
    }

    #[test]
    fn ssh_attributes_configure_the_agent_command() {
        for by_itself in [json!({}), json!({"transport": null, "ssh": null}), json!({"ssh": {"port": 22}})] {
            assert_eq!(parse_ssh_location(&node(&by_itself)), Ok(None));
        }
        let reached = |attributes: Json| match parse_ssh_location(&node(&attributes)) {
            Ok(Some(AgentPlace::Ssh { destination, port, options, command })) => {
                (destination, port, options, command.join(" "))
            }
            other => panic!("not over SSH: {other:?}"),
        };
        assert_eq!(
            reached(json!({"transport": "ssh"})),
            ("10.0.0.7".to_owned(), None, Vec::new(), "stoker agent --stdio --node 7".to_owned())
        );
        let ssh = json!({"host": "gate", "user": "root", "port": 2222, "options": ["-i", "/key"],
            "program": "/opt/stoker", "state": "/var/s", "hooks": {"erase_node": "/opt/erase", "reboot": null}});
        let options = vec!["-i".to_owned(), "/key".to_owned()];
        let command =
            "/opt/stoker agent --stdio --node 7 --state /var/s --hook erase_node=/opt/erase".to_owned();
        let expected = ("root@gate".to_owned(), Some(2222), options, command);
        assert_eq!(reached(json!({"transport": "ssh", "ssh": ssh})), expected);
    }

    #[test]
    fn every_validation_error_names_its_attribute() {
        let cases: &[(Json, &[&str])] = &[
            (json!({"transport": "shh"}), &["transport"]),
            (json!({"transport": 5, "ssh": "root@gate"}), &["transport", "ssh"]),
            (json!({"transport": "ssh", "ssh": {"hots": "a", "port": "22"}}), &["ssh.hots", "ssh.port"]),
            (json!({"ssh": {"port": 65_536, "options": "-v"}}), &["ssh.port", "ssh.options"]),
            (json!({"ssh": {"port": 0, "options": ["-v", 1]}}), &["ssh.port", "ssh.options"]),
            (json!({"ssh": {"host": "-oProxyCommand=x", "user": "a b"}}), &["ssh.host", "ssh.user"]),
            (
                json!({"ssh": {"host": " ", "program": 1, "state": "var"}}),
                &["ssh.host", "ssh.program", "ssh.state"],
            ),
            (json!({"ssh": {"hooks": ["x"]}}), &["ssh.hooks"]),
            (
                json!({"ssh": {"hooks": {"dance": "/x", "reboot": "x"}}}),
                &["ssh.hooks.dance", "ssh.hooks.reboot"],
            ),
        ];
        for (attributes, expected) in cases {
            let problems = parse_ssh_location(&node(attributes)).unwrap_err();
            let paths: Vec<&str> = problems.iter().map(|problem| problem.location.path.as_str()).collect();
            assert_eq!(paths, *expected, "{attributes}: {problems:?}");
        }
    }
}
