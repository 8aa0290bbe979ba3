import { between, duration, money, number } from "$/ui/format";
import type { Message, Run, Usage } from "$/wire/types";

const STATUS: Record<Run["status"], string> = {
  queued: "Waiting",
  running: "Running",
  completed: "Done",
  cancelled: "Stopped",
  failed: "Failed",
  interrupted: "Interrupted",
};

export function statusOf(run: Run, asking: boolean): string {
  return run.status === "running" && asking ? "Waits for you" : STATUS[run.status];
}

/** How long a run has worked, or worked; null before it began. */
export function elapsed(run: Run, now: number): string | null {
  if (run.started_at === null) return null;
  if (run.finished_at !== null) return duration(between(run.started_at, run.finished_at));
  const seconds = Math.floor(between(run.started_at, new Date(now).toISOString()));
  return seconds < 60 ? `${seconds} s` : duration(seconds);
}

export function toolCalls(messages: readonly Message[], run: Run): number {
  return messages
    .filter((message) => message.run_id === run.id)
    .reduce((sum, { parts }) => sum + parts.filter((part) => part.type === "tool").length, 0);
}

/** Counted numbers that the provider did not report are marked. */
export function tokens(count: number, usage: Usage): string {
  return usage.exact ? number(count) : `about ${number(count)}`;
}

export function cost(usage: Usage): string | null {
  if (usage.cost_usd === null) return null;
  return usage.exact ? money(usage.cost_usd) : `about ${money(usage.cost_usd)}`;
}
