//! An agent that is started over SSH, on a private server of this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use stoker_agent::ssh::{SshTarget, connect};
use stoker_engine::session::{End, FromAgent, ToAgent};
use stoker_testkit::Folder;

use super::harness::{patient, shell, stoker};

/// An SSH server on loopback that lets one key in; ends when dropped.
struct Sshd {
    folder: Folder,
    port: u16,
    process: std::process::Child,
}

impl Drop for Sshd {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// The program, wherever it is; sshd wants to be called by its whole path.
fn sshd_path() -> Option<PathBuf> {
    ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/sbin/sshd"]
        .iter()
        .map(PathBuf::from)
        .find(|path| path.exists())
}

fn make_key(path: &Path) {
    let status = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path).status();
    assert!(status.unwrap().success());
}

impl Sshd {
    fn start() -> Self {
        let sshd = sshd_path()
            .expect("sshd is missing: `apt-get install openssh-server`, or skip with STOKER_TEST_SKIP=ssh");
        let folder = Folder::new();
        make_key(&folder.file("host_key"));
        make_key(&folder.file("key"));
        fs::copy(folder.file("key.pub"), folder.file("authorized_keys")).unwrap();
        // Needed for the separation of privileges; made by the package where a service manager runs.
        _ = fs::create_dir_all("/run/sshd");
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let at = folder.path().display();
        let config = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {at}/host_key\nAuthorizedKeysFile {at}/authorized_keys\n\
             StrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin yes\n"
        );
        fs::write(folder.file("config"), config).unwrap();
        let process = Command::new(sshd)
            .arg("-D")
            .arg("-f")
            .arg(folder.file("config"))
            .arg("-E")
            .arg(folder.file("log"))
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        Self { folder, port, process }
    }

    fn target(&self, command: Vec<String>) -> SshTarget {
        let mut target = SshTarget::new("127.0.0.1".to_owned(), command);
        target.port = Some(self.port);
        target.options = vec!["-i".to_owned(), self.folder.file("key").display().to_string()];
        for option in [
            "StrictHostKeyChecking=no",
            "UserKnownHostsFile=/dev/null",
            "IdentitiesOnly=yes",
            "LogLevel=ERROR",
        ] {
            target.options.extend(["-o".to_owned(), option.to_owned()]);
        }
        target
    }
}

fn is_skipped() -> bool {
    std::env::var("STOKER_TEST_SKIP").is_ok_and(|skipped| skipped.split(',').any(|name| name == "ssh"))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_messages_go_over_ssh() {
    if is_skipped() {
        return;
    }
    let sshd = Sshd::start();
    let state = sshd.folder.file("a state").display().to_string();
    let program = stoker().display().to_string();
    let command = [program.as_str(), "agent", "--stdio", "--node", "5", "--state", &state].map(str::to_owned);
    let target = sshd.target(command.to_vec());
    // It may take a moment until the server listens.
    let (mut connection, hello) = patient(async {
        loop {
            let mut connection = connect(&target).unwrap();
            match connection.receive.recv().await {
                Some(FromAgent::Hello(hello)) => return (connection, hello),
                Some(other) => panic!("{other:?}"),
                None => {
                    let why = connection.ended.await.unwrap();
                    assert!(
                        why.contains("Connection refused"),
                        "{why}\n{}",
                        fs::read_to_string(sshd.folder.file("log")).unwrap_or_default()
                    );
                }
            }
        }
    })
    .await;
    assert_eq!(hello.node, "5");
    connection.send.send(ToAgent::Start(shell(1, "echo over ssh"))).await.unwrap();
    let mut printed = String::new();
    loop {
        match patient(connection.receive.recv()).await.unwrap() {
            FromAgent::Output { text, .. } => printed.push_str(&text),
            FromAgent::Finished(finished) => {
                assert_eq!(finished.end, End::Succeeded);
                break;
            }
            _ => {}
        }
    }
    assert_eq!(printed, "over ssh\n");
    // A connection that breaks does not end what runs; the next agent waits for it, and tells.
    connection.send.send(ToAgent::Start(shell(2, "sleep 0.5"))).await.unwrap();
    while !matches!(patient(connection.receive.recv()).await.unwrap(), FromAgent::Started { .. }) {}
    drop(connection);
    let mut connection = connect(&target).unwrap();
    let Some(FromAgent::Hello(hello)) = patient(connection.receive.recv()).await else { panic!() };
    let ends: Vec<End> = hello.finished.into_iter().map(|finished| finished.end).collect();
    assert_eq!(ends, [End::Succeeded, End::Succeeded]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_ssh_complains_about_is_told() {
    if is_skipped() {
        return;
    }
    let mut target = SshTarget::new("127.0.0.1".to_owned(), vec!["true".to_owned()]);
    target.port = Some(1);
    let mut connection = connect(&target).unwrap();
    assert_eq!(patient(connection.receive.recv()).await, None);
    let why = patient(connection.ended).await.unwrap();
    assert!(why.contains("Connection refused"), "{why}");
    target.ssh = "/no/such/ssh".into();
    assert!(connect(&target).unwrap_err().to_string().contains("is an SSH client installed?"));
}
