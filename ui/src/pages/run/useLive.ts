import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { follow } from "../../api/events";

const PAUSE_MS = 500;

/** Follows the events of a part of a run; what is shown of it is read anew soon after something happened. */
export function useLive(partId: number | undefined, isActive: boolean, queryKeys: unknown[][]): { isLive: boolean; isPaused: boolean } {
  const queries = useQueryClient();
  const [isLive, setLive] = useState(true);
  const [isPaused, setPaused] = useState(false);
  const keys = JSON.stringify(queryKeys);
  useEffect(() => {
    if (partId === undefined || !isActive) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const readAnew = () => {
      timer = undefined;
      for (const queryKey of JSON.parse(keys) as unknown[][]) void queries.invalidateQueries({ queryKey });
    };
    const stop = follow(`/api/v1/runs/${partId}/events`, 0, {
      message: (message) => {
        if (message.event === "paused") setPaused(true);
        if (message.event === "resumed") setPaused(false);
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
  return { isLive: isLive || !isActive, isPaused };
}
