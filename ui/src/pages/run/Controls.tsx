import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import { api, data, type Schemas } from "../../api/client";
import { Confirm } from "../../components/Confirm";
import { Problem } from "../../components/Problem";

/** Buttons for the actions that are available in the current status of a run. */
export function Controls({ run, isPaused }: { run: Schemas["Transaction"]; isPaused: boolean }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isStopping, setStopping] = useState(false);
  const [mode, setMode] = useState("graceful");
  const path = { params: { path: { id: run.id } } };
  const onSuccess = () => queries.invalidateQueries({ queryKey: ["runs"] });
  const pause = useMutation({ mutationFn: () => data(api.POST("/api/v1/runs/{id}/pause", path)), onSuccess });
  const resume = useMutation({ mutationFn: () => data(api.POST("/api/v1/runs/{id}/resume", path)), onSuccess });
  const stop = useMutation({
    mutationFn: () => data(api.POST("/api/v1/runs/{id}/stop", { ...path, body: { how: mode } })),
    onSuccess: async () => {
      setStopping(false);
      await onSuccess();
    },
  });
  const retry = useMutation({
    mutationFn: () => data(api.POST("/api/v1/runs/{id}/retry", path)),
    onSuccess: (next) => navigate(`/runs/${next.id}`),
  });
  const error = pause.error ?? resume.error ?? retry.error;
  const isActive = run.status === "running" || run.status === "pending";
  // A run can succeed although nodes failed, within the limits of their fault tolerance groups. Its message
  // reports them.
  const hasFailed = run.status === "error" || (run.status === "ready" && /failed/.test(run.message ?? ""));
  return (
    <>
      {error && <Problem error={error} />}
      {isActive && !isPaused && (
        <button type="button" className="button" disabled={pause.isPending} onClick={() => pause.mutate()}>
          Pause
        </button>
      )}
      {isActive && isPaused && (
        <button type="button" className="button primary" disabled={resume.isPending} onClick={() => resume.mutate()}>
          Resume
        </button>
      )}
      {isActive && (
        <button type="button" className="button danger" onClick={() => setStopping(true)}>
          Stop…
        </button>
      )}
      {hasFailed && (
        <button type="button" className="button primary" disabled={retry.isPending} onClick={() => retry.mutate()}>
          Retry failed tasks
        </button>
      )}
      {isStopping && (
        <Confirm
          title={`Stop run #${run.id}?`}
          action={mode === "now" ? "Stop now" : "Stop gracefully"}
          isDanger
          isBusy={stop.isPending}
          error={stop.error ?? undefined}
          onConfirm={() => stop.mutate()}
          onClose={() => setStopping(false)}
        >
          <label className="check">
            <input type="radio" name="stop-mode" checked={mode === "graceful"} onChange={() => setMode("graceful")} />
            <span>Gracefully: running tasks finish, no further tasks start</span>
          </label>
          <label className="check">
            <input type="radio" name="stop-mode" checked={mode === "now"} onChange={() => setMode("now")} />
            <span>Now: running tasks are terminated</span>
          </label>
        </Confirm>
      )}
    </>
  );
}
