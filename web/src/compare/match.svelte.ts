/** A comparison on the screen: its panes, what hangs on this page, and what can be done. */

import { Problem } from "$/link/problem";
import type { Conversation } from "$/state/conversation.svelte";
import type { Input, Session } from "$/wire/types";
import { Line } from "./line";
import { Pane } from "./pane.svelte";
import type { Comparison, Winner } from "$/wire/comparisons";
import { comparisons } from "./comparisons";

export type Turns = "together" | "in_turn";

/** Held at once at most: a browser opens six connections to a host, and two are needed. */
const LINES = 4;

export class Match {
  readonly id: string;
  phase: "loading" | "ready" | "missing" | "failed" = $state("loading");
  comparison: Comparison | null = $state.raw(null);
  panes: Pane[] = $state.raw([]);
  stopping = $state(false);
  /** Prompts that are on their way. */
  #asking = $state(0);

  readonly open: Pane[] = $derived(this.panes.filter((pane) => !pane.closed));
  readonly busy: boolean = $derived(
    this.#asking > 0 || this.panes.some((pane) => pane.busy || pane.waiting),
  );
  readonly hidden: boolean = $derived(
    this.comparison !== null && this.comparison.blind && !this.comparison.voted,
  );
  /** Every pane on the screen has something to judge. */
  readonly judgeable: boolean = $derived(
    !this.busy && this.open.length > 0 && this.open.every((pane) => pane.answered),
  );

  #lines = new Set<Line>();
  #left = new AbortController();
  #opening = new AbortController();
  /** Ends the turns that have not come. */
  #turns = new AbortController();

  readonly #follow: (sessionId: string) => Conversation;

  constructor(id: string, follow: (sessionId: string) => Conversation) {
    this.id = id;
    this.#follow = follow;
  }

  async load(): Promise<void> {
    this.phase = "loading";
    try {
      const found = await comparisons.read(this.id);
      if (this.#left.signal.aborted) return;
      this.#show(found);
      this.phase = "ready";
    } catch (error) {
      this.phase = error instanceof Problem && error.status === 404 ? "missing" : "failed";
    }
  }

  /** The same prompt to every pane on the screen. Resolves when the first of them has it. */
  async ask(input: Input, turns: Turns): Promise<void> {
    const asked = this.open.map((pane) => pane.index);
    if (turns === "together") {
      await this.#hold({ input, panes: asked });
      return;
    }
    const [first, ...rest] = asked;
    if (first === undefined) return;
    const line = await this.#hold({ input, panes: [first] });
    void this.#inTurn(line, input, rest);
  }

  /** Removes the pane's last answer and asks the same again. */
  async retry(pane: Pane): Promise<void> {
    if (this.#lines.size >= LINES) {
      throw new Problem(409, "session_busy", "wait until one of the other answers has ended");
    }
    await this.#hold({ panes: [pane.index] });
  }

  async stop(pane: Pane): Promise<void> {
    pane.waiting = false;
    if (pane.busy) await pane.conversation.stop();
  }

  /** Stops what runs, and what would have run next. */
  async stopAll(): Promise<void> {
    this.#endTurns();
    this.#opening.abort();
    this.stopping = true;
    try {
      // Every pane, not only those that are seen to run: one may have begun just now.
      await Promise.all(this.panes.map((pane) => pane.conversation.stop()));
    } finally {
      this.stopping = false;
    }
  }

  async close(pane: Pane): Promise<void> {
    pane.closed = true;
    if (pane.busy || pane.waiting) await this.stop(pane);
  }

  reopen(): void {
    for (const pane of this.panes) pane.closed = false;
  }

  async vote(winner: Winner): Promise<void> {
    this.#show(await comparisons.vote(this.id, winner));
  }

  async keep(pane: Pane): Promise<Session> {
    return comparisons.keep(this.id, pane.index);
  }

  /** The page is left: everything that hangs on it stops. */
  leave(): void {
    this.#left.abort();
    this.#endTurns();
    for (const line of this.#lines) line.close();
    for (const pane of this.panes) pane.leave();
  }

  async #inTurn(first: Line, input: Input, rest: number[]): Promise<void> {
    const turns = this.#turns.signal;
    const waiting = this.panes.filter((pane) => rest.includes(pane.index));
    for (const pane of waiting) pane.waiting = true;
    let line = first;
    for (const pane of waiting) {
      await line.ended;
      if (turns.aborted) return;
      // Stopped or closed before its turn came.
      if (!pane.waiting) continue;
      pane.waiting = false;
      try {
        line = await this.#hold({ input, panes: [pane.index] });
      } catch {
        // Refused or out of reach: the others would be too.
        this.#endTurns();
        return;
      }
    }
  }

  #endTurns(): void {
    this.#turns.abort();
    this.#turns = new AbortController();
    for (const pane of this.panes) pane.waiting = false;
  }

  async #hold(body: { input?: Input; panes: number[] }): Promise<Line> {
    this.#asking += 1;
    this.#opening = new AbortController();
    const given = AbortSignal.any([this.#left.signal, this.#opening.signal]);
    try {
      const asked = { ...body, on_disconnect: "cancel" };
      const line = await Line.open(comparisons.runsPath(this.id), asked, given);
      this.#lines.add(line);
      void line.ended.then(() => this.#lines.delete(line));
      return line;
    } finally {
      this.#asking -= 1;
    }
  }

  #show(comparison: Comparison): void {
    this.comparison = comparison;
    const known = new Map(this.panes.map((pane) => [pane.index, pane]));
    this.panes = comparison.panes
      .filter((shown) => shown.state !== "deleted")
      .map((shown) => {
        const pane = known.get(shown.index);
        if (pane === undefined) return new Pane(shown, this.#follow(shown.session_id));
        pane.shown = shown;
        return pane;
      });
  }
}
