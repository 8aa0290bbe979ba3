/** Work that is done once per picture, however often it is asked for. */

/** A hidden tab draws no pictures, but its title and its notifications must still be true. */
const HIDDEN_MS = 250;

let waiting = new Set<() => void>();
let scheduled = false;

export function onNextFrame(work: () => void): void {
  waiting.add(work);
  if (scheduled) return;
  scheduled = true;
  if (document.visibilityState === "hidden") setTimeout(run, HIDDEN_MS);
  else {
    // A tab that is hidden before its next picture would wait for it until it is shown again.
    const timer = setTimeout(run, HIDDEN_MS);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      run();
    });
  }
}

function run(): void {
  if (!scheduled) return;
  scheduled = false;
  const now = waiting;
  waiting = new Set();
  for (const work of now) work();
}
