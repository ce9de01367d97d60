use std::path::PathBuf;

use stoker_tls::{CertificateAuthority, Name, TlsError, Validity, write_private};

use crate::host::unix_seconds;
use crate::printer::Printer;

/// Issue a server certificate
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A server with `--ca-dir` issues its own certificate. Use this command for servers without access to the authority's key
and for other programs (PostgreSQL, NATS). To renew, run it again: existing files are replaced, and a running server
reloads them.

Examples:
  stoker ca server --dir /etc/stoker/ca --name stoker.example --name 10.20.0.2
  stoker ca server --dir /etc/stoker/ca --name db.example --out /etc/postgresql/tls --days 90")]
pub(super) struct Args {
    /// Folder of the authority
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,

    /// Host name or IP address of the server; can be repeated
    #[arg(long = "name", value_name = "HOST", required = true)]
    names: Vec<Name>,

    /// Folder for `NAME.pem` and `NAME-key.pem` [default: the folder of the authority]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Validity in days
    #[arg(long, value_name = "DAYS", default_value_t = 365, value_parser = clap::value_parser!(i64).range(1..=3650))]
    days: i64,
}

pub(super) fn run(args: &Args, printer: &mut Printer) -> Result<(), TlsError> {
    let authority = CertificateAuthority::open(&args.dir)?;
    let validity = Validity::from_now(unix_seconds(), args.days * 86_400);
    let (issued, key) = authority.issue_server(&args.names, validity)?;
    let stem = args.names.first().map(Name::to_string).unwrap_or_default().replace('*', "_");
    let out = args.out.as_ref().unwrap_or(&args.dir);
    let certificate_path = out.join(format!("{stem}.pem"));
    let key_path = out.join(format!("{stem}-key.pem"));
    // A server that reloads between the two writes sees a mismatched pair and keeps its current one.
    write_private(&key_path, &key)?;
    write_private(&certificate_path, &issued.chain_pem)?;
    printer.note(&format!(
        "created certificate {} and key {}, valid until {}",
        certificate_path.display(),
        key_path.display(),
        validity.expiry_date()
    ));
    Ok(())
}
