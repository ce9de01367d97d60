//! CPU time and memory of a process, from `/proc`.

use std::error::Error;

/// `USER_HZ`, which is 100 on every Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// Returns the CPU seconds of all threads.
pub(crate) fn cpu_seconds(id: u32) -> Result<f64, Box<dyn Error>> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat"))?;
    // The program name may contain spaces.
    let (_, rest) = stat.rsplit_once(')').ok_or("a process without a name")?;
    let ticks = |field: usize| -> Result<f64, Box<dyn Error>> {
        Ok(rest.split_whitespace().nth(field).ok_or("a process without times")?.parse()?)
    };
    Ok((ticks(11)? + ticks(12)?) / TICKS_PER_SECOND)
}

/// Returns the CPU seconds of a process and its direct children.
pub(crate) fn cpu_seconds_below(id: u32) -> Result<f64, Box<dyn Error>> {
    let mut sum = cpu_seconds(id)?;
    let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"))?;
    for child in children.split_whitespace() {
        // A child may have exited meanwhile.
        sum += cpu_seconds(child.parse()?).unwrap_or_default();
    }
    Ok(sum)
}

/// Returns the current resident memory.
pub(crate) fn resident_mib(id: u32) -> Result<f64, Box<dyn Error>> {
    status_mib(id, "VmRSS:")
}

/// Returns the peak resident memory.
pub(crate) fn peak_mib(id: u32) -> Result<f64, Box<dyn Error>> {
    status_mib(id, "VmHWM:")
}

fn status_mib(id: u32, key: &str) -> Result<f64, Box<dyn Error>> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    let kib: f64 = line.and_then(|line| line.split_whitespace().next()).ok_or("no such memory")?.parse()?;
    Ok(kib / 1024.0)
}
