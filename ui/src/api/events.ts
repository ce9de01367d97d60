// Server-sent events over fetch, because EventSource cannot send the token header. Resumes after the last
// received event.
import { session } from "../app/session";
import { fetchServer } from "./client";

export interface Message {
  id: string;
  event: string;
  data: string;
}

/** Incremental parser of an event stream. A chunk may end at any character. */
export function eventParser(emit: (message: Message) => void): (chunk: string) => void {
  let rest = "";
  let current = { id: "", event: "message", data: [] as string[] };
  const line = (text: string) => {
    if (text === "") {
      if (current.data.length > 0) emit({ ...current, data: current.data.join("\n") });
      current = { id: current.id, event: "message", data: [] };
      return;
    }
    if (text.startsWith(":")) return;
    const colon = text.indexOf(":");
    const field = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? "" : text.slice(colon + 1).replace(/^ /, "");
    if (field === "data") current.data.push(value);
    else if (field === "event") current.event = value;
    else if (field === "id") current.id = value;
  };
  return (chunk) => {
    const lines = (rest + chunk).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    for (const text of lines) line(text);
  };
}

const RECONNECT_DELAY_MS = 1500;

/** Follows events and reconnects until the server ends the stream. Returns a function that unsubscribes. */
export function follow(
  path: string,
  after: number,
  on: { message: (message: Message) => void; live: (isLive: boolean) => void; end: () => void },
): () => void {
  const control = new AbortController();
  let last = String(after);
  const run = async () => {
    while (!control.signal.aborted) {
      try {
        const headers: Record<string, string> = { Accept: "text/event-stream", "Last-Event-ID": last };
        const token = session.token();
        if (token) headers["X-Auth-Token"] = token;
        const response = await fetchServer(path, { headers, signal: control.signal });
        if (response.status === 401) return session.expire();
        if (!response.ok || !response.body) return on.end();
        on.live(true);
        const feed = eventParser((message) => {
          last = message.id || last;
          on.message(message);
        });
        const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
        for (;;) {
          const { done, value } = await reader.read();
          if (done) break;
          feed(value);
        }
        // The server closes the stream when the run has ended.
        return on.end();
      } catch {
        if (control.signal.aborted) return;
        on.live(false);
        await new Promise((resolve) => setTimeout(resolve, RECONNECT_DELAY_MS));
      }
    }
  };
  void run();
  return () => control.abort();
}
