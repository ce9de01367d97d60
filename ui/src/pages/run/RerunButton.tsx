import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { api, data } from "../../api/client";
import { Problem } from "../../components/Problem";

/** Button that starts a new run from a task of an ended run: the task and its dependents run again. */
export function RerunButton({ runId, task, node }: { runId: number; task: string; node: string }) {
  const navigate = useNavigate();
  const rerun = useMutation({
    mutationFn: () => data(api.POST("/api/v1/runs/{id}/retry", { params: { path: { id: runId } }, body: { from: [`${task}/${node}`] } })),
    onSuccess: (next) => navigate(`/runs/${next.id}`),
  });
  return (
    <div className="stack tight">
      {rerun.error && <Problem error={rerun.error} />}
      <div>
        <button type="button" className="button small" disabled={rerun.isPending} onClick={() => rerun.mutate()}>
          Rerun from this task
        </button>
      </div>
    </div>
  );
}
