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
  /** Where asking the same again would fail again: what helps. */
  way: Way | null;
}

/** What can be done about a refusal, other than to try again. */
export type Way = "model" | "providers" | "compact";

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

/** What the server says of a refusal, and what helps; the first that fits counts. */
const WAYS: readonly [said: RegExp, way: Way][] = [
  [/refused the key|check the base URL|base URL or a key|host name is not known/, "providers"],
  [/more than this model can take/, "compact"],
  [/no provider offers a model|there is no provider/, "providers"],
  [/price of this model is not known|no credit left|cannot use tools|no such files/, "model"],
];

const WELL: Ending = { text: null, hint: null, kind: "good", canContinue: false, way: null };

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
      return { ...WELL, text: "The answer failed.", kind: "bad" };
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
  const said = (run.error?.message.trim() ?? "").replace(/(?<![.?!…])$/, ".");
  const way = wayOf(reason, said);
  const canContinue = reason !== "model_not_found";
  const ending = { kind: "bad", canContinue, way } as const;
  // Saying the same thing twice helps nobody.
  if (said === "." || same(said, text)) return { ...ending, text, hint: advice };
  // A limit that could not be kept is not one that was reached: the server's sentence says it all.
  if (reason === "budget") return { ...ending, text: said, hint: null };
  const advised = reason === "provider_error" || reason === "model_not_found";
  return { ...ending, text, hint: advised ? said : `${said} ${advice}` };
}

function wayOf(reason: string, said: string): Way | null {
  const way = WAYS.find(([pattern]) => pattern.test(said))?.[1] ?? null;
  return way ?? (reason === "model_not_found" ? "model" : null);
}

function quiet(text: string, canContinue = true): Ending {
  return { ...WELL, text, kind: "quiet", canContinue };
}

function same(a: string, b: string): boolean {
  const bare = (text: string) => text.toLowerCase().replace(/[^a-z]/g, "");
  return bare(a) === bare(b);
}
