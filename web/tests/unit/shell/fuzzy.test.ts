import { expect, test } from "vitest";
import { found, fuzzy, pieces } from "$/shell/fuzzy";

function best(query: string, texts: string[]): string | undefined {
  return texts
    .map((text) => ({ text, match: fuzzy(query, text) }))
    .filter(({ match }) => match !== null)
    .sort((a, b) => (b.match?.score ?? 0) - (a.match?.score ?? 0))[0]?.text;
}

test("letters out of order do not match", () => {
  expect(fuzzy("ba", "a b")).toBeNull();
  expect(fuzzy("abc", "ab")).toBeNull();
});

test("a whole word is better than scattered letters", () => {
  expect(best("set", ["Some extra text", "Open settings"])).toBe("Open settings");
});

test("beginnings of words are found", () => {
  expect(best("ns", ["Answers", "New session"])).toBe("New session");
  expect(fuzzy("ns", "New session")?.at).toEqual([0, 4]);
});

test("the shorter of two equal matches wins", () => {
  expect(best("theme", ["Theme: follow the system", "Theme"])).toBe("Theme");
});

test("nothing typed matches all", () => {
  expect(fuzzy("  ", "anything")).toEqual({ score: 0, at: [] });
});

test("pieces cut where a match begins and ends", () => {
  expect(pieces("New session", [0, 4, 5])).toEqual([
    { text: "N", hit: true },
    { text: "ew ", hit: false },
    { text: "se", hit: true },
    { text: "ssion", hit: false },
  ]);
});

test("found marks every word of the query wherever it is", () => {
  expect(found("Fix the parser, fix it", "fix PARSER").filter((piece) => piece.hit)).toEqual([
    { text: "Fix", hit: true },
    { text: "parser", hit: true },
    { text: "fix", hit: true },
  ]);
});

test("text whose lower case is longer is shown whole", () => {
  expect(found("İstanbul", "i")).toEqual([{ text: "İstanbul", hit: false }]);
});
