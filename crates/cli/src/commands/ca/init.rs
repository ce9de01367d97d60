use std::path::PathBuf;

use stoker_tls::{Authority, TlsError, Validity};

use crate::host::unix_seconds;
use crate::printer::Printer;

/// Make a certificate authority
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The folder gets `ca.pem`, which everybody may have, and `ca-key.pem`, which only the servers may. One that is there
already is never overwritten: every certificate it has made would be useless.

Examples:
  stoker ca init --dir /etc/stoker/ca
  stoker ca init --dir /etc/stoker/ca --name 'Stoker of the second floor' --days 3650")]
pub(super) struct Args {
    /// The folder, made if it is missing
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,

    /// What the authority is called in its certificate
    #[arg(long, value_name = "NAME", default_value = "Stoker", value_parser = name)]
    name: String,

    /// How long it is good
    #[arg(long, value_name = "DAYS", default_value_t = 3650, value_parser = clap::value_parser!(i64).range(1..=36500))]
    days: i64,
}

/// As long as a common name may be.
const NAME_MAX: usize = 64;

fn name(text: &str) -> Result<String, String> {
    let is_good =
        !text.trim().is_empty() && text.chars().count() <= NAME_MAX && !text.contains(char::is_control);
    if is_good { Ok(text.to_owned()) } else { Err(format!("must have 1 to {NAME_MAX} characters")) }
}

pub(super) fn run(args: &Args, printer: &mut Printer) -> Result<(), TlsError> {
    let validity = Validity::starting(unix_seconds(), args.days * 86_400);
    let authority = Authority::create(&args.dir, &args.name, validity)?;
    let dir = args.dir.display();
    printer.note(&format!("made a certificate authority in {dir}, good until {}", validity.last_day()));
    printer.note(&format!("  {}", authority.fingerprint()));
    printer.note(&format!("next: `stoker serve --ca-dir {dir}`"));
    Ok(())
}
