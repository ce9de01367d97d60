import { useQuery } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { count } from "../../lib/format";
import { MessageText } from "../../components/MessageText";

/** Diagnostics of the merged graph. */
export function Diagnostics({ clusterId, graphType, select }: { clusterId: number; graphType: string; select: (task: string) => void }) {
  const diagnostics = useQuery({
    queryKey: ["graph", clusterId, graphType, "check"],
    queryFn: () => data(api.GET("/api/v1/clusters/{id}/deployment_tasks/check", { params: { path: { id: clusterId }, query: { graph_type: graphType } } })),
  });
  const items = diagnostics.data ?? [];
  if (items.length === 0) return null;
  const nErrors = items.filter((diagnostic) => diagnostic.severity === "error").length;
  return (
    <details className={`problem${nErrors === 0 ? " warning" : ""}`} open={nErrors > 0}>
      <summary>
        {nErrors > 0 && count(nErrors, "error")}
        {nErrors > 0 && nErrors < items.length && ", "}
        {nErrors < items.length && count(items.length - nErrors, "warning")}
      </summary>
      <ul style={{ maxHeight: 180, overflow: "auto" }}>
        {items.map((diagnostic, index) => (
          <li key={index}>
            {diagnostic.task && (
              <button type="button" className="button small" onClick={() => select(diagnostic.task ?? "")}>
                {diagnostic.task}
              </button>
            )}{" "}
            <MessageText text={diagnostic.message} />{" "}
            {diagnostic.help && (
              <span className="help">
                <MessageText text={diagnostic.help} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}
