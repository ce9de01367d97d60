use std::path::PathBuf;

use stoker_tls::{CertificateAuthority, TlsError, Validity};

use crate::host::unix_seconds;
use crate::printer::Printer;

/// Create a certificate authority
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The folder contains `ca.pem`, which is public, and `ca-key.pem`, which only servers may read. An existing authority is
never overwritten, because that would invalidate all certificates it has issued.

Examples:
  stoker ca init --dir /etc/stoker/ca
  stoker ca init --dir /etc/stoker/ca --name 'Stoker of the second floor' --days 3650")]
pub(super) struct Args {
    /// Folder of the authority; created if it does not exist
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,

    /// Common name of the authority certificate
    #[arg(long, value_name = "NAME", default_value = "Stoker", value_parser = name)]
    name: String,

    /// Validity in days
    #[arg(long, value_name = "DAYS", default_value_t = 3650, value_parser = clap::value_parser!(i64).range(1..=36500))]
    days: i64,
}

/// Maximum length of a common name (RFC 5280).
const NAME_MAX: usize = 64;

fn name(text: &str) -> Result<String, String> {
    let is_valid =
        !text.trim().is_empty() && text.chars().count() <= NAME_MAX && !text.contains(char::is_control);
    if is_valid { Ok(text.to_owned()) } else { Err(format!("expected 1 to {NAME_MAX} printable characters")) }
}

pub(super) fn run(args: &Args, printer: &mut Printer) -> Result<(), TlsError> {
    let validity = Validity::from_now(unix_seconds(), args.days * 86_400);
    let authority = CertificateAuthority::create(&args.dir, &args.name, validity)?;
    let dir = args.dir.display();
    printer
        .note(&format!("created a certificate authority in {dir}, valid until {}", validity.expiry_date()));
    printer.note(&format!("  {}", authority.fingerprint()));
    printer.note(&format!("next: start the server with `stoker serve --ca-dir {dir}`"));
    Ok(())
}
