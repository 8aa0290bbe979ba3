import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** Every pair of a colour of words and a ground it is put on. */
const WORDS = ["--text", "--text-quiet", "--text-faint", "--accent-text"];
const GROUNDS = ["--bg", "--bg-raised", "--bg-sunken", "--tint", "--tint-strong"];
const PAIRS: [string, string][] = [
  ...WORDS.flatMap((word) => GROUNDS.map((ground): [string, string] => [word, ground])),
  ...["--warm", "--bad", "--good"].flatMap((word) =>
    ["--bg", "--bg-raised", "--bg-sunken", "--tint"].map((ground): [string, string] => [
      word,
      ground,
    ]),
  ),
  ["--on-accent", "--accent"],
  ["--on-accent", "--accent-strong"],
  ["--on-bad", "--bad"],
  ["--text", "--accent-tint"],
  ["--text-quiet", "--accent-tint"],
  ["--accent-text", "--accent-tint"],
  ["--text", "--warm-tint"],
  ["--text-quiet", "--warm-tint"],
  ["--warm", "--warm-tint"],
  ["--text", "--bad-tint"],
  ["--text-quiet", "--bad-tint"],
  ["--bad", "--bad-tint"],
  ["--good", "--good-tint"],
  ...["text", "comment", "keyword", "string", "number", "title", "type", "attr"].map(
    (name): [string, string] => [`--code-${name}`, "--code-bg"],
  ),
  ["--code-add", "--code-add-bg"],
  ["--code-del", "--code-del-bg"],
  ["--code-text", "--code-add-bg"],
  ["--code-text", "--code-del-bg"],
  ["--code-comment", "--code-add-bg"],
  ["--code-comment", "--code-del-bg"],
];

/** The edges of fields and the ring of focus: what one must see to find a control. */
const EDGES: [string, string][] = ["--line-strong", "--focus", "--accent"].flatMap((edge) =>
  ["--bg", "--bg-raised", "--bg-sunken"].map((ground): [string, string] => [edge, ground]),
);

const css = readFileSync(new URL("../../../src/styles/tokens.css", import.meta.url), "utf8");
const tokens = new Map(
  [...css.matchAll(/(--[\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)].map(
    ([, name = "", light = "", dark = ""]) => [name, { light, dark }],
  ),
);

function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const channel = parseInt(hex.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: string, other: string): number {
  const [dim = 0, bright = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (bright + 0.05) / (dim + 0.05);
}

function colour(name: string, theme: "light" | "dark"): string {
  const token = tokens.get(name);
  if (!token) throw new Error(`no colour ${name}`);
  return token[theme];
}

test("black on white is 21 to 1, so the measure is right", () => {
  expect(contrast("#000000", "#ffffff")).toBeCloseTo(21);
});

for (const theme of ["light", "dark"] as const) {
  test.each(PAIRS)(`${theme}: words in %s can be read on %s`, (word, ground) => {
    expect(contrast(colour(word, theme), colour(ground, theme))).toBeGreaterThanOrEqual(4.5);
  });

  test.each(EDGES)(`${theme}: an edge in %s can be seen on %s`, (edge, ground) => {
    expect(contrast(colour(edge, theme), colour(ground, theme))).toBeGreaterThanOrEqual(3);
  });
}
