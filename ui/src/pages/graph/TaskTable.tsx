import { DataTable } from "../../components/DataTable";
import { EmptyState } from "../../components/PageHead";
import { asMap, truncate } from "../../lib/json";
import type { Task, TaskGraph } from "../../lib/taskGraph";

export function TaskTable({ graph, search, selected, select }: { graph: TaskGraph; search: string; selected: string; select: (task: string) => void }) {
  const searchText = search.toLowerCase();
  const rows = graph.tasks.filter((task) => `${task.id} ${task.type} ${task.roles.join(" ")}`.toLowerCase().includes(searchText));
  if (rows.length === 0) return <EmptyState title={`No tasks match “${search}”`}>Change or clear the search above.</EmptyState>;
  return (
    <div style={{ overflow: "auto", minHeight: 0 }}>
      <DataTable<Task>
        label="Tasks"
        rows={rows}
        rowKey={(task) => task.id}
        current={(task) => task.id === selected}
        columns={[
          {
            id: "task",
            name: "Task",
            sort: (task) => task.id,
            cell: (task) => (
              <button type="button" className="button quiet small" onClick={() => select(task.id)}>
                {task.id}
              </button>
            ),
          },
          { id: "type", name: "Type", sort: (task) => task.type, cell: (task) => task.type },
          { id: "roles", name: "Roles", sort: (task) => task.roles.join(), cell: (task) => truncate(task.roles.join(", "), 60) },
          { id: "layer", name: "Last set by", sort: (task) => task.layer, cell: (task) => <span className={`layer-${task.layer}`}>{task.layer}</span> },
          { id: "condition", name: "Condition", cell: (task) => <code>{condition(task)}</code> },
        ]}
      />
    </div>
  );
}

function condition(task: Task): string {
  const declared = task.raw.condition;
  const expression = asMap(declared).yaql_exp ?? declared;
  return expression === undefined ? "" : truncate(String(expression).replaceAll(/\s+/g, " ").trim(), 90);
}
