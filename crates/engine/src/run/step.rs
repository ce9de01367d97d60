//! One step: an input comes in, events and effects come out.

use stoker_model::{JsonMap, Micros};

use super::apply::later;
use super::event::{AttemptEnd, Effect, Event, EventKind, Next, Outcome, Resolution};
use super::input::{Illegal, Input, StopHow};
use super::state::{Phase, Run, State, Timer};
use crate::blueprint::Blueprint;
use crate::session::{AttemptKey, CancelHow, End, Mode};

/// Result of a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// Events to commit before executing the effects.
    pub events: Vec<Event>,
    /// Effects to execute after the commit.
    pub effects: Vec<Effect>,
}

/// Processes an input. The state changes only through the returned events; a rejected input changes nothing.
pub fn step(run: &mut Run, blueprint: &Blueprint, input: Input, now: Micros) -> Result<Step, Illegal> {
    let wake_before = run.wakes_at();
    let mut stepping = Stepping { run, blueprint, now, step: Step::default() };
    stepping.handle_input(input)?;
    // Timers fire after the input: a result that has just arrived is not overdue.
    stepping.fire_timers();
    stepping.settle();
    let Stepping { run, mut step, .. } = stepping;
    let wake = run.wakes_at();
    if let Some(at) = wake.filter(|_| wake != wake_before) {
        step.effects.push(Effect::WakeAt(at));
    }
    Ok(step)
}

pub(super) struct Stepping<'s> {
    pub(super) run: &'s mut Run,
    pub(super) blueprint: &'s Blueprint,
    now: Micros,
    step: Step,
}

impl Stepping<'_> {
    fn handle_input(&mut self, input: Input) -> Result<(), Illegal> {
        match input {
            Input::Begin => match self.run.phase {
                Phase::Created => self.emit(EventKind::Began),
                _ => return Err(Illegal::AlreadyBegun),
            },
            Input::TakeOver => match self.run.phase {
                Phase::Created => return Err(Illegal::NotBegun),
                Phase::Ended(_) => {}
                Phase::Running | Phase::Paused | Phase::Stopping { .. } => self.emit(EventKind::TakenOver),
            },
            Input::AttemptStarted { key, at } => self.handle_started(key, at)?,
            Input::AttemptFinished { key, at, end, summary } => {
                self.handle_finished(key, at, end, summary)?;
            }
            Input::NodeLost { node } => self.set_connectivity(node, true)?,
            Input::NodeBack { node } => self.set_connectivity(node, false)?,
            Input::Stop { how } => self.stop(how)?,
            Input::Pause => match self.run.phase {
                // The successor of a paused run starts paused.
                Phase::Created => {
                    self.emit(EventKind::Began);
                    self.emit(EventKind::Paused);
                }
                Phase::Running => self.emit(EventKind::Paused),
                Phase::Paused => return Err(Illegal::AlreadyPaused),
                _ => return Err(self.not_running_error()),
            },
            Input::Resume => match self.run.phase {
                Phase::Paused => self.emit(EventKind::Resumed),
                Phase::Running => return Err(Illegal::NotPaused),
                _ => return Err(self.not_running_error()),
            },
            Input::Wake => {}
        }
        Ok(())
    }

    fn not_running_error(&self) -> Illegal {
        match self.run.phase {
            Phase::Created => Illegal::NotBegun,
            Phase::Ended(_) => Illegal::HasEnded,
            Phase::Running | Phase::Paused | Phase::Stopping { .. } => Illegal::AlreadyStopping,
        }
    }

    /// Whether the attempt is the current one of its instance and in flight.
    fn is_current(&self, key: AttemptKey) -> Result<bool, Illegal> {
        if key.run != self.run.id {
            return Err(Illegal::WrongRun);
        }
        let state = self.run.states.get(key.instance as usize).ok_or(Illegal::UnknownAttempt)?;
        let last = u32::from(self.run.attempts[key.instance as usize]);
        if key.attempt == 0 || key.attempt > last {
            return Err(Illegal::UnknownAttempt);
        }
        Ok(key.attempt == last && matches!(state, State::Dispatched | State::Started))
    }

    fn handle_started(&mut self, key: AttemptKey, at: Micros) -> Result<(), Illegal> {
        if !self.is_current(key)? {
            // The attempt was given up, so the agent must stop it.
            if self.run.unanswered.contains(&(key.instance, key.attempt)) {
                self.step.effects.push(Effect::Cancel { key, how: CancelHow::Now });
            }
        } else if self.run.states[key.instance as usize] == State::Dispatched {
            let AttemptKey { instance, attempt, .. } = key;
            self.emit(EventKind::Started { instance, attempt, began_at: at });
        }
        Ok(())
    }

    fn handle_finished(
        &mut self,
        key: AttemptKey,
        at: Micros,
        end: End,
        summary: JsonMap,
    ) -> Result<(), Illegal> {
        let AttemptKey { instance, attempt, .. } = key;
        if self.is_current(key)? {
            self.end_attempt(instance, at, AttemptEnd::Reported(end), summary);
        } else if self.run.unanswered.contains(&(instance, attempt)) {
            self.emit(EventKind::LateResult { instance, attempt, ended_at: at, end, summary });
        }
        Ok(())
    }

    fn end_attempt(&mut self, instance: u32, ended_at: Micros, end: AttemptEnd, summary: JsonMap) {
        let attempt = u32::from(self.run.attempts[instance as usize]);
        let next = self.decide_next(instance, attempt, &end);
        self.emit(EventKind::AttemptEnded { instance, attempt, ended_at, end, summary, next });
    }

    fn decide_next(&self, instance: u32, attempt: u32, end: &AttemptEnd) -> Next {
        let policy = self.blueprint.policies[self.blueprint.instances[instance as usize].policy as usize];
        let is_stopping = matches!(self.run.phase, Phase::Stopping { .. });
        let n_retries = match end {
            AttemptEnd::Reported(End::Succeeded) => return Next::Final(Outcome::Succeeded),
            AttemptEnd::Reported(End::Cancelled) if is_stopping => return Next::Final(Outcome::Cancelled),
            AttemptEnd::Reported(End::Cancelled) | AttemptEnd::Lost => 0,
            // The task is not at fault, so allow one retry even if it has none.
            AttemptEnd::Reported(End::Interrupted) if policy.retry_interrupted => policy.n_retries.max(1),
            AttemptEnd::Reported(End::Interrupted) => 0,
            AttemptEnd::Reported(End::Failed { .. } | End::TimedOut | End::Refused { .. })
            | AttemptEnd::NoAnswer => policy.n_retries,
        };
        // Attempt numbers are 16 bits.
        if attempt <= n_retries.min(u32::from(u16::MAX) - 1) && !is_stopping {
            let backoff_ms = policy.backoff_ms(attempt, self.blueprint.options.backoff_max_ms);
            return Next::Retry { at: later(self.now, backoff_ms) };
        }
        Next::Final(if policy.fail_on_error { Outcome::Failed } else { Outcome::Ignored })
    }

    fn set_connectivity(&mut self, node: u32, is_lost: bool) -> Result<(), Illegal> {
        let state = self.run.nodes.get(node as usize).ok_or(Illegal::UnknownNode)?;
        let has_changed = !state.is_given_up && state.lost_since.is_some() != is_lost;
        if has_changed && !matches!(self.run.phase, Phase::Ended(_)) {
            self.emit(if is_lost { EventKind::NodeLost { node } } else { EventKind::NodeBack { node } });
        }
        Ok(())
    }

    fn stop(&mut self, how: StopHow) -> Result<(), Illegal> {
        match self.run.phase {
            Phase::Ended(_) => Err(Illegal::HasEnded),
            // Stopped while queued: begin and end in one step, so that all instances end.
            Phase::Created => {
                self.emit(EventKind::Began);
                self.emit(EventKind::StopAsked { how });
                Ok(())
            }
            Phase::Stopping { how: StopHow::Now } => Err(Illegal::AlreadyStopping),
            Phase::Stopping { .. } if how == StopHow::Graceful => Err(Illegal::AlreadyStopping),
            Phase::Running | Phase::Paused | Phase::Stopping { .. } => {
                self.end_pause();
                self.emit(EventKind::StopAsked { how });
                Ok(())
            }
        }
    }

    /// Leaves the paused phase before stopping; nothing starts in between.
    pub(super) fn end_pause(&mut self) {
        if self.run.phase == Phase::Paused {
            self.emit(EventKind::Resumed);
        }
    }

    /// Fires expired timers.
    fn fire_timers(&mut self) {
        while let Some((at, timer)) = self.run.timers.first().copied() {
            if at > self.now || matches!(self.run.phase, Phase::Created) {
                return;
            }
            match timer {
                Timer::Flight(idx) if self.run.states[idx as usize] == State::Pausing => {
                    self.emit(EventKind::RetryDue { instance: idx });
                }
                Timer::Flight(idx) => self.give_up_attempt(idx, AttemptEnd::NoAnswer),
                Timer::Node(node) => self.give_up_node(node),
            }
        }
    }

    fn give_up_node(&mut self, node: u32) {
        self.emit(EventKind::NodeGivenUp { node });
        let flights = self.run.nodes[node as usize].flights.iter().copied();
        let in_flight = flights.filter(|idx| self.run.states[*idx as usize] != State::Pausing);
        for idx in in_flight.collect::<Vec<_>>() {
            self.give_up_attempt(idx, AttemptEnd::Lost);
        }
    }

    /// Ends an attempt without a result. The agent must not continue it, nor start it after reconnecting.
    fn give_up_attempt(&mut self, idx: u32, end: AttemptEnd) {
        let key = self.run.key(idx);
        self.end_attempt(idx, self.now, end, JsonMap::new());
        self.step.effects.push(Effect::Cancel { key, how: CancelHow::Now });
    }

    /// Applies and records an event.
    pub(super) fn emit(&mut self, kind: EventKind) {
        let event = Event { at: self.now, kind };
        self.run.apply(self.blueprint, &event);
        self.add_effects(&event.kind);
        self.step.events.push(event);
    }

    /// Records the end of an instance that was not executed. Consecutive ends share one event.
    pub(super) fn resolve(&mut self, idx: u32, resolution: Resolution) {
        self.run.apply_resolved(self.blueprint, idx, resolution);
        if let Some(Event { kind: EventKind::Resolved { ends }, .. }) = self.step.events.last_mut() {
            ends.push((idx, resolution));
        } else {
            let kind = EventKind::Resolved { ends: vec![(idx, resolution)] };
            self.step.events.push(Event { at: self.now, kind });
        }
    }

    /// Adds the effects of an event.
    fn add_effects(&mut self, kind: &EventKind) {
        let effects = &mut self.step.effects;
        match kind {
            EventKind::Dispatched { instance, .. } => effects.push(Effect::Dispatch(self.run.key(*instance))),
            EventKind::AttemptEnded { instance, next: Next::Final(Outcome::Succeeded), .. }
                if self.blueprint.options.mode == Mode::Normal =>
            {
                effects.push(Effect::Succeeded { instance: *instance });
            }
            EventKind::NodeEnded { node, end } => {
                effects.push(Effect::NodeEnded { node: *node, end: *end });
            }
            EventKind::StopAsked { .. } | EventKind::ToleranceExceeded { .. } => {
                effects.extend(self.run.cancels());
            }
            EventKind::Ended { end } => effects.push(Effect::RunEnded(end.clone())),
            _ => {}
        }
    }
}
