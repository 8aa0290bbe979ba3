/** Short words at the edge of the page, which go away by themselves. */

export interface Notice {
  id: number;
  text: string;
  kind: "info" | "bad";
  action: { label: string; do: () => void } | null;
}

export interface NoticeOptions {
  kind?: "info" | "bad";
  action?: { label: string; do: () => void };
  seconds?: number;
}

const SECONDS = 5;
const BAD_SECONDS = 10;
/** More at once cannot be read; the oldest goes. */
const MOST = 4;

export class Notices {
  all: Notice[] = $state.raw([]);
  #last = 0;
  #timers = new Map<number, ReturnType<typeof setTimeout>>();

  say(text: string, options: NoticeOptions = {}): void {
    const kind = options.kind ?? "info";
    const id = ++this.#last;
    const action = options.action ?? null;
    const same = this.all.find((one) => one.text === text && one.kind === kind && !one.action);
    if (same !== undefined) this.dismiss(same.id);
    this.all = [...this.all, { id, text, kind, action }].slice(-MOST);
    const seconds = options.seconds ?? (kind === "bad" ? BAD_SECONDS : SECONDS);
    this.#timers.set(
      id,
      setTimeout(() => this.dismiss(id), seconds * 1000),
    );
  }

  dismiss(id: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    this.all = this.all.filter((one) => one.id !== id);
  }
}
