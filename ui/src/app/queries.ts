import { QueryClient } from "@tanstack/react-query";
import { asFailure } from "../api/client";
import { connection } from "./connection";

/** Shows cached data while a query is refetched. Retries only 503 (temporarily unavailable), twice. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      retry: (failureCount, error) => asFailure(error).status === 503 && failureCount < 2,
      refetchOnWindowFocus: true,
      networkMode: "always",
    },
    mutations: { networkMode: "always" },
  },
});

connection.onRestored(() => void queries.invalidateQueries());
