import { useQuery } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { count } from "../../lib/format";
import { Words } from "../../components/Words";

/** What the server says about the merged graph as a whole. */
export function Findings({ clusterId, graphType, choose }: { clusterId: number; graphType: string; choose: (task: string) => void }) {
  const findings = useQuery({
    queryKey: ["graph", clusterId, graphType, "check"],
    queryFn: () => data(api.GET("/api/v1/clusters/{id}/deployment_tasks/check", { params: { path: { id: clusterId }, query: { graph_type: graphType } } })),
  });
  const all = findings.data ?? [];
  if (all.length === 0) return null;
  const nErrors = all.filter((one) => one.severity === "error").length;
  return (
    <details className={`problem${nErrors === 0 ? " warning" : ""}`} open={nErrors > 0}>
      <summary>
        {nErrors > 0 && count(nErrors, "error")}
        {nErrors > 0 && nErrors < all.length && ", "}
        {nErrors < all.length && count(all.length - nErrors, "warning")}
      </summary>
      <ul style={{ maxHeight: 180, overflow: "auto" }}>
        {all.map((one, place) => (
          <li key={place}>
            {one.task && (
              <button type="button" className="button small" onClick={() => choose(one.task ?? "")}>
                {one.task}
              </button>
            )}{" "}
            <Words text={one.message} />{" "}
            {one.help && (
              <span className="help">
                <Words text={one.help} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}
