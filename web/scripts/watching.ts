/** Runs in the page: notes what is painted when, and how long frames and tasks take. */

export interface Seen {
  /** The last number of the last answer, and when it was on the screen, in ms since 1970. */
  shown: [number: number, at: number][];
  /** How long each frame took, in ms. */
  frames: number[];
  longTasks: number;
}

/** Must stand by itself: its source is sent to the page. */
export function startWatching(): void {
  const seen: Seen = { shown: [], frames: [], longTasks: 0 };
  (window as unknown as { seen: Seen }).seen = seen;
  new PerformanceObserver((list) => {
    seen.longTasks += list.getEntries().length;
  }).observe({ type: "longtask" });

  let before = performance.now();
  requestAnimationFrame(function look(now) {
    seen.frames.push(now - before);
    before = now;
    requestAnimationFrame(look);
  });

  /** The last number of the last answer; only its end is looked at. */
  const lastNumber = (): number => {
    const parts = document.querySelectorAll("article .part.text");
    const part = parts[parts.length - 1];
    if (!part) return 0;
    const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
    let node = walker.lastChild();
    while (walker.lastChild()) node = walker.currentNode;
    for (; node; node = walker.previousNode()) {
      const numbers = node.textContent?.match(/\d+/g);
      if (numbers) return Number(numbers[numbers.length - 1]);
    }
    return 0;
  };

  // The page changes its text in the callback of a frame: a message that is posted then is heard
  // when the frame has been painted.
  const { port1, port2 } = new MessageChannel();
  let last = 0;
  port2.onmessage = ({ data }: MessageEvent<number>) => {
    seen.shown.push([data, performance.timeOrigin + performance.now()]);
  };
  const changed = new MutationObserver(() => {
    const found = lastNumber();
    if (found <= last) return;
    last = found;
    port1.postMessage(found);
  });
  changed.observe(document.body, { subtree: true, childList: true, characterData: true });
}
