use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use stoker_tls::{Certificate, CertificateAuthority};

use super::failure;
use crate::exit::Outcome;
use crate::host::unix_seconds;
use crate::printer::Printer;

/// Show the names, fingerprints and expiry dates of the certificates
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker ca show --dir /etc/stoker/ca
  stoker agent --ca-fingerprint $(stoker ca show --dir /etc/stoker/ca --fingerprint) …")]
pub(super) struct Args {
    /// Directory with the certificate authority
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,

    /// Print only the fingerprint of the CA certificate
    #[arg(long)]
    fingerprint: bool,
}

pub(super) fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let file = args.dir.join(CertificateAuthority::CERTIFICATE_FILE);
    // Reads the certificate only, so this works without access to the key.
    let authority = Certificate::read_file(&file).map_err(|error| failure(&error))?.swap_remove(0);
    if args.fingerprint {
        return Ok(printer.data(&authority.fingerprint.to_string())?);
    }
    let mut text = describe(&file, &authority);
    for file in other_pem_files(&args.dir) {
        // Skip PEM files that are not certificates, such as keys.
        if let Ok(certificates) = Certificate::read_file(&file) {
            text += &describe(&file, &certificates[0]);
        }
    }
    Ok(printer.data(&text)?)
}

/// Returns the other PEM files in the directory, sorted by name.
fn other_pem_files(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_other_pem = |path: &PathBuf| {
        path.extension().is_some_and(|end| end == "pem")
            && !path.ends_with(CertificateAuthority::CERTIFICATE_FILE)
    };
    let mut files: Vec<PathBuf> = entries.filter(is_other_pem).collect();
    files.sort();
    files
}

fn describe(file: &Path, certificate: &Certificate) -> String {
    let mut text = format!("{}\n", file.display());
    let mut line = |name: &str, value: &str| _ = writeln!(text, "  {name:<12} {value}");
    line("name", &certificate.subject);
    if !certificate.names.is_empty() {
        line("hosts", &certificate.names.join(", "));
    }
    line("fingerprint", &certificate.fingerprint.to_string());
    // A day that has started counts as a full day.
    let days_left = (certificate.validity.not_after - unix_seconds() + 86_399).div_euclid(86_400);
    let remaining = match days_left {
        ..=0 => "expired".to_owned(),
        1 => "1 day left".to_owned(),
        days => format!("{days} days left"),
    };
    line("valid until", &format!("{} ({remaining})", certificate.validity.expiry_date()));
    text
}
