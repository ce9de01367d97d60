import { useQuery } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { LoadingRows } from "../../components/Loading";
import { Problem } from "../../components/Problem";

/** Stage tasks of enabled plugins in the order in which they run. */
export function PluginOrder({ clusterId }: { clusterId: number }) {
  const order = useQuery({
    queryKey: ["graph", clusterId, "plugin-order"],
    queryFn: () => data(api.GET("/api/v1/clusters/{id}/plugins/order", { params: { path: { id: clusterId } } })),
  });
  if (order.isPending) return <LoadingRows rows={3} />;
  if (order.isError) return <Problem error={order.error} retry={() => void order.refetch()} />;
  const { tasks, notes, errors } = order.data;
  return (
    <section className="stack tight" aria-labelledby="plugin-order">
      <h2 id="plugin-order">Order of stage tasks</h2>
      {errors.map((error) => (
        <p key={error.message} className="problem">
          {error.message}
        </p>
      ))}
      {notes.map((note) => (
        <p key={note.message} className="problem warning">
          {note.message}
        </p>
      ))}
      {tasks.length === 0 ? (
        <p className="muted">No enabled plugin has stage tasks.</p>
      ) : (
        <div className="tablewrap">
          <table aria-label="Order of stage tasks">
            <thead>
              <tr>
                <th className="num">Order</th>
                <th>Stage</th>
                <th>Task</th>
                <th>Plugin</th>
                <th>Conventional use</th>
              </tr>
            </thead>
            <tbody>
              {tasks.map((task) => (
                <tr key={task.position}>
                  <td className="num">{task.position}</td>
                  <td>
                    {task.stage}/{task.number}
                    {task.tie && <span className="muted"> same number as another plugin</span>}
                  </td>
                  <td className="mono">{task.id}</td>
                  <td>
                    {task.plugin} {task.version}
                  </td>
                  <td>{task.range}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
