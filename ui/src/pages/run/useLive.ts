import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { follow } from "../../api/events";

/** Delay between an event and the refresh, so that a burst of events causes one refresh. */
const REFRESH_DELAY_MS = 500;

interface ChildRun {
  id: number;
  /** Number of the last event that the loaded data include. The stream resumes after it. */
  lastEvent: number;
}

/** Follows the events of a child run and refetches the queries `queryKeys` after each batch of events. */
export function useLive(childRun: ChildRun | undefined, isActive: boolean, queryKeys: unknown[][]): { isLive: boolean } {
  const queries = useQueryClient();
  const [isLive, setLive] = useState(true);
  const childRunId = childRun?.id;
  const last = useRef(0);
  const lastEvent = childRun?.lastEvent ?? 0;
  const keys = JSON.stringify(queryKeys);
  // A ref, because a new start position must not restart the stream.
  useEffect(() => {
    last.current = lastEvent;
  }, [lastEvent]);
  useEffect(() => {
    if (childRunId === undefined || !isActive) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const refresh = () => {
      timer = undefined;
      for (const queryKey of JSON.parse(keys) as unknown[][]) void queries.invalidateQueries({ queryKey });
    };
    const stop = follow(`/api/v1/runs/${childRunId}/events`, last.current, {
      message: () => {
        timer ??= setTimeout(refresh, REFRESH_DELAY_MS);
      },
      live: setLive,
      end: () => setTimeout(refresh, REFRESH_DELAY_MS),
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [childRunId, isActive, keys, queries]);
  return { isLive: isLive || !isActive };
}
