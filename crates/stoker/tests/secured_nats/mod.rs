//! NATS with authentication, as set up by `stoker nats init`.

use std::net::{IpAddr, Ipv4Addr};
use std::process::{Command, Output};

use stoker_testkit::{TempFolder, TestNats};

pub(crate) fn init(folder: &TempFolder) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stoker"));
    command.args(["nats", "init", "--dir"]).arg(folder.file("nats")).output().unwrap()
}

pub(crate) struct SecuredNats {
    pub(crate) nats: TestNats,
    pub(crate) folder: TempFolder,
}

impl SecuredNats {
    /// Starts NATS on loopback; `None` if NATS tests are skipped.
    pub(crate) fn start() -> Option<Self> {
        Self::start_at(Ipv4Addr::LOCALHOST.into())
    }

    /// Starts NATS on an address of this machine.
    pub(crate) fn start_at(address: IpAddr) -> Option<Self> {
        let folder = TempFolder::new();
        let output = init(&folder);
        assert!(output.status.success(), "{output:?}");
        let nats = TestNats::with_config_at(&folder.file("nats/nats-server.conf"), address)?;
        Some(Self { nats, folder })
    }

    /// Returns the options of servers that use this NATS and accept agents over it.
    pub(crate) fn server_options(&self) -> Vec<String> {
        let file = |name: &str| self.folder.file(name).display().to_string();
        let (credentials, keys) = (file("nats/servers.creds"), file("nats/keys.json"));
        ["--nats", &self.nats.url(), "--nats-credentials", &credentials, "--nats-keys", &keys]
            .map(str::to_owned)
            .to_vec()
    }
}
