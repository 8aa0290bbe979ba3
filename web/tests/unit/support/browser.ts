/** As much of a browser as the state needs, and a server that a test answers for. */

import { vi } from "vitest";

export interface Call {
  method: string;
  path: string;
  body: unknown;
  key: string | null;
  keepalive: boolean;
  signal: AbortSignal | null;
}

/** What the server says to a call; to throw is to be out of reach. */
export type Answer = (call: Call) => unknown;

export class Server {
  readonly calls: Call[] = [];
  answer: Answer = () => ({});

  constructor() {
    vi.stubGlobal("fetch", (path: string, init: RequestInit = {}) => this.#asked(path, init));
  }

  to(path: string): Call[] {
    return this.calls.filter((call) => call.path === path);
  }

  async #asked(path: string, init: RequestInit): Promise<Response> {
    const { method = "GET", body, keepalive = false, signal = null } = init;
    const key = new Headers(init.headers).get("Idempotency-Key");
    const sent: unknown = typeof body === "string" ? JSON.parse(body) : null;
    const call = { method, path, body: sent, key, keepalive, signal };
    this.calls.push(call);
    const said = await this.answer(call);
    return said instanceof Response ? said : Response.json(said);
  }
}

export function refusal(status: number, code: string, detail = "no"): Response {
  return Response.json({ code, detail }, { status });
}

export function unreachable(): never {
  throw new TypeError("fetch failed");
}

/** A promise that the test settles. */
export class Held<T> {
  settle: (value: T) => void = () => undefined;
  readonly promise = new Promise<T>((resolve) => (this.settle = resolve));
}

/** What the browser keeps. */
export class Memory {
  readonly values = new Map<string, string>();

  get length(): number {
    return this.values.size;
  }

  key = (n: number): string | null => [...this.values.keys()][n] ?? null;
  getItem = (key: string): string | null => this.values.get(key) ?? null;
  setItem = (key: string, value: string): void => void this.values.set(key, value);
  removeItem = (key: string): void => void this.values.delete(key);
}

/** A window that is looked at and draws at once; timers are the test's. */
export function browse(): { server: Server; memory: Memory } {
  vi.useFakeTimers();
  const memory = new Memory();
  vi.stubGlobal("localStorage", memory);
  vi.stubGlobal("document", { visibilityState: "visible" });
  vi.stubGlobal("addEventListener", () => undefined);
  vi.stubGlobal("requestAnimationFrame", (draw: () => void) => (queueMicrotask(draw), 0));
  return { server: new Server(), memory };
}

export function closeBrowser(): void {
  vi.useRealTimers();
  vi.unstubAllGlobals();
}

/** Everything that is due now has happened. */
export async function settled(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}
