import { DataTable } from "../../components/DataTable";
import { Empty } from "../../components/PageHead";
import { asMap, brief } from "../../lib/json";
import type { Task, TaskGraph } from "../../lib/taskGraph";

export function TaskTable({ graph, search, chosen, choose }: { graph: TaskGraph; search: string; chosen: string; choose: (task: string) => void }) {
  const words = search.toLowerCase();
  const rows = graph.tasks.filter((task) => `${task.id} ${task.type} ${task.roles.join(" ")}`.toLowerCase().includes(words));
  if (rows.length === 0) return <Empty title={`No task matches “${search}”`} />;
  return (
    <div style={{ overflow: "auto", minHeight: 0 }}>
      <DataTable<Task>
        label="Tasks"
        rows={rows}
        rowKey={(task) => task.id}
        current={(task) => task.id === chosen}
        columns={[
          {
            id: "task",
            name: "Task",
            sort: (task) => task.id,
            cell: (task) => (
              <button type="button" className="button quiet small" onClick={() => choose(task.id)}>
                {task.id}
              </button>
            ),
          },
          { id: "type", name: "Type", sort: (task) => task.type, cell: (task) => task.type },
          { id: "roles", name: "Roles", sort: (task) => task.roles.join(), cell: (task) => brief(task.roles.join(", "), 60) },
          { id: "layer", name: "Last set by", sort: (task) => task.layer, cell: (task) => <span className={`layer-${task.layer}`}>{task.layer}</span> },
          { id: "condition", name: "Condition", cell: (task) => <code>{condition(task)}</code> },
        ]}
      />
    </div>
  );
}

function condition(task: Task): string {
  const given = task.raw.condition;
  const expression = asMap(given).yaql_exp ?? given;
  return expression === undefined ? "" : brief(String(expression).replaceAll(/\s+/g, " ").trim(), 90);
}
