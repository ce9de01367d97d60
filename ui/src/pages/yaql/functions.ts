import { queryOptions } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";

export const functionList = queryOptions({
  queryKey: ["yaql", "functions"],
  queryFn: () => data(api.GET("/api/v1/yaql/functions")),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Names that can be completed. */
export const functionNames = queryOptions({
  ...functionList,
  select: (all: Schemas["YaqlFunction"][]) => [...new Set(all.map((one) => one.name).filter((name) => /^[A-Za-z]/.test(name)))].toSorted(),
});
