//! Runs as a whole: what a server with its database manages a second, what real agents add to starting a program, and
//! how many agents one server holds.

mod memory;
mod rates;
mod sessions;

use std::error::Error;
use std::path::Path;

use crate::row::Row;

pub(crate) async fn measure(program: &Path) -> Result<Vec<Row>, Box<dyn Error>> {
    let mut rows = rates::measure(program).await?;
    rows.extend(sessions::measure(program).await?);
    Ok(rows)
}

/// The address of a network card, different for each number.
fn mac(number: usize) -> String {
    format!("52:54:00:{:02x}:{:02x}:{:02x}", number >> 16, number >> 8 & 0xff, number & 0xff)
}
