import type { Status } from "./status";

/** Status whose symbol and colour a topic has. */
const STATUS: Record<string, Status> = {
  "run.started": "running",
  "run.succeeded": "success",
  "run.failed": "failed",
  "run.partial": "interrupted",
  "run.stopped": "stopped",
  "node.lost": "interrupted",
  "node.back": "success",
  "node.replaced": "interrupted",
};

export const TOPICS = Object.keys(STATUS);

export function statusOfTopic(topic: string): Status {
  return STATUS[topic] ?? "pending";
}

/** Path of the run or cluster that a notification is about. */
export function pathOf(notification: { run?: number | null; cluster?: number | null }): string | undefined {
  if (notification.run != null) return `/runs/${notification.run}`;
  if (notification.cluster != null) return `/clusters/${notification.cluster}/nodes`;
  return undefined;
}

/** Number of unread notifications for the navigation bar, capped at `99+`. */
export function formatUnread(unread: number): string {
  return unread > 99 ? "99+" : String(unread);
}
