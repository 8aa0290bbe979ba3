/** Keeps a scrolling list where its reader is: at the end, or at what is being read. */

const NEAR_END = 48;
const NEAR_START = 1600;

export interface Hooks {
  /** Whether the reader is at the end, so that the list follows what comes. */
  following: () => boolean;
  follow: (on: boolean) => void;
  nearStart: () => void;
}

export class Scroller {
  readonly #box: HTMLElement;
  readonly #hooks: Hooks;
  #top = 0;
  #width = 0;
  #anchor: { element: Element; offset: number } | null = null;
  #watch: ResizeObserver;

  constructor(box: HTMLElement, hooks: Hooks) {
    this.#box = box;
    this.#hooks = hooks;
    this.#width = box.clientWidth;
    this.#watch = new ResizeObserver(() => this.#resized());
    this.#watch.observe(box);
  }

  close(): void {
    this.#watch.disconnect();
  }

  toEnd(): void {
    this.#box.scrollTop = this.#box.scrollHeight;
    this.#top = this.#box.scrollTop;
  }

  /** The list or something in it has another size. */
  changed(): void {
    if (this.#hooks.following()) this.toEnd();
  }

  scrolled(): void {
    const top = this.#box.scrollTop;
    const left = this.#box.scrollHeight - top - this.#box.clientHeight;
    // Growth alone moves the end away without a scroll: only going up means leaving it.
    if (left < NEAR_END) this.#hooks.follow(true);
    else if (top < this.#top - 1) this.#hooks.follow(false);
    this.#top = top;
    if (top < NEAR_START) this.#hooks.nearStart();
    this.#anchor = null;
  }

  /** Called when scrolling has come to rest: remember what is at the top of the view. */
  rested(): void {
    if (this.#hooks.following()) return;
    const box = this.#box.getBoundingClientRect();
    const seen = document
      .elementsFromPoint(box.left + box.width / 2, box.top + 24)
      .find((one) => this.#box.contains(one) && one !== this.#box && one.closest("article"));
    this.#anchor = seen
      ? { element: seen, offset: seen.getBoundingClientRect().top - box.top }
      : null;
  }

  #resized(): void {
    const width = this.#box.clientWidth;
    const rewrapped = width !== this.#width;
    this.#width = width;
    if (this.#hooks.following()) {
      this.toEnd();
      return;
    }
    const anchor = this.#anchor;
    if (!rewrapped || !anchor) return;
    // After the list has laid itself out anew, bring what was read back to where it was.
    requestAnimationFrame(() => {
      if (!anchor.element.isConnected) return;
      const offset =
        anchor.element.getBoundingClientRect().top - this.#box.getBoundingClientRect().top;
      this.#box.scrollTop += offset - anchor.offset;
    });
  }
}
