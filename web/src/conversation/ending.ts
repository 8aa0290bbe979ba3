/** Why an answer ended, in words for people, and what can be done about it. */

import type { Run } from "$/wire/types";

export interface Ending {
  /** Null: it ended as answers do, and nothing needs to be said. */
  text: string | null;
  /** What one can do about it, or the error in the provider's own words. */
  hint: string | null;
  kind: "good" | "quiet" | "bad";
  /** The server can go on from what was kept. */
  canContinue: boolean;
}

const COMPLETED: Record<string, string> = {
  max_tokens: "The model stopped at its length limit.",
  content_filter: "The provider's filter ended the answer.",
  step_limit: "Paused at the limit of steps for one run.",
  time_limit: "Paused at the time limit for one run.",
  loop: "Paused: the same step was repeated without progress.",
};

const CANCELLED: Record<string, string> = {
  user: "Stopped by you.",
  disconnect: "Stopped: the page that asked was closed.",
  replaced: "Stopped: another prompt took its place.",
  withdrawn: "Taken back.",
  deleted: "The session was deleted.",
};

const INTERRUPTED: Record<string, string> = {
  server_stopped: "The server was stopped. Everything up to here is saved.",
  server_crashed: "The server restarted. Everything up to here is saved.",
};

const FAILED: Record<string, [text: string, hint: string]> = {
  provider_error: ["The model's provider gave an error.", "Try again, or use another model."],
  provider_stalled: [
    "The model stopped sending.",
    "Everything up to here is saved. Continue, or try another model.",
  ],
  no_response: ["The model gave no answer.", "Try again, or use another model."],
  budget: [
    "The run reached its cost limit.",
    "Everything up to here is saved. The limit is in the server's settings.",
  ],
  model_not_found: ["This model is no longer available.", "Choose another model and try again."],
  too_large: [
    "The answer grew larger than the server's limit.",
    "Everything up to here is saved. The limit is in the server's settings.",
  ],
  storage: [
    "The server could not save more of the answer.",
    "Look whether its disk is full, then continue.",
  ],
  internal: ["Something went wrong on the server.", "Try again; its log says more."],
};

const WELL: Ending = { text: null, hint: null, kind: "good", canContinue: false };

export function endingOf(run: Run): Ending {
  const reason = run.reason ?? "";
  switch (run.status) {
    case "queued":
    case "running":
      return WELL;
    case "completed": {
      const text = COMPLETED[reason];
      return text ? quiet(text, reason !== "content_filter") : WELL;
    }
    case "cancelled":
      return quiet(CANCELLED[reason] ?? "Stopped.");
    case "interrupted":
      return quiet(INTERRUPTED[reason] ?? "Interrupted. Everything up to here is saved.");
    case "failed":
      return failed(run, reason);
  }
}

/** For an answer whose run is not known here: a fork's, or one of long ago. */
export function endingOfMessage(finishReason: string | null): Ending {
  switch (finishReason) {
    case "cancelled":
      return quiet("Stopped.", false);
    case "interrupted":
      return quiet("Interrupted. Everything up to here is saved.", false);
    case "error":
      return { text: "The answer failed.", hint: null, kind: "bad", canContinue: false };
    default: {
      const text = COMPLETED[finishReason ?? ""];
      return text ? quiet(text, false) : WELL;
    }
  }
}

/** "Stopped by you." → "stopped by you": for the line under an answer. */
export function inLine(text: string): string {
  const first = text.split(". ")[0] ?? text;
  return first.charAt(0).toLowerCase() + first.slice(1).replace(/\.$/, "");
}

function failed(run: Run, reason: string): Ending {
  const [text, advice] = FAILED[reason] ?? ["The run failed.", "Try again."];
  const said = run.error?.message.trim() ?? "";
  const canContinue = reason !== "model_not_found";
  // Saying the same thing twice helps nobody.
  const hint = said === "" || same(said, text) ? advice : `${said.replace(/\.?$/, ".")} ${advice}`;
  return { text, hint, kind: "bad", canContinue };
}

function quiet(text: string, canContinue = true): Ending {
  return { text, hint: null, kind: "quiet", canContinue };
}

function same(a: string, b: string): boolean {
  const bare = (text: string) => text.toLowerCase().replace(/[^a-z]/g, "");
  return bare(a) === bare(b);
}
