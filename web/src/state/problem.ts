import { bytes } from "$/ui/format";

/** As much of a problem as the words need; `link/http` throws these. */
export interface Trouble {
  status: number;
  code: string;
  detail: string;
}

export function asTrouble(error: unknown): Trouble {
  if (typeof error === "object" && error !== null && "code" in error) {
    const { status, code, detail } = error as Partial<Trouble>;
    return { status: status ?? 0, code: code ?? "", detail: detail ?? "" };
  }
  return { status: 0, code: "", detail: error instanceof Error ? error.message : "" };
}

const WORDS: Record<string, string> = {
  offline: "The server cannot be reached. Your text is kept here.",
  session_busy: "Something is running. Wait for it to end, or stop it first.",
  queue_full: "The queue is full. Wait until some of it is done.",
  rate_limited: "Too many requests just now. Try again in a moment.",
  shutting_down: "The server is restarting. Try again in a moment.",
  model_not_found: "This model is not available. Choose another one.",
  payload_too_large: "This is too long to send at once.",
  unauthorized: "You are logged out. Log in again; your text is kept here.",
  forbidden: "The server did not allow this.",
  not_found: "This is no longer there.",
  not_last: "There is something newer; this can no longer be continued.",
  nothing_to_undo: "There is nothing to ask again.",
  internal: "Something went wrong on the server. Nothing was sent.",
};

/** Why something did not work, in words for the person who asked for it. */
export function explain(error: unknown): string {
  const trouble = asTrouble(error);
  const known = WORDS[trouble.code];
  if (known !== undefined) return known;
  return trouble.detail === "" ? "That did not work. Try again." : sentence(trouble.detail);
}

/** Why this file was not taken. */
export function explainUpload(error: unknown, file: { name: string; size: number }): string {
  const trouble = asTrouble(error);
  if (trouble.code !== "payload_too_large" && trouble.status !== 413) return explain(error);
  const limit = Number(/(\d+) bytes/.exec(trouble.detail)?.[1] ?? 0);
  const most = limit > 0 ? ` The server takes files up to ${bytes(limit)}.` : "";
  return `${file.name} is too large (${bytes(file.size)}).${most}`;
}

function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?]$/.test(first) ? first : `${first}.`;
}
