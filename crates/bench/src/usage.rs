//! What a process has used of the machine, as the kernel counts it.

use std::error::Error;

/// Of the kernel's own counting, a hundredth of a second on every Linux.
const TICKS_A_SECOND: f64 = 100.0;

/// Seconds of processor time so far, of all threads.
pub(crate) fn cpu_seconds(id: u32) -> Result<f64, Box<dyn Error>> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat"))?;
    // The name of the program may have spaces in it.
    let (_, rest) = stat.rsplit_once(')').ok_or("a process without a name")?;
    let ticks = |place: usize| -> Result<f64, Box<dyn Error>> {
        Ok(rest.split_whitespace().nth(place).ok_or("a process without times")?.parse()?)
    };
    Ok((ticks(11)? + ticks(12)?) / TICKS_A_SECOND)
}

/// The same of a process and those that it started.
pub(crate) fn cpu_seconds_below(id: u32) -> Result<f64, Box<dyn Error>> {
    let mut sum = cpu_seconds(id)?;
    let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"))?;
    for child in children.split_whitespace() {
        // One that has just ended is forgotten.
        sum += cpu_seconds(child.parse()?).unwrap_or_default();
    }
    Ok(sum)
}

/// Memory it has in use now.
pub(crate) fn resident_mib(id: u32) -> Result<f64, Box<dyn Error>> {
    status_mib(id, "VmRSS:")
}

/// The most it ever had in use.
pub(crate) fn peak_mib(id: u32) -> Result<f64, Box<dyn Error>> {
    status_mib(id, "VmHWM:")
}

fn status_mib(id: u32, what: &str) -> Result<f64, Box<dyn Error>> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(what));
    let kib: f64 = line.and_then(|line| line.split_whitespace().next()).ok_or("no such memory")?.parse()?;
    Ok(kib / 1024.0)
}
