/** Where things go in a chart: numbers only, no drawing. */

export type Scale = (value: number) => number;

export interface Band {
  at: number;
  width: number;
}

export interface Span {
  from: number;
  to: number;
}

/** Maps a domain onto a range; a domain without extent sits at the range's start. */
export function linear(domain: readonly [number, number], range: readonly [number, number]): Scale {
  const extent = domain[1] - domain[0];
  const factor = extent === 0 ? 0 : (range[1] - range[0]) / extent;
  return (value) => range[0] + (value - domain[0]) * factor;
}

/** Round numbers from at or below `low` to at or above `high`, about `wanted` of them. */
export function ticks(low: number, high: number, wanted: number): number[] {
  const step = roundStep((high - low) / Math.max(1, wanted));
  const first = Math.floor(low / step);
  const last = Math.max(first + 1, Math.ceil(high / step));
  // Counting in steps, not adding them up: sums of 0.1 drift.
  return Array.from({ length: last - first + 1 }, (_, i) => clean((first + i) * step));
}

function roundStep(rough: number): number {
  if (!(rough > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const lead = rough / power;
  return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

function clean(value: number): number {
  return Number(value.toPrecision(12));
}

/** `count` bars side by side, with `gap` (a share of each place) left between them. */
export function bands(count: number, width: number, gap: number, widest = Infinity): Band[] {
  const place = width / Math.max(1, count);
  const bar = Math.min(widest, place * (1 - gap));
  return Array.from({ length: count }, (_, i) => ({
    at: i * place + (place - bar) / 2,
    width: bar,
  }));
}

/** Each value on top of the ones before it. */
export function stack(values: readonly number[]): Span[] {
  let top = 0;
  return values.map((value) => {
    const from = top;
    top += value;
    return { from, to: top };
  });
}

/** Which of `count` places get a label when each label needs `room`; the last always does. */
export function labelled(count: number, width: number, room: number): number[] {
  const most = Math.max(1, Math.floor(width / room));
  const every = Math.max(1, Math.ceil(count / most));
  const chosen: number[] = [];
  for (let i = count - 1; i >= 0; i -= every) chosen.unshift(i);
  return chosen;
}

/** The place under a horizontal position, or null outside. */
export function placeAt(x: number, count: number, width: number): number | null {
  if (count === 0 || x < 0 || x >= width) return null;
  return Math.floor((x / width) * count);
}
