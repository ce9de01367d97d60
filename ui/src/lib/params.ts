import { useCallback } from "react";
import { useSearchParams } from "react-router";

/** A part of the view that the address holds; the default is not written. */
export function useParam(name: string, initial: string): [string, (value: string) => void] {
  const [params, setParams] = useSearchParams();
  const set = useCallback(
    (value: string) =>
      setParams(
        (now) => {
          const next = new URLSearchParams(now);
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

/** Several parts of the view at once; an empty text takes one away. */
export function useSetParams(): (values: Record<string, string>) => void {
  const [, setParams] = useSearchParams();
  return useCallback(
    (values: Record<string, string>) =>
      setParams(
        (now) => {
          const next = new URLSearchParams(now);
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
