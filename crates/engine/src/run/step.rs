//! One step: takes an input, returns events and effects.

use stoker_model::{InstanceIdx, Micros, NodeIdx, TaskReport};

use super::apply::later;
use super::event::{AttemptOutcome, EngineEvent, EventKind, InstanceOutcome, Next, Resolution, RunEffect};
use super::input::{Input, InputError, StopMode};
use super::state::{InstanceState, Phase, RunMachine, Timer};
use crate::blueprint::Blueprint;
use crate::session::{AttemptKey, CancelMode, Mode, ResultKind};

/// Result of a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepResult {
    /// Events to commit before executing the effects.
    pub events: Vec<EngineEvent>,
    /// Effects to execute after the commit.
    pub effects: Vec<RunEffect>,
}

/// Processes an input. The state changes only through the returned events; a rejected input changes nothing.
pub fn step(
    run: &mut RunMachine,
    blueprint: &Blueprint,
    input: Input,
    now: Micros,
) -> Result<StepResult, InputError> {
    let wake_before = run.next_timer();
    let mut stepping = Stepping { run, blueprint, now, step: StepResult::default() };
    stepping.handle_input(input)?;
    // Timers fire after the input: a result that has just arrived is not overdue.
    stepping.fire_timers();
    stepping.settle();
    let Stepping { run, mut step, .. } = stepping;
    let wake = run.next_timer();
    if let Some(at) = wake.filter(|_| wake != wake_before) {
        step.effects.push(RunEffect::WakeAt(at));
    }
    Ok(step)
}

pub(super) struct Stepping<'s> {
    pub(super) run: &'s mut RunMachine,
    pub(super) blueprint: &'s Blueprint,
    now: Micros,
    step: StepResult,
}

impl Stepping<'_> {
    fn handle_input(&mut self, input: Input) -> Result<(), InputError> {
        match input {
            Input::Begin => match self.run.phase {
                Phase::Created => self.emit(EventKind::Began),
                _ => return Err(InputError::AlreadyBegun),
            },
            Input::TakeOver => match self.run.phase {
                Phase::Created => return Err(InputError::NotBegun),
                Phase::Ended(_) => {}
                Phase::Running | Phase::Paused | Phase::Stopping { .. } => self.emit(EventKind::TakenOver),
            },
            Input::AttemptStarted { key, at } => self.handle_started(key, at)?,
            Input::AttemptFinished { key, at, end, report } => {
                self.handle_finished(key, at, end, report)?;
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
                Phase::Paused => return Err(InputError::AlreadyPaused),
                _ => return Err(self.not_running_error()),
            },
            Input::Resume => match self.run.phase {
                Phase::Paused => self.emit(EventKind::Resumed),
                Phase::Running => return Err(InputError::NotPaused),
                _ => return Err(self.not_running_error()),
            },
            Input::Wake => {}
        }
        Ok(())
    }

    fn not_running_error(&self) -> InputError {
        match self.run.phase {
            Phase::Created => InputError::NotBegun,
            Phase::Ended(_) => InputError::HasEnded,
            Phase::Running | Phase::Paused | Phase::Stopping { .. } => InputError::AlreadyStopping,
        }
    }

    /// Reports whether the attempt is the current one of its instance and in flight.
    fn is_current(&self, key: AttemptKey) -> Result<bool, InputError> {
        if key.run != self.run.id {
            return Err(InputError::WrongRun);
        }
        let state = self.run.states.get(key.instance.index()).ok_or(InputError::UnknownAttempt)?;
        let last = u32::from(self.run.attempts[key.instance.index()]);
        if key.attempt == 0 || key.attempt > last {
            return Err(InputError::UnknownAttempt);
        }
        Ok(key.attempt == last && matches!(state, InstanceState::Dispatched | InstanceState::Started))
    }

    fn handle_started(&mut self, key: AttemptKey, at: Micros) -> Result<(), InputError> {
        if !self.is_current(key)? {
            // The attempt was abandoned, so the agent must stop it.
            if self.run.unanswered.contains(&key) {
                self.step.effects.push(RunEffect::Cancel { key, how: CancelMode::Now });
            }
        } else if self.run.states[key.instance.index()] == InstanceState::Dispatched {
            let AttemptKey { instance, attempt, .. } = key;
            self.emit(EventKind::Started { instance, attempt, began_at: at });
        }
        Ok(())
    }

    fn handle_finished(
        &mut self,
        key: AttemptKey,
        at: Micros,
        end: ResultKind,
        report: TaskReport,
    ) -> Result<(), InputError> {
        let AttemptKey { instance, attempt, .. } = key;
        if self.is_current(key)? {
            self.end_attempt(instance, at, AttemptOutcome::Reported(end), report);
        } else if self.run.unanswered.contains(&key) {
            self.emit(EventKind::LateResult { instance, attempt, ended_at: at, end, report });
        }
        Ok(())
    }

    fn end_attempt(
        &mut self,
        instance: InstanceIdx,
        ended_at: Micros,
        end: AttemptOutcome,
        report: TaskReport,
    ) {
        let attempt = u32::from(self.run.attempts[instance.index()]);
        let next = self.decide_next(instance, attempt, &end);
        self.emit(EventKind::AttemptEnded { instance, attempt, ended_at, end, report, next });
    }

    fn decide_next(&self, instance: InstanceIdx, attempt: u32, end: &AttemptOutcome) -> Next {
        // Only instances with a policy have attempts.
        let Some(policy) = self.blueprint.policy_of(instance) else {
            return Next::Final(InstanceOutcome::Failed);
        };
        let is_stopping = matches!(self.run.phase, Phase::Stopping { .. });
        let n_retries = match end {
            AttemptOutcome::Reported(ResultKind::Succeeded) => {
                return Next::Final(InstanceOutcome::Succeeded);
            }
            AttemptOutcome::Reported(ResultKind::Cancelled) if is_stopping => {
                return Next::Final(InstanceOutcome::Cancelled);
            }
            AttemptOutcome::Reported(ResultKind::Cancelled) | AttemptOutcome::Lost => 0,
            // The task did not cause the interruption, so allow one retry even if its policy has none.
            AttemptOutcome::Reported(ResultKind::Interrupted) if policy.retry_interrupted => {
                policy.n_retries.max(1)
            }
            AttemptOutcome::Reported(ResultKind::Interrupted) => 0,
            AttemptOutcome::Reported(
                ResultKind::Failed { .. } | ResultKind::TimedOut | ResultKind::Refused { .. },
            )
            | AttemptOutcome::NoResult => policy.n_retries,
        };
        // Attempt numbers are 16 bits.
        if attempt <= n_retries.min(u32::from(u16::MAX) - 1) && !is_stopping {
            let backoff_ms = policy.backoff_ms(attempt, self.blueprint.options.backoff_max_ms);
            return Next::Retry { at: later(self.now, backoff_ms) };
        }
        Next::Final(if policy.fail_on_error { InstanceOutcome::Failed } else { InstanceOutcome::Ignored })
    }

    fn set_connectivity(&mut self, node: NodeIdx, is_lost: bool) -> Result<(), InputError> {
        let state = self.run.nodes.get(node.index()).ok_or(InputError::UnknownNode)?;
        let has_changed = !state.is_given_up && state.lost_since.is_some() != is_lost;
        if has_changed && !matches!(self.run.phase, Phase::Ended(_)) {
            self.emit(if is_lost { EventKind::NodeLost { node } } else { EventKind::NodeBack { node } });
            self.give_up_lost_nodes();
        }
        Ok(())
    }

    fn stop(&mut self, how: StopMode) -> Result<(), InputError> {
        match self.run.phase {
            Phase::Ended(_) => Err(InputError::HasEnded),
            // Stopped while queued: begin and end in one step, so that all instances end.
            Phase::Created => {
                self.emit(EventKind::Began);
                self.emit(EventKind::StopRequested { how });
                self.give_up_lost_nodes();
                Ok(())
            }
            Phase::Stopping { how: StopMode::Now } => Err(InputError::AlreadyStopping),
            Phase::Stopping { .. } if how == StopMode::Graceful => Err(InputError::AlreadyStopping),
            Phase::Running | Phase::Paused | Phase::Stopping { .. } => {
                self.end_pause();
                self.emit(EventKind::StopRequested { how });
                self.give_up_lost_nodes();
                Ok(())
            }
        }
    }

    /// In a run that stops now, abandons lost nodes at once: it does not wait for a result that may never come.
    fn give_up_lost_nodes(&mut self) {
        if !matches!(self.run.phase, Phase::Stopping { how: StopMode::Now }) {
            return;
        }
        let is_lost = |node: &NodeIdx| self.run.nodes[node.index()].lost_since.is_some();
        let lost: Vec<NodeIdx> = NodeIdx::first(self.blueprint.nodes.len()).filter(is_lost).collect();
        for node in lost {
            self.give_up_node(node);
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
                Timer::Flight(idx) if self.run.states[idx.index()] == InstanceState::BackingOff => {
                    self.emit(EventKind::RetryDue { instance: idx });
                }
                Timer::Flight(idx) => self.give_up_attempt(idx, AttemptOutcome::NoResult),
                Timer::Node(node) => self.give_up_node(node),
            }
        }
    }

    fn give_up_node(&mut self, node: NodeIdx) {
        self.emit(EventKind::NodeGivenUp { node });
        let flights = self.run.nodes[node.index()].flights.iter().copied();
        let in_flight = flights.filter(|idx| self.run.states[idx.index()] != InstanceState::BackingOff);
        for idx in in_flight.collect::<Vec<_>>() {
            self.give_up_attempt(idx, AttemptOutcome::Lost);
        }
    }

    /// Ends an attempt without a result. The agent must not continue it, nor start it after reconnecting.
    fn give_up_attempt(&mut self, idx: InstanceIdx, end: AttemptOutcome) {
        let key = self.run.key(idx);
        self.end_attempt(idx, self.now, end, TaskReport::default());
        self.step.effects.push(RunEffect::Cancel { key, how: CancelMode::Now });
    }

    /// Applies and records an event.
    pub(super) fn emit(&mut self, kind: EventKind) {
        let event = EngineEvent { at: self.now, kind };
        let triggered = self.run.first_triggered(self.blueprint, &event.kind);
        self.run.apply(self.blueprint, &event);
        if self.blueprint.options.mode == Mode::Normal {
            let recorded = triggered.into_iter().map(|instance| RunEffect::Triggered { instance });
            self.step.effects.extend(recorded);
        }
        self.add_effects(&event.kind);
        self.step.events.push(event);
    }

    /// Records the end of an instance that was not executed. Consecutive ends share one event.
    pub(super) fn resolve(&mut self, idx: InstanceIdx, resolution: Resolution) {
        self.run.apply_resolved(self.blueprint, idx, resolution);
        if let Some(EngineEvent { kind: EventKind::Resolved { ends }, .. }) = self.step.events.last_mut() {
            ends.push((idx, resolution));
        } else {
            let kind = EventKind::Resolved { ends: vec![(idx, resolution)] };
            self.step.events.push(EngineEvent { at: self.now, kind });
        }
    }

    /// Adds the effects of an event.
    fn add_effects(&mut self, kind: &EventKind) {
        let effects = &mut self.step.effects;
        match kind {
            EventKind::Dispatched { instance, .. } => {
                effects.push(RunEffect::Dispatch(self.run.key(*instance)));
            }
            EventKind::AttemptEnded { instance, next: Next::Final(InstanceOutcome::Succeeded), .. }
                if self.blueprint.options.mode == Mode::Normal =>
            {
                effects.push(RunEffect::Succeeded { instance: *instance });
            }
            EventKind::NodeEnded { node, end } => {
                effects.push(RunEffect::NodeEnded { node: *node, end: *end });
            }
            EventKind::StopRequested { .. } | EventKind::ToleranceExceeded { .. } => {
                effects.extend(self.run.cancels());
            }
            EventKind::Ended { end } => effects.push(RunEffect::RunEnded(end.clone())),
            _ => {}
        }
    }
}
