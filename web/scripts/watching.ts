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

  // A message posted in a frame is heard after the frame has been painted.
  const { port1, port2 } = new MessageChannel();
  let last = 0;
  let before = performance.now();
  port2.onmessage = () => {
    seen.shown.push([last, performance.timeOrigin + performance.now()]);
  };
  requestAnimationFrame(function look(now) {
    seen.frames.push(now - before);
    before = now;
    const parts = document.querySelectorAll("article .part.text");
    let node: Node | null | undefined = parts[parts.length - 1];
    let found = NaN;
    // The deepest last piece of text that has a number: only the end is looked at.
    const walker = node && document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    node = walker?.lastChild();
    while (walker?.lastChild()) node = walker.currentNode;
    for (let tries = 0; node && tries < 20; tries++, node = walker?.previousNode()) {
      const numbers = node.textContent?.match(/\d+/g);
      if (!numbers) continue;
      found = Number(numbers[numbers.length - 1]);
      break;
    }
    if (found > last) {
      last = found;
      port1.postMessage(0);
    }
    requestAnimationFrame(look);
  });
}
