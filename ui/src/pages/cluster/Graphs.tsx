import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useNavigate } from "react-router";
import { api, data } from "../../api/client";
import { usePermission } from "../../app/identity";
import { LoadingRows } from "../../components/Loading";
import { Problem } from "../../components/Problem";
import { graphRows } from "../../lib/graphRows";
import { useCluster } from "./Cluster";

export default function Graphs() {
  const cluster = useCluster();
  const canOperate = usePermission("operate");
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const graphs = useQuery({
    queryKey: ["graphs", "of-cluster", cluster.id],
    queryFn: () =>
      data(api.GET("/api/v1/graphs", { params: { query: { clusters_ids: String(cluster.id), fetch_related: "1" } } })),
  });
  if (graphs.isPending) return <LoadingRows />;
  if (graphs.isError) return <Problem error={graphs.error} retry={() => void graphs.refetch()} />;
  const rows = graphRows(graphs.data);
  return (
    <div className="stack">
      <div className="tablewrap">
        <table aria-label="Graphs">
          <thead>
            <tr>
              <th>Graph type</th>
              <th className="layer-release">Release</th>
              <th className="layer-cluster">Cluster</th>
              <th className="layer-plugins">Plugins</th>
              <th>Node filter</th>
              <th>
                <span className="sr">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.type}>
                <td>
                  <Link to={`/clusters/${cluster.id}/graphs/${encodeURIComponent(row.type)}`}>{row.type}</Link>
                </td>
                <td>{row.release ?? <span className="muted">–</span>}</td>
                <td>{row.cluster ?? <span className="muted">–</span>}</td>
                <td>{row.plugins ?? <span className="muted">–</span>}</td>
                <td className="mono">{row.filter ?? <span className="muted">–</span>}</td>
                <td>
                  {canOperate && (
                    <Link className="button small" to={`/clusters/${cluster.id}/graphs/${encodeURIComponent(row.type)}/edit`}>
                      Edit cluster layer
                    </Link>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {canOperate && (
        <form
          className="row"
          onSubmit={(event) => {
            event.preventDefault();
            if (name) void navigate(`/clusters/${cluster.id}/graphs/${encodeURIComponent(name)}/edit`);
          }}
        >
          <input type="text" aria-label="New graph type" placeholder="New graph type" value={name} onChange={(event) => setName(event.target.value)} />
          <button type="submit" className="button" disabled={name === ""}>
            Create graph
          </button>
        </form>
      )}
    </div>
  );
}
