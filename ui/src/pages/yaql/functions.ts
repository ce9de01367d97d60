import { queryOptions } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";

export const functionList = queryOptions({
  queryKey: ["yaql", "functions"],
  queryFn: () => data(api.GET("/api/v1/yaql/functions")),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Function names for completion, without operators. */
export const functionNames = queryOptions({
  ...functionList,
  select: (functions: Schemas["YaqlFunction"][]) => [...new Set(functions.map((entry) => entry.name).filter((name) => /^[A-Za-z]/.test(name)))].toSorted(),
});
