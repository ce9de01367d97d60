//! Comparison with ansible-core: the same processes on local hosts, without SSH and fact gathering.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::row::{Limit, Row};

/// Number of hosts: sufficient to keep all cores busy for a few seconds.
const N_HOSTS: usize = 16;
const N_TASKS: usize = 5;
const TIMES_FASTER_MIN: f64 = 20.0;

/// Processes per second of ansible-core, and the factor by which `ours` is faster.
pub(super) fn measure(playbook: &Path, ours: f64) -> Result<Vec<Row>, Box<dyn Error>> {
    let theirs = rate(playbook)?;
    Ok(vec![
        Row::new(
            format!("the same by ansible-core with {N_HOSTS} hosts"),
            theirs,
            "a second",
            Limit::AtLeast(0.0),
        ),
        Row::new(
            "real agents compared with ansible-core",
            ours / theirs,
            "x",
            Limit::AtLeast(TIMES_FASTER_MIN),
        ),
    ])
}

fn rate(playbook: &Path) -> Result<f64, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let python = playbook.with_file_name("python");
    let mut inventory = String::from("[all]\n");
    for number in 0..N_HOSTS {
        writeln!(
            inventory,
            "host-{number} ansible_connection=local ansible_python_interpreter={}",
            python.display()
        )?;
    }
    let mut play = String::from("- hosts: all\n  gather_facts: false\n  strategy: free\n  tasks:\n");
    for number in 0..N_TASKS {
        writeln!(play, "    - {{name: task-{number}, ansible.builtin.command: /bin/true}}")?;
    }
    std::fs::write(folder.path().join("hosts"), inventory)?;
    std::fs::write(folder.path().join("play.yml"), play)?;
    let since = Instant::now();
    let status = Command::new(playbook)
        .current_dir(folder.path())
        .env("HOME", folder.path())
        .env("ANSIBLE_HOME", folder.path().join("ansible"))
        .args(["--inventory", "hosts", "--forks", &N_HOSTS.to_string(), "play.yml"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()?;
    if !status.success() {
        return Err(format!("`{}` failed: {status}", playbook.display()).into());
    }
    Ok((N_HOSTS * N_TASKS) as f64 / since.elapsed().as_secs_f64())
}
