import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { api, data } from "../../api/client";
import { Problem } from "../../components/Problem";

/** Does a task of a run that has ended again, and everything that comes after it. */
export function Again({ runId, task, node }: { runId: number; task: string; node: string }) {
  const navigate = useNavigate();
  const again = useMutation({
    mutationFn: () => data(api.POST("/api/v1/runs/{id}/retry", { params: { path: { id: runId } }, body: { from: [`${task}/${node}`] } })),
    onSuccess: (next) => navigate(`/runs/${next.id}`),
  });
  return (
    <div className="stack tight">
      {again.error && <Problem error={again.error} />}
      <div>
        <button type="button" className="button small" disabled={again.isPending} onClick={() => again.mutate()}>
          Run again from here
        </button>
      </div>
    </div>
  );
}
