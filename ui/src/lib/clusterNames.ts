import { useQuery } from "@tanstack/react-query";
import { api, data } from "../api/client";

/** What clusters are called, where a page shows several. */
export function useClusterNames(isWanted: boolean): (id: number) => string {
  const clusters = useQuery({ queryKey: ["clusters"], queryFn: () => data(api.GET("/api/v1/clusters")), enabled: isWanted });
  const names = new Map(clusters.data?.map((cluster) => [cluster.id, cluster.name]));
  return (id) => names.get(id) ?? `cluster ${id}`;
}

/** What one cluster is called; by its number until that is known. */
export function useClusterName(id: number | null | undefined): string {
  const cluster = useQuery({
    queryKey: ["clusters", id],
    queryFn: () => data(api.GET("/api/v1/clusters/{id}", { params: { path: { id: id ?? 0 } } })),
    enabled: id != null,
  });
  return cluster.data?.name ?? `cluster ${id}`;
}
