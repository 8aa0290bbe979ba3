import { describe, expect, test } from "vitest";
import { BlockStream } from "$/markdown/blocks";
import { tame } from "$/markdown/tame";
import type { Token } from "marked";

function depth(tokens: readonly Token[]): number {
  const inside = (token: Token): Token[] => {
    const own = "tokens" in token && Array.isArray(token.tokens) ? token.tokens : [];
    const items = "items" in token && Array.isArray(token["items"]) ? token["items"] : [];
    return [...own, ...(items as Token[])];
  };
  return tokens.length === 0 ? 0 : 1 + Math.max(...tokens.map((token) => depth(inside(token))));
}

const shown = (text: string, streaming: boolean) =>
  new BlockStream()
    .update(text, streaming)
    .flat()
    .map((block) => block.token);

const DEEP = {
  quotes: "> ".repeat(500) + "deep",
  "quotes without spaces": ">".repeat(5000) + "deep",
  items: "- ".repeat(1500) + "deep",
  numbers: "1. ".repeat(1500) + "deep",
  mixed: "> - ".repeat(700) + "deep",
  "ever further to the right": Array.from(
    { length: 1500 },
    (_, n) => `${"  ".repeat(n)}- ${n}`,
  ).join("\n"),
};

describe("what nests without end", () => {
  for (const [name, text] of Object.entries(DEEP)) {
    test.each([true, false])(`${name} can be shown (streaming: %s)`, (streaming) => {
      expect(depth(shown(text, streaming))).toBeLessThan(200);
    });
  }

  test("a thousand accents on one letter become a few", () => {
    const tamed = tame("a" + "\u0301".repeat(100_000) + "b");
    expect(tamed.length).toBeLessThan(30);
    expect(tamed.endsWith("b")).toBe(true);
  });

  test("a text that nests as people do stays as it is", () => {
    const text =
      "> > quoted\n\n- a\n  - b\n    - c\n\n```\n" + " ".repeat(400) + ">".repeat(400) + "\n```\n";
    expect(tame(text)).toBe(text);
  });

  test("what was tamed stays so when the text goes on", () => {
    const text =
      "> ".repeat(100) + "one\n\n```\n" + ">".repeat(100) + "\n```\nmore " + "- ".repeat(60);
    for (let n = 0; n < text.length; n += 7) {
      const early = tame(text.slice(0, n));
      expect(tame(text).startsWith(early.replace(/[ \t>-]+$/, ""))).toBe(true);
    }
  });
});
