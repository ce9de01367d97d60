import { useQuery } from "@tanstack/react-query";
import { LoadingRows } from "../../components/Loading";
import { Empty } from "../../components/PageHead";
import { Problem } from "../../components/Problem";
import { diffTasks } from "../../lib/diffTasks";
import { count } from "../../lib/format";
import { brief } from "../../lib/json";
import { useParam } from "../../lib/params";
import { mergedTasks } from "./queries";

const CHOICES: [string, string][] = [
  ["release", "release"],
  ["release,cluster", "release and cluster"],
  ["release,plugins", "release and plugins"],
  ["cluster", "cluster alone"],
  ["plugins", "plugins alone"],
  ["release,cluster,plugins", "all layers"],
];

/** What a layer adds to and changes in others. */
export function Diff({ clusterId, graphType }: { clusterId: number; graphType: string }) {
  const [from, setFrom] = useParam("from", "release");
  const [to, setTo] = useParam("to", "release,cluster,plugins");
  const before = useQuery(mergedTasks(clusterId, graphType, from));
  const after = useQuery(mergedTasks(clusterId, graphType, to));
  const error = before.error ?? after.error;
  const changes = before.data && after.data ? diffTasks(before.data, after.data) : undefined;
  return (
    <div className="stack" style={{ overflow: "auto", minHeight: 0 }}>
      <div className="toolbar">
        <Choice name="From" value={from} set={setFrom} />
        <Choice name="To" value={to} set={setTo} />
        {changes && <span className="muted">{count(changes.length, "task differs", "tasks differ")}</span>}
      </div>
      {error && <Problem error={error} />}
      {!changes && !error && <LoadingRows />}
      {changes?.length === 0 && <Empty title="No difference" />}
      {changes?.map((change) => (
        <article key={change.id} className="card stack tight" aria-label={change.id}>
          <div className="row">
            <h3>{change.id}</h3>
            <span className={`chip ${change.kind === "added" ? "diff-add" : change.kind === "removed" ? "diff-del" : ""}`}>{change.kind}</span>
          </div>
          {change.fields.map((field) => (
            <div key={field.name}>
              <strong className="small-text">{field.name}</strong>
              {field.before !== undefined && <pre className="diff-del">− {brief(field.before, 2000)}</pre>}
              {field.after !== undefined && <pre className="diff-add">+ {brief(field.after, 2000)}</pre>}
            </div>
          ))}
        </article>
      ))}
    </div>
  );
}

function Choice({ name, value, set }: { name: string; value: string; set: (value: string) => void }) {
  return (
    <label className="row">
      {name}
      <select value={value} onChange={(event) => set(event.target.value)}>
        {CHOICES.map(([layers, title]) => (
          <option key={layers} value={layers}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}
