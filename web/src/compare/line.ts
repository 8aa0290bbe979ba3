/**
 * A held request that runs hang on: as long as it is open they go on, and when it is closed, by us
 * or by the browser, the server stops them at once. One line holds the runs of many panes, because
 * a browser opens no more than six connections to a host.
 */

import { textOf } from "$/link/http";
import { uniqueKey } from "$/link/key";
import { problemFrom, unreachable } from "$/link/problem";

export class Line {
  /** Resolves when every run on it has ended, or it was closed. Never rejects. */
  readonly ended: Promise<void>;
  readonly #abort: AbortController;

  private constructor(body: ReadableStream<Uint8Array>, abort: AbortController) {
    this.#abort = abort;
    this.ended = drain(body);
  }

  /** Asks, and resolves once the server has accepted. The signal takes it back until then. */
  static async open(path: string, body: unknown, signal: AbortSignal): Promise<Line> {
    const abort = new AbortController();
    const give = (): void => abort.abort();
    signal.throwIfAborted();
    signal.addEventListener("abort", give);
    try {
      const answer = await ask(path, body, abort.signal);
      if (!answer.ok || answer.body === null)
        throw problemFrom(answer.status, await textOf(answer));
      return new Line(answer.body, abort);
    } finally {
      signal.removeEventListener("abort", give);
    }
  }

  close(): void {
    this.#abort.abort();
  }
}

async function ask(path: string, body: unknown, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(path, {
      method: "POST",
      headers: {
        Accept: "text/event-stream",
        "Content-Type": "application/json",
        "Idempotency-Key": uniqueKey(),
      },
      body: JSON.stringify(body),
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw error;
    // What the server may have begun has ended with the connection.
    throw unreachable();
  }
}

/** The events come over the page's own stream too: here only the end matters. */
async function drain(body: ReadableStream<Uint8Array>): Promise<void> {
  const reader = body.getReader();
  try {
    while (!(await reader.read()).done);
  } catch {
    // Closed by us, or the connection broke: the runs have ended either way.
  }
}
