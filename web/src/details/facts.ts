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
  if (run.status === "running" && asking) return "Waits for you";
  return run.waiting === null ? STATUS[run.status] : "Waits for the provider";
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
function tokens(count: number, usage: Usage): string {
  return usage.exact ? number(count) : `about ${number(count)}`;
}

/** What was used, as rows; what was not is left out. */
export function usageFacts(usage: Usage): [name: string, value: string | null][] {
  const some = (count: number): string | null => (count > 0 ? tokens(count, usage) : null);
  const used = usage.input_tokens + usage.output_tokens > 0;
  return [
    ["Tokens read", used ? tokens(usage.input_tokens, usage) : null],
    ["Of these, from cache", some(usage.cache_read_tokens)],
    ["Of these, into cache", some(usage.cache_write_tokens)],
    ["Tokens written", used ? tokens(usage.output_tokens, usage) : null],
    ["Of these, reasoning", some(usage.reasoning_tokens)],
    ["Cost", cost(usage)],
  ];
}

function cost(usage: Usage): string | null {
  if (usage.cost_usd === null) return null;
  return usage.exact ? money(usage.cost_usd) : `about ${money(usage.cost_usd)}`;
}
