/** What belongs to one look at a conversation, not to the conversation itself. */

import { getContext, setContext } from "svelte";
import { SvelteMap } from "svelte/reactivity";
import type { Conversation } from "$/state/conversation.svelte";

const KEY = Symbol("view");

export class View {
  /** Whether the reader is at the end, so that what comes may move the page. */
  following = $state(true);
  /** The message that is being edited. */
  editing: string | null = $state(null);
  /** Folded parts that the reader opened or closed. Rows come and go as they scroll; this stays. */
  readonly folds = new SvelteMap<string, boolean>();
  readonly #watches = new Map<string, Watch>();
  readonly conversation: () => Conversation;
  readonly actions: () => boolean;

  constructor(conversation: () => Conversation, actions: () => boolean) {
    this.conversation = conversation;
    this.actions = actions;
  }

  /** How long something takes that was seen to begin here; the wire does not say. */
  watch(id: string, begins: boolean): Watch {
    const known = this.#watches.get(id);
    if (known) return known;
    const made = new Watch(begins ? Date.now() : null);
    this.#watches.set(id, made);
    return made;
  }
}

export class Watch {
  /** Null: it had begun before we came. */
  #started: number | null;
  #running = false;
  #ended: number | null = $state(null);

  constructor(started: number | null) {
    this.#started = started;
  }

  /** The work itself begins; what came before was asking for it. */
  begin(): void {
    if (this.#started !== null && !this.#running) this.#started = Date.now();
    this.#running = true;
  }

  stop(): void {
    this.#ended ??= Date.now();
  }

  get seconds(): number | null {
    if (this.#started === null || this.#ended === null) return null;
    return (this.#ended - this.#started) / 1000;
  }
}

export function provideView(view: View): void {
  setContext(KEY, view);
}

export function useView(): View {
  return getContext<View>(KEY);
}
