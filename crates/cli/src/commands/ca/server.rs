use std::path::PathBuf;

use stoker_tls::{Authority, Name, TlsError, Validity, write_private};

use crate::host::unix_seconds;
use crate::printer::Printer;

/// Make a certificate for a server
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A server with --ca-dir makes its own; this is for servers that must not have the key of the authority, and for other
programs (PostgreSQL, NATS). Run it again to renew: files of the same name are replaced, and a server notices.

Examples:
  stoker ca server --dir /etc/stoker/ca --name stoker.example --name 10.20.0.2
  stoker ca server --dir /etc/stoker/ca --name db.example --out /etc/postgresql/tls --days 90")]
pub(super) struct Args {
    /// The folder of the authority
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,

    /// A host name or an address under which the server is reached
    #[arg(long = "name", value_name = "HOST", required = true)]
    names: Vec<Name>,

    /// Where to write `NAME.pem` and `NAME-key.pem` [default: the folder of the authority]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// How long it is good
    #[arg(long, value_name = "DAYS", default_value_t = 365, value_parser = clap::value_parser!(i64).range(1..=3650))]
    days: i64,
}

pub(super) fn run(args: &Args, printer: &mut Printer) -> Result<(), TlsError> {
    let authority = Authority::open(&args.dir)?;
    let validity = Validity::starting(unix_seconds(), args.days * 86_400);
    let (issued, key) = authority.issue_server(&args.names, validity)?;
    let stem = args.names.first().map(Name::to_string).unwrap_or_default().replace('*', "_");
    let out = args.out.as_ref().unwrap_or(&args.dir);
    let certificate_path = out.join(format!("{stem}.pem"));
    let key_path = out.join(format!("{stem}-key.pem"));
    // A server that looks in between keeps what it has, since one does not go with the other.
    write_private(&key_path, &key)?;
    write_private(&certificate_path, &issued.chain_pem)?;
    printer.note(&format!(
        "made {} with its key {}, good until {}",
        certificate_path.display(),
        key_path.display(),
        validity.last_day()
    ));
    Ok(())
}
