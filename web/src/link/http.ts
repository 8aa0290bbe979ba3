/** Calls to the server. What creates something can be asked again without being done again. */

import { uniqueKey } from "$/link/key";
import { Patience } from "$/link/patience";
import { isAway, problemFrom, unreachable } from "$/link/problem";

/** After this long without an answer a call is given up. */
const PATIENCE_MS = 60_000;
/** Longest pause between two tries: whoever waits for an answer is looking at the page. */
const LONGEST_PAUSE_MS = 3_000;

export interface PostOptions {
  /** To send the same thing again later, after this call was given up. */
  key?: string;
  /** `never`: doing it twice would do it twice, so a lost answer is not asked for again. */
  again?: "safe" | "never";
  /** To give it up. What went out before may have arrived all the same. */
  signal?: AbortSignal;
}

type Query = Record<string, string | number | boolean | null | undefined>;

interface Request {
  method: string;
  path: string;
  body?: string;
  headers?: Record<string, string>;
  again: "safe" | "never";
  signal?: AbortSignal | undefined;
}

export const api = {
  get: <T>(path: string, query?: Query): Promise<T> =>
    call({ method: "GET", path: path + asked(query), again: "safe" }),

  post: <T>(path: string, body: unknown = {}, options: PostOptions = {}): Promise<T> =>
    call({
      ...withJson("POST", path, body),
      headers: {
        "Content-Type": "application/json",
        "Idempotency-Key": options.key ?? uniqueKey(),
      },
      again: options.again ?? "safe",
      signal: options.signal,
    }),

  patch: <T>(path: string, body: unknown): Promise<T> => call(withJson("PATCH", path, body)),

  put: <T>(path: string, body: unknown): Promise<T> => call(withJson("PUT", path, body)),

  delete: (path: string): Promise<void> => call({ method: "DELETE", path, again: "safe" }),

  /** Send and do not wait: the page may be gone before an answer comes. */
  last: (method: "PATCH" | "DELETE", path: string, body?: unknown): void => {
    const sent = body === undefined ? null : JSON.stringify(body);
    const headers = { "Content-Type": "application/json" };
    void fetch(path, { method, body: sent, headers, keepalive: true }).catch(() => undefined);
  },
};

/** Someone else's work when the server does not know us (any more). */
export const doors = {
  unauthorized: (): void => {
    const here = location.pathname + location.search;
    location.assign(`/login?next=${encodeURIComponent(here)}`);
  },
};

function withJson(method: string, path: string, body: unknown): Request {
  const headers = { "Content-Type": "application/json" };
  return { method, path, body: JSON.stringify(body), headers, again: "safe" };
}

async function call<T>(request: Request): Promise<T> {
  const patience = new Patience(Math.random, LONGEST_PAUSE_MS);
  const until = Date.now() + PATIENCE_MS;
  let repeated = false;
  while (true) {
    const answer = await tried(request);
    if (answer instanceof Response && !isAway(answer.status)) {
      // The first try did it, and its answer was lost.
      if (repeated && request.method === "DELETE" && answer.status === 404) return undefined as T;
      return read<T>(answer);
    }
    const problem =
      answer instanceof Response ? problemFrom(answer.status, await textOf(answer)) : unreachable();
    const pause = pauseOf(answer) ?? patience.next();
    if (request.again === "never" || Date.now() + pause > until) throw problem;
    await paused(pause, request.signal);
    if (request.signal?.aborted) throw problem;
    repeated = true;
  }
}

/** Ends early when the call is given up. */
function paused(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resume) => {
    if (signal?.aborted) return resume();
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resume();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done);
  });
}

async function tried(request: Request): Promise<Response | null> {
  try {
    return await fetch(request.path, {
      method: request.method,
      headers: request.headers ?? {},
      body: request.body ?? null,
      signal: request.signal ?? null,
    });
  } catch {
    return null;
  }
}

function pauseOf(answer: Response | null): number | null {
  const seconds = Number(answer?.headers.get("Retry-After") ?? "");
  return seconds > 0 ? seconds * 1000 : null;
}

async function read<T>(answer: Response): Promise<T> {
  if (!answer.ok) {
    if (answer.status === 401) doors.unauthorized();
    throw problemFrom(answer.status, await textOf(answer));
  }
  const text = await answer.text();
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

/** As much as can be read: a body that breaks off tells nothing more. */
export function textOf(answer: Response): Promise<string> {
  return answer.text().catch(() => "");
}

function asked(query: Query | undefined): string {
  const given = Object.entries(query ?? {}).filter(([, value]) => value != null && value !== "");
  if (given.length === 0) return "";
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()}`;
}
