/** One model's side of a comparison: its session, and what this page knows beyond it. */

import type { Conversation } from "$/state/conversation.svelte";
import type { Run } from "$/wire/types";
import { firstPieceAt } from "./firsts";
import { isPiece, paceOf, type Pace } from "./pace";
import type { ShownPane } from "$/wire/comparisons";

export class Pane {
  readonly conversation: Conversation;
  shown: ShownPane = $state.raw() as ShownPane;
  /** Put away on this page; its session stays. */
  closed = $state(false);
  /** Its turn has not come yet. */
  waiting = $state(false);
  #firsts: ReadonlyMap<string, string> = $state.raw(new Map());
  #asked = new Set<string>();

  /** The newest run that is more than a place in the queue. */
  readonly last: Run | null = $derived.by(() => {
    const runs = [...this.conversation.runs.values()];
    return runs.reduce<Run | null>((newest, run) => later(newest, run), null);
  });
  readonly busy: boolean = $derived.by(() => this.conversation.active !== null);
  readonly pace: Pace = $derived(
    this.last === null
      ? { first: null, speed: null }
      : paceOf(this.last, this.#firsts.get(this.last.id) ?? null),
  );
  /** Something to judge: an answer, or that there is none. */
  readonly answered: boolean = $derived(this.last?.finished_at != null && !this.busy);

  constructor(shown: ShownPane, conversation: Conversation) {
    this.shown = shown;
    this.conversation = conversation;
    this.conversation.onevent = (event) => {
      if (event.run_id !== null && isPiece(event)) this.#hear(event.run_id, event.at);
    };
  }

  get index(): number {
    return this.shown.index;
  }

  leave(): void {
    this.conversation.close();
  }

  /** Looks up what was not heard live. */
  async recall(run: Run): Promise<void> {
    if (run.finished_at === null || this.#firsts.has(run.id) || this.#asked.has(run.id)) return;
    this.#asked.add(run.id);
    const at = await firstPieceAt(run.id);
    if (at !== null) this.#hear(run.id, at);
  }

  #hear(runId: string, at: string): void {
    if (this.#firsts.has(runId)) return;
    this.#firsts = new Map([...this.#firsts, [runId, at]]);
  }
}

function later(newest: Run | null, run: Run): Run {
  return newest === null || run.accept_number > newest.accept_number ? run : newest;
}
