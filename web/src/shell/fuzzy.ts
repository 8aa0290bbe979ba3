/** A piece of a text, and whether it is what was searched for. */
export interface Piece {
  text: string;
  hit: boolean;
}

export interface Match {
  score: number;
  /** Indexes into the text, ascending. */
  at: number[];
}

const WORD_START = 10;
const IN_A_ROW = 14;
const BEGINNING = 6;
const GAP_COST = 1;

/** The letters of the query in their order somewhere in the text; null when they are not there.
 *  Whole words and word beginnings score above scattered letters. */
export function fuzzy(query: string, text: string): Match | null {
  const wanted = query.toLowerCase().replace(/\s+/g, "");
  if (wanted === "") return { score: 0, at: [] };
  const lower = text.toLowerCase();
  // Lower case can be longer than the text ("İ"); then positions would not fit: search whole.
  if (lower.length !== text.length) return lower.includes(wanted) ? { score: 1, at: [] } : null;
  let best: Match | null = null;
  for (let from = lower.indexOf(wanted.charAt(0)); from !== -1;) {
    const found = follow(wanted, lower, from);
    if (!found) break;
    if (!best || found.score > best.score) best = found;
    from = lower.indexOf(wanted.charAt(0), from + 1);
  }
  return best;
}

function follow(wanted: string, lower: string, from: number): Match | null {
  const at: number[] = [];
  let score = from === 0 ? BEGINNING : 0;
  let position = from;
  for (const letter of wanted) {
    const next = nextBest(lower, letter, position, at.at(-1));
    if (next === -1) return null;
    const last = at.at(-1);
    if (last !== undefined && next === last + 1) score += IN_A_ROW;
    else if (last !== undefined) score -= Math.min(next - last, 20) * GAP_COST;
    if (startsWord(lower, next)) score += WORD_START;
    at.push(next);
    position = next + 1;
  }
  return { score: score - lower.length * 0.05, at };
}

/** Going on in the same word is best, else the next word that begins so, else the next letter. */
function nextBest(lower: string, letter: string, from: number, last: number | undefined): number {
  const next = lower.indexOf(letter, from);
  if (next === -1 || last === undefined || next === last + 1) return next;
  for (let word = next; word !== -1; word = lower.indexOf(letter, word + 1)) {
    if (startsWord(lower, word)) return word;
  }
  return next;
}

function startsWord(lower: string, at: number): boolean {
  return at === 0 || /[\s/_.\-:(]/.test(lower.charAt(at - 1));
}

/** The text cut where matched letters begin and end. */
export function pieces(text: string, at: readonly number[]): Piece[] {
  const hits = new Set(at);
  const cut: Piece[] = [];
  for (let index = 0; index < text.length; index += 1) {
    const hit = hits.has(index);
    const last = cut.at(-1);
    if (last && last.hit === hit) last.text += text.charAt(index);
    else cut.push({ text: text.charAt(index), hit });
  }
  return cut;
}

/** The text cut around every occurrence of the query's words, for results of the server's search. */
export function found(text: string, query: string): Piece[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const lower = text.toLowerCase();
  if (lower.length !== text.length) return [{ text, hit: false }];
  const at = new Set<number>();
  for (const word of words) {
    for (let from = lower.indexOf(word); from !== -1; from = lower.indexOf(word, from + 1)) {
      for (let index = from; index < from + word.length; index += 1) at.add(index);
    }
  }
  return pieces(text, [...at]);
}
