import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { follow } from "../../api/events";

const PAUSE_MS = 500;

interface Part {
  id: number;
  /** The number of the last event that is known of already: what was before it is not asked for again. */
  lastEvent: number;
}

/** Follows the events of a part of a run; what is shown of it is read anew soon after something happened. */
export function useLive(part: Part | undefined, isActive: boolean, queryKeys: unknown[][]): { isLive: boolean } {
  const queries = useQueryClient();
  const [isLive, setLive] = useState(true);
  const partId = part?.id;
  const last = useRef(0);
  const lastEvent = part?.lastEvent ?? 0;
  const keys = JSON.stringify(queryKeys);
  // Where to begin, or to begin again, is no reason to do so.
  useEffect(() => {
    last.current = lastEvent;
  }, [lastEvent]);
  useEffect(() => {
    if (partId === undefined || !isActive) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const readAnew = () => {
      timer = undefined;
      for (const queryKey of JSON.parse(keys) as unknown[][]) void queries.invalidateQueries({ queryKey });
    };
    const stop = follow(`/api/v1/runs/${partId}/events`, last.current, {
      message: () => {
        timer ??= setTimeout(readAnew, PAUSE_MS);
      },
      live: setLive,
      end: () => setTimeout(readAnew, PAUSE_MS),
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [partId, isActive, keys, queries]);
  return { isLive: isLive || !isActive };
}
