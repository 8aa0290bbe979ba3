/** Code in stretches of lines, so that a long block that grows is not laid out anew each time. */

export const FOLD_LINES = 40;
export const FOLD_SLACK = 8;
const STRETCH = 50;

/** Stretches of whole lines without the line end that separates them. */
export function stretches(code: string): string[] {
  const found: string[] = [];
  let start = 0;
  let lines = 0;
  for (let at = code.indexOf("\n"); at >= 0; at = code.indexOf("\n", at + 1)) {
    lines += 1;
    if (lines < STRETCH) continue;
    found.push(code.slice(start, at));
    start = at + 1;
    lines = 0;
  }
  found.push(code.slice(start));
  return found;
}

export function countLines(code: string): number {
  let lines = 1;
  for (let at = code.indexOf("\n"); at >= 0; at = code.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

export function isLong(lines: number): boolean {
  return lines > FOLD_LINES + FOLD_SLACK;
}
