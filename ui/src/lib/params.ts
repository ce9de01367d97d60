import { useCallback } from "react";
import { useSearchParams } from "react-router";

/** View state in a URL parameter. The default value is not written to the URL. */
export function useParam(name: string, initial: string): [string, (value: string) => void] {
  const [params, setParams] = useSearchParams();
  const set = useCallback(
    (value: string) =>
      setParams(
        (previous) => {
          const next = new URLSearchParams(previous);
          if (value === initial) next.delete(name);
          else next.set(name, value);
          return next;
        },
        { replace: true },
      ),
    [setParams, name, initial],
  );
  return [params.get(name) ?? initial, set];
}

/** Sets several URL parameters in one navigation. An empty value deletes the parameter. */
export function useSetParams(): (values: Record<string, string>) => void {
  const [, setParams] = useSearchParams();
  return useCallback(
    (values: Record<string, string>) =>
      setParams(
        (previous) => {
          const next = new URLSearchParams(previous);
          for (const [name, value] of Object.entries(values)) {
            if (value === "") next.delete(name);
            else next.set(name, value);
          }
          return next;
        },
        { replace: true },
      ),
    [setParams],
  );
}
