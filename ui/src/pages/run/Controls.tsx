import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import { api, data, type Schemas } from "../../api/client";
import { Confirm } from "../../components/Confirm";
import { Problem } from "../../components/Problem";

/** What can be asked of a run now. */
export function Controls({ run, isPaused }: { run: Schemas["Transaction"]; isPaused: boolean }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isStopping, setStopping] = useState(false);
  const [how, setHow] = useState("graceful");
  const path = { params: { path: { id: run.id } } };
  const onSuccess = () => queries.invalidateQueries({ queryKey: ["runs"] });
  const pause = useMutation({ mutationFn: () => data(api.POST("/api/v1/runs/{id}/pause", path)), onSuccess });
  const resume = useMutation({ mutationFn: () => data(api.POST("/api/v1/runs/{id}/resume", path)), onSuccess });
  const stop = useMutation({
    mutationFn: () => data(api.POST("/api/v1/runs/{id}/stop", { ...path, body: { how } })),
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
  // A run can be well although nodes failed: as many as their groups tolerate, and then it says so.
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
          Retry failed
        </button>
      )}
      {isStopping && (
        <Confirm
          title={`Stop run #${run.id}?`}
          action={how === "now" ? "Stop now" : "Stop gracefully"}
          isDanger
          isBusy={stop.isPending}
          error={stop.error ?? undefined}
          onConfirm={() => stop.mutate()}
          onClose={() => setStopping(false)}
        >
          <label className="check">
            <input type="radio" name="how" checked={how === "graceful"} onChange={() => setHow("graceful")} />
            <span>Gracefully: what has begun is finished, nothing more begins</span>
          </label>
          <label className="check">
            <input type="radio" name="how" checked={how === "now"} onChange={() => setHow("now")} />
            <span>Now: what has begun is ended</span>
          </label>
        </Confirm>
      )}
    </>
  );
}
