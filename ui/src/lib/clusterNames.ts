import { useQuery } from "@tanstack/react-query";
import { api, data } from "../api/client";

/** Names of all clusters, for pages that show several. Returns `cluster ID` for names that are not loaded. */
export function useClusterNames(isEnabled: boolean): (id: number) => string {
  const clusters = useQuery({ queryKey: ["clusters"], queryFn: () => data(api.GET("/api/v1/clusters")), enabled: isEnabled });
  const names = new Map(clusters.data?.map((cluster) => [cluster.id, cluster.name]));
  return (id) => names.get(id) ?? `cluster ${id}`;
}

/** Name of one cluster; `cluster ID` until it is loaded. */
export function useClusterName(id: number | null | undefined): string {
  const cluster = useQuery({
    queryKey: ["clusters", id],
    queryFn: () => data(api.GET("/api/v1/clusters/{id}", { params: { path: { id: id ?? 0 } } })),
    enabled: id != null,
  });
  return cluster.data?.name ?? `cluster ${id}`;
}
