import { useQuery } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { LoadingRows } from "../../components/Loading";
import { EmptyState } from "../../components/PageHead";
import { Problem } from "../../components/Problem";
import { diffTasks } from "../../lib/diffTasks";
import { count } from "../../lib/format";
import { truncate } from "../../lib/json";
import { useParam } from "../../lib/params";
import { tasksAt } from "./queries";

const CHOICES: [string, string][] = [
  ["release", "release"],
  ["release,cluster", "release and cluster"],
  ["release,plugins", "release and plugins"],
  ["cluster", "cluster only"],
  ["plugins", "plugins only"],
  ["release,cluster,plugins", "all layers"],
];

/** Maximum number of plans in the selection. */
const PLANS_MAX = 20;

/** Compares two sets of layers, or layers with the graph as it was when a plan was created. */
export function Diff({ clusterId, graphType }: { clusterId: number; graphType: string }) {
  const [from, setFrom] = useParam("from", "release");
  const [to, setTo] = useParam("to", "release,cluster,plugins");
  const before = useQuery(tasksAt(clusterId, graphType, from));
  const after = useQuery(tasksAt(clusterId, graphType, to));
  const plans = useQuery({
    queryKey: ["plans", clusterId],
    queryFn: () => data(api.GET("/api/v1/clusters/{id}/plans", { params: { path: { id: clusterId } } })),
  });
  const planChoices = (plans.data ?? [])
    .filter((plan) => plan.graph_type === graphType)
    .toSorted((a, b) => b.id - a.id)
    .slice(0, PLANS_MAX)
    .map((plan): [string, string] => [`plan:${plan.id}`, `plan #${plan.id}`]);
  const choices = [...CHOICES, ...planChoices];
  const error = before.error ?? after.error;
  const changes = before.data && after.data ? diffTasks(before.data, after.data) : undefined;
  return (
    <div className="stack" style={{ overflow: "auto", minHeight: 0 }}>
      <div className="toolbar">
        <Choice name="From" value={from} set={setFrom} choices={choices} />
        <Choice name="To" value={to} set={setTo} choices={choices} />
        {changes && <span className="muted">{count(changes.length, "task differs", "tasks differ")}</span>}
      </div>
      {error && <Problem error={error} />}
      {!changes && !error && <LoadingRows />}
      {changes?.length === 0 && <EmptyState title="No differences">Select other layers or a plan above.</EmptyState>}
      {changes?.map((change) => (
        <article key={change.id} className="card stack tight" aria-label={change.id}>
          <div className="row">
            <h3>{change.id}</h3>
            <span className={`chip ${change.kind === "added" ? "diff-add" : change.kind === "removed" ? "diff-del" : ""}`}>{change.kind}</span>
          </div>
          {change.fields.map((field) => (
            <div key={field.name}>
              <strong className="small-text">{field.name}</strong>
              {field.before !== undefined && <pre className="diff-del">− {truncate(field.before, 2000)}</pre>}
              {field.after !== undefined && <pre className="diff-add">+ {truncate(field.after, 2000)}</pre>}
            </div>
          ))}
        </article>
      ))}
    </div>
  );
}

function Choice({ name, value, set, choices }: { name: string; value: string; set: (value: string) => void; choices: [string, string][] }) {
  return (
    <label className="row">
      {name}
      <select value={value} onChange={(event) => set(event.target.value)}>
        {choices.map(([layers, title]) => (
          <option key={layers} value={layers}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}
