import type { Status } from "./status";

/** How a topic looks. */
const STATUS: Record<string, Status> = {
  "run.started": "running",
  "run.succeeded": "success",
  "run.failed": "failed",
  "run.stopped": "stopped",
  "node.lost": "interrupted",
  "node.back": "success",
};

export const TOPICS = Object.keys(STATUS);

export function statusOfTopic(topic: string): Status {
  return STATUS[topic] ?? "pending";
}

/** Where there is more about it. */
export function placeOf(news: { run?: number | null; cluster?: number | null }): string | undefined {
  if (news.run != null) return `/runs/${news.run}`;
  if (news.cluster != null) return `/clusters/${news.cluster}/nodes`;
  return undefined;
}

/** What stands on the bell. */
export function countOf(unread: number): string {
  return unread > 99 ? "99+" : String(unread);
}
