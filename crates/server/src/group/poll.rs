//! What is looked at again and again: who is there, where agents are, and letters.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use stoker_model::{AgentHost, Member, Micros};
use stoker_services::Clock;
use stoker_store::StoreError;

use super::hear::hear;
use super::letter::Envelope;
use crate::runs::Command;
use crate::state::App;

/// How often it is looked who is there.
const MEMBERS_INTERVAL: Duration = Duration::from_secs(1);
/// Between two looks for letters: short while there are some, longer and longer while there are none.
const LOOK_MIN: Duration = Duration::from_millis(20);
const LOOK_MAX: Duration = Duration::from_millis(500);
const MAIL_MAX: u32 = 500;
/// How often letters that were read are removed.
const DONE_INTERVAL: Duration = Duration::from_secs(2);
/// Before trying again when the database does not answer.
const PAUSE: Duration = Duration::from_millis(500);

/// Says again and again that this server is there.
pub(super) async fn beat(app: &App) {
    loop {
        if let Err(error) = app.store.server_beat(&app.member()).await {
            tracing::warn!(error = %error, "the others do not know that this server is there");
        }
        tokio::time::sleep(app.lease_renewal()).await;
    }
}

impl App {
    /// This server, as it says of itself.
    pub(crate) fn member(&self) -> Member {
        Member {
            id: self.owner.clone(),
            name: self.settings.name.clone().unwrap_or_else(machine_name),
            address: self.settings.listen.to_string(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            hears_bus: self.group.is_on_bus(),
            started_at: self.group.started_at,
            seen_at: self.clock.now(),
        }
    }

    /// A server of which nothing was heard since, which is longer than it could hold a run, is not there.
    pub(crate) fn heard_since(&self, now: Micros) -> Micros {
        Micros(2 * now.0 - self.leased_until(now).0)
    }
}

fn machine_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

/// Writes down which agents came and went.
pub(super) async fn write_moves(app: &App) {
    loop {
        app.group.has_moves.notified().await;
        let moves = std::mem::take(&mut *app.group.moves.lock().unwrap_or_else(PoisonError::into_inner));
        if moves.is_empty() {
            continue;
        }
        if let Err(error) = app.store.hosts_put(&app.owner, &moves, app.clock.now()).await {
            tracing::warn!(error = %error, "the others do not know yet which agents are here");
            {
                let mut waiting = app.group.moves.lock().unwrap_or_else(PoisonError::into_inner);
                // What came meanwhile is later.
                waiting.splice(0..0, moves);
            }
            tokio::time::sleep(PAUSE).await;
            app.group.has_moves.notify_one();
        }
    }
}

/// What was read last.
struct Reader {
    mail: i64,
    is_done: bool,
    members_at: Option<Instant>,
    done_at: Instant,
    owed_at: Instant,
}

/// Looks for everything that others have to say, until the server ends.
pub(super) async fn poll(app: &App) {
    let now = Clock::instant();
    let mut reader = Reader { mail: 0, is_done: true, members_at: None, done_at: now, owed_at: now };
    let mut pause = LOOK_MAX;
    loop {
        match reader.look(app).await {
            Ok(0) => pause = (pause * 2).min(LOOK_MAX),
            Ok(_) => pause = LOOK_MIN,
            Err(error) => {
                tracing::warn!(error = %error, "what other servers say is not heard");
                pause = LOOK_MAX;
            }
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = app.group.look.notified() => {
                pause = LOOK_MIN;
                tokio::time::sleep(pause).await;
            }
        }
    }
}

impl Reader {
    /// How many letters and changes there were.
    async fn look(&mut self, app: &App) -> Result<usize, StoreError> {
        let mut session = app.store.read().await?;
        if self.members_at.is_none_or(|at| at.elapsed() >= MEMBERS_INTERVAL) {
            let members = session.servers().await?;
            self.members_at = Some(Clock::instant());
            note_members(app, &members).await;
        }
        if app.group.others().is_empty() {
            return Ok(0);
        }
        let after = app.group.known().number;
        let hosts = session.hosts_since(after).await?;
        let mail = session.mail_since(&app.owner, self.mail, MAIL_MAX).await?;
        drop(session);
        let n_found = hosts.len() + mail.len();
        note_hosts(app, hosts).await;
        for letter in mail {
            self.mail = letter.id;
            self.is_done = false;
            if let Some(envelope) = Envelope::decode(letter.body.as_bytes()) {
                hear(app, envelope).await;
            }
        }
        if !self.is_done && self.done_at.elapsed() >= DONE_INTERVAL {
            app.store.mail_done(&app.owner, self.mail, app.clock.now()).await?;
            (self.is_done, self.done_at) = (true, Clock::instant());
        }
        if self.owed_at.elapsed() >= MEMBERS_INTERVAL {
            self.owed_at = Clock::instant();
            crate::runs::say_again(app).await;
        }
        Ok(n_found)
    }
}

/// Servers that came or went take their agents with them.
async fn note_members(app: &App, members: &[Member]) {
    let heard_since = app.heard_since(app.clock.now());
    let others: HashMap<Arc<str>, bool> = members
        .iter()
        .filter(|member| member.seen_at > heard_since && member.id != app.owner)
        .map(|member| (member.id.as_str().into(), member.hears_bus))
        .collect();
    let affected: Vec<String> = {
        let mut known = app.group.known();
        let is_same = known.others.len() == others.len()
            && others.keys().all(|server| known.others.contains_key(server));
        if is_same {
            known.others = others;
            return;
        }
        let before: HashSet<Arc<str>> = known.others.keys().cloned().collect();
        known.others = others;
        let has_changed = |server: &Arc<str>| before.contains(server) != known.others.contains_key(server);
        let hosts = known.hosts.iter().filter(|(_, server)| has_changed(server));
        hosts.map(|(uid, _)| uid.clone()).collect()
    };
    tracing::info!(n_others = app.group.others().len(), "other servers have come or gone");
    place(app, affected).await;
    app.group.take_up.notify_one();
}

async fn note_hosts(app: &App, hosts: Vec<AgentHost>) {
    let mut changed = Vec::with_capacity(hosts.len());
    {
        let mut known = app.group.known();
        for host in hosts {
            known.number = host.number;
            let before = match &host.server_id {
                Some(server) => known.hosts.insert(host.uid.clone(), server.as_str().into()),
                None => known.hosts.remove(&host.uid),
            };
            let was_here = before.is_some_and(|server| *server == *app.owner);
            let is_away = host.server_id.is_some_and(|server| server != app.owner);
            if was_here && is_away {
                // It has connected elsewhere: what is left of its connection here is of no use.
                app.agents.close(&host.uid);
            }
            changed.push(host.uid);
        }
    }
    place(app, changed).await;
}

/// Works out where agents are as things stand, and tells the runs that are carried out here.
async fn place(app: &App, uids: Vec<String>) {
    let now = app.clock.now();
    for uid in uids {
        let (host, is_live) = {
            let known = app.group.known();
            let host = known.hosts.get(&uid).cloned();
            let is_live = host.as_ref().is_some_and(|server| known.others.contains_key(server));
            (host, is_live)
        };
        let is_ours = host.as_ref().is_some_and(|server| **server == *app.owner);
        let was_away = app.agents.is_away(&uid);
        if app.agents.set_elsewhere(&uid, host.as_ref().filter(|_| is_live), now) {
            for inbox in app.agents.runs() {
                _ = inbox.send(Command::AgentBack { uid: uid.clone() }).await;
            }
        } else if was_away && !is_live {
            for inbox in app.agents.runs() {
                _ = inbox.send(Command::AgentGone { uid: uid.clone() }).await;
            }
        }
        if !is_ours
            && !is_live
            && let Some(line) = app.agents.line_id(&uid)
        {
            // Somebody who has it no longer has said so late.
            app.group.moved(&uid, line, true);
        }
    }
}
