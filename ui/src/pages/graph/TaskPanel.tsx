import { Panel } from "../../components/Panel";
import { asList, asMap } from "../../lib/json";
import { toYaml } from "../../lib/yamlWrite";
import type { Task, TaskGraph } from "../../lib/taskGraph";

const HIDDEN = new Set(["id", "task_name", "provenance", "role", "cross-depends", "cross-depended-by"]);

/** Attributes of a task with their provenance, and its dependencies. */
export function TaskPanel({ graph, task, select, close }: { graph: TaskGraph; task: Task; select: (task: string) => void; close: () => void }) {
  const at = graph.tasks.indexOf(task);
  const namesOf = (indexes: number[]) => indexes.map((index) => graph.tasks[index]?.id ?? "");
  const before = namesOf(graph.edges.filter(([, to]) => to === at).map(([from]) => from));
  const after = namesOf(graph.edges.filter(([from]) => from === at).map(([, to]) => to));
  const provenance = asMap(task.raw.provenance);
  const fields = Object.keys(task.raw).filter((name) => !HIDDEN.has(name));
  return (
    <Panel title={task.id} aside={<span className="chip">{task.type}</span>} close={close}>
      <section className="stack tight" aria-label="Attributes">
        <h3>Attributes and provenance</h3>
        {fields.map((name) => (
          <div key={name} className="stack tight" style={{ gap: 2 }}>
            <div className="labelled">
              <strong>{name}</strong>
              <Provenance from={asMap(provenance[name])} />
            </div>
            <Value value={task.raw[name]} />
          </div>
        ))}
      </section>
      <Dependencies title="Depends on" names={before} select={select} />
      <Dependencies title="Required by" names={after} select={select} />
    </Panel>
  );
}

function Provenance({ from }: { from: Record<string, unknown> }) {
  if (!from.layer) return null;
  const layer = String(from.layer);
  const overridden = asList(from.overrides).map(String);
  return (
    <span className="small-text">
      <span className={`layer-${layer}`}>
        {layer}
        {from.plugin ? ` ${String(from.plugin)} ${String(from.version ?? "")}` : ""}
      </span>
      {overridden.length > 0 && <span className="muted">, overrides {overridden.join(", ")}</span>}
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

function Dependencies({ title, names, select }: { title: string; names: string[]; select: (task: string) => void }) {
  if (names.length === 0) return null;
  return (
    <section className="stack tight" aria-label={title}>
      <h3>
        {title} <span className="muted">{names.length}</span>
      </h3>
      <div className="row">
        {names.map((name) => (
          <button key={name} type="button" className="button small" onClick={() => select(name)}>
            {name}
          </button>
        ))}
      </div>
    </section>
  );
}
