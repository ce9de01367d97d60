import { Panel } from "../../components/Panel";
import { asList, asMap } from "../../lib/json";
import { toYaml } from "../../lib/yamlWrite";
import type { Task, TaskGraph } from "../../lib/taskGraph";

const HIDDEN = new Set(["id", "task_name", "provenance", "role", "cross-depends", "cross-depended-by"]);

/** A task: who set what, and what is before and after it. */
export function TaskPanel({ graph, task, choose, close }: { graph: TaskGraph; task: Task; choose: (task: string) => void; close: () => void }) {
  const at = graph.tasks.indexOf(task);
  const named = (places: number[]) => places.map((place) => graph.tasks[place]?.id ?? "");
  const before = named(graph.edges.filter(([, to]) => to === at).map(([from]) => from));
  const after = named(graph.edges.filter(([from]) => from === at).map(([, to]) => to));
  const provenance = asMap(task.raw.provenance);
  const fields = Object.keys(task.raw).filter((name) => !HIDDEN.has(name));
  return (
    <Panel title={task.id} aside={<span className="chip">{task.type}</span>} close={close}>
      <section className="stack tight" aria-label="Attributes">
        <h3>Attributes, and who set them</h3>
        {fields.map((name) => (
          <div key={name} className="stack tight" style={{ gap: 2 }}>
            <div className="said">
              <strong>{name}</strong>
              <Source from={asMap(provenance[name])} />
            </div>
            <Value value={task.raw[name]} />
          </div>
        ))}
      </section>
      <Neighbours title="Comes after" names={before} choose={choose} />
      <Neighbours title="Comes before" names={after} choose={choose} />
    </Panel>
  );
}

function Source({ from }: { from: Record<string, unknown> }) {
  if (!from.layer) return null;
  const layer = String(from.layer);
  const over = asList(from.overrides).map(String);
  return (
    <span className="small-text">
      <span className={`layer-${layer}`}>
        {layer}
        {from.plugin ? ` ${String(from.plugin)} ${String(from.version ?? "")}` : ""}
      </span>
      {over.length > 0 && <span className="muted">, over {over.join(", ")}</span>}
    </span>
  );
}

function Value({ value }: { value: unknown }) {
  const expression = asMap(value).yaql_exp;
  if (typeof expression === "string") return <pre className="tok-yaql">{expression.trim()}</pre>;
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) {
    return <p className="mono">{value.join(", ")}</p>;
  }
  return <pre>{typeof value === "string" ? value : toYaml(value).trimEnd()}</pre>;
}

function Neighbours({ title, names, choose }: { title: string; names: string[]; choose: (task: string) => void }) {
  if (names.length === 0) return null;
  return (
    <section className="stack tight" aria-label={title}>
      <h3>
        {title} <span className="muted">{names.length}</span>
      </h3>
      <div className="row">
        {names.map((name) => (
          <button key={name} type="button" className="button small" onClick={() => choose(name)}>
            {name}
          </button>
        ))}
      </div>
    </section>
  );
}
