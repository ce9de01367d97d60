//! `stoker nats init`: keys, and a configuration that trusts them.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use stoker_bus::nats::{Authority, DISK_BYTES, Revocations};

use crate::exit::{Failure, Outcome};
use crate::host;
use crate::printer::Printer;

/// Make keys for NATS and a configuration that trusts them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Writes into the folder:
  nats-server.conf   for `nats-server -c`; accounts, and results of agents that no server has yet, are kept beside it
  servers.creds      who the servers of Stoker are: `stoker serve --nats-credentials`
  keys.json          gives agents users of their own and takes them back: `stoker serve --nats-keys`
Who reads the last two can be any server or agent: keep them safe. Nothing that is there is overwritten.

Examples:
  stoker nats init --dir /etc/stoker/nats
  stoker nats init --dir /etc/stoker/nats --listen 0.0.0.0:4222 --tls-cert nats.pem --tls-key nats.key")]
pub(crate) struct Args {
    /// Folder to write into; made if it is missing
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,

    /// Address and port for NATS to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4222")]
    listen: SocketAddr,

    /// Certificate of NATS, in PEM form
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// Its key
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
}

const CONFIG: &str = "nats-server.conf";
const CREDENTIALS: &str = "servers.creds";
const KEYS: &str = "keys.json";
/// The folder in which NATS keeps what it is to keep.
const KEPT: &str = "jetstream";

pub(crate) fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&args.dir);
    made.map_err(|error| Failure::unwritable(&args.dir, &error))?;
    let dir = fs::canonicalize(&args.dir).map_err(|error| Failure::unwritable(&args.dir, &error))?;
    if let Some(there) =
        [CONFIG, CREDENTIALS, KEYS].iter().map(|name| dir.join(name)).find(|path| path.exists())
    {
        return Err(Failure::input(format!("`{}` is there already; choose another folder", there.display())));
    }
    let now = host::now_seconds();
    let failed = |error: &dyn std::error::Error| Failure::unavailable(error);
    let random = || host::random_bytes().map_err(|error| failed(&error));
    let authority = Authority::new(random()?, random()?, random()?).map_err(|error| failed(&error))?;
    let servers =
        authority.user(random()?, "stoker servers", None, now, None).map_err(|error| failed(&error))?;
    let keys = authority.to_text().map_err(|error| failed(&error))?;
    let config = config(args, &dir, &authority, now).map_err(|error| failed(&error))?;
    for (name, text) in [(KEYS, keys), (CREDENTIALS, servers.to_file()), (CONFIG, config)] {
        write_private(&dir.join(name), &text)?;
    }
    make_room(&dir, &authority.account_key())?;
    let shown = dir.display();
    printer.note(&format!("start NATS with `nats-server -c {shown}/{CONFIG}`, and each server with"));
    let scheme = if args.tls_cert.is_some() { "tls" } else { "nats" };
    printer.note(&format!(
        "  --nats {scheme}://{} --nats-credentials {shown}/{CREDENTIALS} --nats-keys {shown}/{KEYS}",
        args.listen
    ));
    Ok(())
}

fn config(
    args: &Args,
    dir: &Path,
    authority: &Authority,
    now: i64,
) -> Result<String, stoker_bus::nats::AuthorityError> {
    let (account, system) = (authority.account_key(), authority.system_account_key());
    let quoted = |path: &Path| format!("{:?}", path.display().to_string());
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(cert), Some(key)) => {
            let absolute = |path: &Path| quoted(&fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()));
            format!("tls {{ cert_file: {}, key_file: {} }}\n", absolute(cert), absolute(key))
        }
        _ => String::new(),
    };
    Ok(format!(
        "# Made by `stoker nats init`.\n\
         listen: {listen:?}\n\
         {tls}\
         \n\
         operator: {operator}\n\
         system_account: {system}\n\
         # Accounts can change while NATS runs: that is how an agent is cut off.\n\
         resolver: {{ type: full, dir: {accounts}, allow_delete: false, interval: \"2m\" }}\n\
         resolver_preload: {{\n  {account}: {account_claim}\n  {system}: {system_claim}\n}}\n\
         \n\
         # Results of agents, until a server has them.\n\
         jetstream {{ store_dir: {kept}, max_file_store: {DISK_BYTES} }}\n",
        listen = args.listen.to_string(),
        operator = authority.operator_claim(now)?,
        accounts = quoted(&dir.join("accounts")),
        kept = quoted(&dir.join(KEPT)),
        account_claim = authority.account_claim(now, &Revocations::new())?,
        system_claim = authority.system_account_claim(now)?,
    ))
}

/// When NATS starts it gets everything ready for accounts that have something in its folder. For others it does so when the
/// first client comes, and may forget it when several come at once.
fn make_room(dir: &Path, account: &str) -> Outcome {
    let room = dir.join(KEPT).join("jetstream").join(account);
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&room);
    made.map_err(|error| Failure::unwritable(&room, &error))?;
    write_private(&room.join("README"), "Results of agents are kept here until a server has them.\n")
}

/// Not over a file that somebody has made meanwhile, and for nobody else to read.
fn write_private(path: &Path, text: &str) -> Outcome {
    let write = || {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    write().map_err(|error| Failure::unwritable(path, &error))
}
