use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use stoker_tls::{Authority, Certificate};

use super::failure;
use crate::exit::Outcome;
use crate::host::unix_seconds;
use crate::printer::Printer;

/// Show the certificates of an authority: fingerprints, names, until when they are good
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker ca show --dir /etc/stoker/ca
  stoker agent --ca-fingerprint $(stoker ca show --dir /etc/stoker/ca --fingerprint) …")]
pub(super) struct Args {
    /// The folder of the authority
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,

    /// Print the fingerprint of the authority and nothing else
    #[arg(long)]
    fingerprint: bool,
}

pub(super) fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let file = args.dir.join(Authority::CERTIFICATE_FILE);
    // Whoever has only the certificate may look as well.
    let authority = Certificate::read_file(&file).map_err(|error| failure(&error))?.swap_remove(0);
    if args.fingerprint {
        return Ok(printer.data(&authority.fingerprint.to_string())?);
    }
    let mut text = shown(&file, &authority);
    for file in beside(&args.dir) {
        // Keys and other files are nobody's certificate.
        if let Ok(found) = Certificate::read_file(&file) {
            text += &shown(&file, &found[0]);
        }
    }
    Ok(printer.data(&text)?)
}

/// Other certificates in the folder, in order.
fn beside(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_wanted = |path: &PathBuf| {
        path.extension().is_some_and(|end| end == "pem") && !path.ends_with(Authority::CERTIFICATE_FILE)
    };
    let mut files: Vec<PathBuf> = entries.filter(is_wanted).collect();
    files.sort();
    files
}

fn shown(file: &Path, certificate: &Certificate) -> String {
    let mut text = format!("{}\n", file.display());
    let mut line = |name: &str, value: &str| _ = writeln!(text, "  {name:<12} {value}");
    line("name", &certificate.subject);
    if !certificate.names.is_empty() {
        line("reached as", &certificate.names.join(", "));
    }
    line("fingerprint", &certificate.fingerprint.to_string());
    // The day that has begun counts.
    let days_left = (certificate.validity.not_after - unix_seconds() + 86_399).div_euclid(86_400);
    let left = match days_left {
        ..=0 => "expired".to_owned(),
        1 => "1 day left".to_owned(),
        days => format!("{days} days left"),
    };
    line("good until", &format!("{} ({left})", certificate.validity.last_day()));
    text
}
