import { describe, expect, test } from "vitest";
import { BlockStream, type Block } from "$/markdown/blocks";
import { blocksToHtml, lex } from "$/markdown/parser";

const html = (groups: readonly (readonly Block[])[]) =>
  blocksToHtml(groups.flat().map((block) => block.token));

const whole = (text: string) =>
  blocksToHtml(lex(text, {}).filter((token) => token.type !== "space"));

const ANSWER = `# Title

A paragraph with **bold**, *emphasis*, \`code\` and a [link](https://example.org/a_(b)).
It goes on here
- and a list interrupts it
- with two items

  and a paragraph in the second

  \`\`\`js
  const a = "**not bold**";
  \`\`\`
1. one
2. two

| a | b |
|---|:-:|
| 1 | **2** |
| 3 | 4 |

> quoted
lazily
> - with a list

\`\`\`python
def f():

    return "- no list"
\`\`\`

Maths $x^2 + y_1$ costs $5 and $10.

$$
a
+ b
$$

Setext
===

<div>

inside **html**

</div>

1.5 is a number
#no heading
***
last [ref] line

[ref]: https://example.org/later
`;

const PIECES = [
  "word",
  " ",
  "\n",
  "\n\n",
  "- ",
  "* ",
  "1. ",
  "# ",
  "```",
  "```js\n",
  "`",
  "**",
  "*",
  "_",
  "> ",
  "| a | b |\n|---|---|\n",
  "| c |",
  "$$",
  "$",
  "\\[",
  "\\]",
  "===",
  "---",
  "    ",
  "  ",
  "[x](",
  ")",
  "[ref]",
  "[ref]: /u\n",
  "<div>",
  "</div>",
  "<b>",
  "<!--",
  "~~",
  "1.",
  "#",
  "+",
  "&amp;",
  "\\",
];

/** The same numbers each time. */
function* numbers(seed: number): Generator<number> {
  let state = seed;
  for (;;) {
    state = (state * 1664525 + 1013904223) % 4294967296;
    yield state / 4294967296;
  }
}

function randomText(seed: number): string {
  const random = numbers(seed);
  const next = () => random.next().value as number;
  const count = 2 + Math.floor(next() * 30);
  return Array.from({ length: count }, () => PIECES[Math.floor(next() * PIECES.length)]).join("");
}

function streamed(text: string, step: number): string {
  const stream = new BlockStream();
  for (let end = 0; end < text.length; end += step) stream.update(text.slice(0, end), true);
  stream.update(text, true);
  return html(stream.update(text, false));
}

describe("a text that comes piece by piece", () => {
  test.each([1, 2, 3, 7, 50])("ends as the text read at once, %i characters at a time", (step) => {
    expect(streamed(ANSWER, step)).toBe(whole(ANSWER));
  });

  test("ends as the text read at once, whatever the text is", () => {
    for (let seed = 1; seed <= 400; seed += 1) {
      const text = randomText(seed);
      expect({ text, html: streamed(text, 1) }).toEqual({ text, html: whole(text) });
    }
  }, 60_000);

  test("ends as the text read at once with the line ends of Windows", () => {
    const text = ANSWER.replaceAll("\n", "\r\n");
    expect(streamed(text, 1)).toBe(whole(ANSWER));
  });
});

describe("blocks that are finished", () => {
  test("keep their identity while more comes", () => {
    const stream = new BlockStream();
    const before = stream.update("one\n\ntwo\n\nthr", true).flat();
    const after = stream.update("one\n\ntwo\n\nthree and\n\nfour", true).flat();
    expect(after[0]).toBe(before[0]);
    expect(after.map((block) => block.done)).toEqual([true, true, false, false]);
  });

  test("are in groups that keep their identity too", () => {
    const stream = new BlockStream();
    const text = Array.from({ length: 100 }, (_, n) => `paragraph ${n}`).join("\n\n");
    const before = stream.update(`${text}\n\nmore\n\n`, true);
    const after = stream.update(`${text}\n\nmore\n\nand more`, true);
    expect(after[0]).toBe(before[0]);
    expect(after[1]).toBe(before[1]);
    expect(before.length).toBe(5);
  });

  test("are thrown away when the text is another one", () => {
    const stream = new BlockStream();
    stream.update("one\n\ntwo\n\nthree\n", true);
    expect(html(stream.update("something else", true))).toBe("<p>something else</p>\n");
  });
});
