import type { Listener, Logs } from "$/link/link";

/** Logs that a test writes. */
export class TestLogs implements Logs {
  readonly listeners = new Map<string, Listener>();
  readonly refollowed: { id: string; cursor: number | null }[] = [];

  follow(_kind: string, id: string, listener: Listener): () => void {
    this.listeners.set(id, listener);
    return () => this.listeners.delete(id);
  }

  refollow(id: string): void {
    this.refollowed.push({ id, cursor: this.listeners.get(id)?.cursor() ?? null });
  }

  snapshot(log: string, data: unknown): void {
    this.#give(log, "snapshot", data);
  }

  events(log: string, ...events: unknown[]): void {
    for (const event of events) this.#give(log, "event", event);
  }

  gone(log: string): void {
    this.#give(log, "gone", { log });
  }

  #give(log: string, kind: "snapshot" | "event" | "gone", data: unknown): void {
    this.listeners.get(log)?.pieces([{ log, kind, data: JSON.stringify(data) }]);
  }
}
