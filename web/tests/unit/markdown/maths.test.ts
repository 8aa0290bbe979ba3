import { expect, test } from "vitest";
import type { Token } from "marked";
import { lex } from "$/markdown/parser";
import type { MathToken } from "$/markdown/maths";

function formulas(text: string): string[] {
  const found: string[] = [];
  const walk = (tokens: Token[]) => {
    for (const token of tokens) {
      if (token.type === "math" || token.type === "inlineMath") {
        const { tex, display } = token as MathToken;
        found.push(display ? `block ${tex}` : tex);
      }
      if ("tokens" in token && token.tokens) walk(token.tokens);
      if (token.type === "list")
        for (const item of token["items"] as { tokens: Token[] }[]) walk(item.tokens);
    }
  };
  walk(lex(text, {}));
  return found;
}

test.each([
  ["Let $x^2 + y_1$ be", ["x^2 + y_1"]],
  ["so $5$ it is", ["5"]],
  ["$a*b$ and $c*d$", ["a*b", "c*d"]],
  ["with \\(a+b\\) here", ["a+b"]],
  ["- in a list $x$", ["x"]],
  ["**bold $x$**", ["x"]],
  ["a line $$x$$ in it", ["block x"]],
  ["$$\nx\n+ y\n$$", ["block x\n+ y"]],
  ["text\n$$\nx\n$$\nmore", ["block x"]],
  ["\\[ \\frac{1}{2} \\]", ["block \\frac{1}{2}"]],
  ["$P(\\text{all of it})$", ["P(\\text{all of it})"]],
  ["$10 \\text{ kg}$", ["10 \\text{ kg}"]],
])("%j has formulas", (text, expected) => {
  expect(formulas(text)).toEqual(expected);
});

test.each([
  "costs $5 and $10",
  "from $5-$10 a month",
  "between $10 and 20$ or so",
  "$5/$6",
  "US$5 and CA$6",
  "$HOME and $PATH",
  "echo $HOME/$USER",
  "`$a$`",
  "```\n$$\nx\n$$\n```",
  "\\$x$ is escaped",
  "$ x $",
  "a \\\\( b",
])("%j has none", (text) => {
  expect(formulas(text)).toEqual([]);
});
