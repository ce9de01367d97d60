import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, page } from "../api/client";
import { useNodeNames } from "../lib/nodeNames";

/** Maximum number of options. With more nodes, a search field is shown. */
const OPTIONS_MAX = 100;

/**
 * Selects one node of a cluster, or of all clusters. Clusters may have ten thousand nodes, so the server
 * searches.
 */
export function NodePicker({ id, label, cluster, node, select }: {
  id: string;
  label: string;
  cluster?: string;
  node: string;
  select: (node: string) => void;
}) {
  const [search, setSearch] = useState("");
  const query = { ...(cluster && { cluster_id: cluster }), ...(search && { search }), order_by: "id", limit: OPTIONS_MAX };
  const nodes = useQuery({
    queryKey: ["nodes", "options", query],
    queryFn: () => page(api.GET("/api/v1/nodes", { params: { query } })),
    placeholderData: keepPreviousData,
  });
  const nameOf = useNodeNames(node ? [node] : []);
  const total = nodes.data?.total ?? 0;
  const options = (nodes.data?.items ?? []).filter((option) => option.cluster != null);
  const isListed = options.some((option) => String(option.id) === node);
  return (
    <div className="row">
      {(total > OPTIONS_MAX || search !== "") && (
        <input type="search" aria-label={`Search for ${label.toLowerCase()}`} placeholder="Search" value={search} onChange={(event) => setSearch(event.target.value)} />
      )}
      <select id={id} aria-label={label} value={node} onChange={(event) => select(event.target.value)}>
        <option value="">{total > OPTIONS_MAX ? `First ${OPTIONS_MAX} of ${total.toLocaleString("en-US")}` : "Select a node"}</option>
        {node !== "" && !isListed && <option value={node}>{nameOf(node)}</option>}
        {options.map((option) => (
          <option key={option.id} value={option.id}>
            {option.name}
          </option>
        ))}
      </select>
    </div>
  );
}
