//! Servers that share a database and a bus.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use stoker_client::{Address, Client, Json, RestRequest};

use crate::Outcome;
use crate::process::Process;

const PASSWORD: &str = "cluster-demo";
/// Startup timeout, generous for slow machines.
const START_TIMEOUT: Duration = Duration::from_mins(1);
const POLL_INTERVAL: Duration = Duration::from_millis(100);

pub(crate) struct Server {
    pub(crate) name: String,
    pub(crate) url: String,
    process: Option<Process>,
}

pub(crate) struct Group {
    servers: Vec<Server>,
    clients: Vec<Client>,
    folder: PathBuf,
}

impl Group {
    pub(crate) fn start(
        program: &Path,
        folder: &Path,
        database_url: &str,
        nats_url: &str,
        n_servers: usize,
    ) -> Outcome<Self> {
        let mut servers = Vec::new();
        for number in 1..=n_servers {
            let name = format!("server-{number}");
            let listen = free_address(number)?;
            let mut command = Command::new(program);
            command.args(["serve", "--listen", &listen, "--nats", nats_url, "--name", &name]);
            // Plugin packages and encryption keys are shared by all servers.
            command
                .env("XDG_DATA_HOME", folder.join("data"))
                .env("STOKER_DATABASE_URL", database_url)
                .env("STOKER_ADMIN_PASSWORD", PASSWORD)
                .env("STOKER_LOG", "info");
            let process = Process::start(&mut command, &folder.join(format!("{name}.log")))?;
            servers.push(Server { name, url: format!("http://{listen}"), process: Some(process) });
        }
        let mut clients = Vec::new();
        for server in &mut servers {
            clients.push(log_in(server)?);
        }
        Ok(Self { servers, clients, folder: folder.to_owned() })
    }

    pub(crate) fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// Returns a client of this server, or of another one if it is dead.
    pub(crate) fn client(&self, preferred: usize) -> Client {
        let alive = |at: &usize| self.servers[*at].process.is_some();
        let n_servers = self.servers.len();
        let at = (0..n_servers).map(|step| (preferred + step) % n_servers).find(alive).unwrap_or(0);
        self.clients[at].clone()
    }

    pub(crate) fn logs(&self) -> String {
        self.folder.display().to_string()
    }

    pub(crate) fn kill(&mut self, at: usize) {
        if let Some(mut process) = self.servers[at].process.take() {
            process.kill();
        }
    }

    /// Returns the server that drives the run.
    pub(crate) fn driver_of(&self, run: i64) -> Outcome<usize> {
        self.driver(run)?.ok_or_else(|| format!("run {run} has no driver"))
    }

    /// Waits until another server has taken over the run.
    pub(crate) fn await_takeover(&self, run: i64, former: usize, timeout: Duration) -> Outcome<usize> {
        let started_at = Instant::now();
        while started_at.elapsed() < timeout {
            if let Some(successor) = self.driver(run)?
                && successor != former
            {
                return Ok(successor);
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        Err(format!("no server took over run {run} within {} s; see {}", timeout.as_secs(), self.logs()))
    }

    fn driver(&self, run: i64) -> Outcome<Option<usize>> {
        let servers =
            self.client(0).json(&RestRequest::get("/api/v1/servers")).map_err(|error| error.to_string())?;
        let drives = |server: &&Json| {
            server["runs"].as_array().is_some_and(|runs| runs.iter().any(|id| id.as_i64() == Some(run)))
        };
        let driver = servers.as_array().and_then(|servers| servers.iter().find(drives));
        let name = driver.and_then(|server| server["name"].as_str());
        Ok(name.and_then(|name| self.servers.iter().position(|server| server.name == name)))
    }
}

fn log_in(server: &mut Server) -> Outcome<Client> {
    let address = Address::parse(&server.url).map_err(|error| error.to_string())?;
    let client = Client::new(address, None).map_err(|error| error.to_string())?;
    let started_at = Instant::now();
    loop {
        match client.log_in("admin", PASSWORD, None) {
            Ok(login) => return Ok(client.with_token(Some(login.token))),
            Err(error) => {
                let is_dead = server.process.as_mut().is_none_or(Process::has_ended);
                if is_dead || started_at.elapsed() > START_TIMEOUT {
                    return Err(format!("{} does not start: {error}", server.name));
                }
            }
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Returns a free address. Uses ports below the ephemeral range, so that a reconnecting agent is not assigned
/// the port of a dead server. Each server searches a separate range, because the previous server may not
/// listen yet.
fn free_address(number: usize) -> Outcome<String> {
    let first = 14_000 + (std::process::id() % 1400) as u16 * 10 + number as u16 * 1000;
    (first..first + 1000)
        .map(|port| format!("127.0.0.1:{port}"))
        .find(|address| TcpListener::bind(address).is_ok())
        .ok_or_else(|| "no free port".to_owned())
}
