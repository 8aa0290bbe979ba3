/** A job in words. */

import { between, duration } from "$/ui/format";
import type { Job } from "$/wire/types";

export function stateOf(job: Job): string {
  switch (job.state) {
    case "running":
      return job.stopping ? "Stopping" : "Running";
    case "ended":
      return ending(job.exit_code);
    case "stopped":
      return "Stopped";
    case "interrupted":
      return "Ended with the server";
  }
}

/** How long it ran, once it has ended. */
export function took(job: Job): string {
  return job.ended_at === null ? "" : duration(between(job.started_at, job.ended_at));
}

/** It ended in a way that somebody should look at. */
export function wentWrong(job: Job): boolean {
  return job.state === "interrupted" || (job.state === "ended" && job.exit_code !== 0);
}

export function outputOf(job: Job): string {
  return `/api/jobs/${encodeURIComponent(job.id)}/output`;
}

function ending(code: number | null): string {
  if (code === null) return "Ended";
  if (code < 0) return `Ended by signal ${-code}`;
  return code === 0 ? "Done" : `Exit code ${code}`;
}
