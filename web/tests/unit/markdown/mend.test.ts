import { expect, test } from "vitest";
import { mend } from "$/markdown/mend";

test.each([
  ["**bol", "**bol**"],
  ["**bold*", "**bold**"],
  ["a *b", "a *b*"],
  ["a **", "a "],
  ["**bold** and", "**bold** and"],
  ["***both", "***both***"],
  ["2 * 3", "2 * 3"],
  ["snake_case_name", "snake_case_name"],
  ["~~gone", "~~gone~~"],
  ["see `co", "see `co`"],
  ["see ``co`de", "see ``co`de``"],
  ["see `", "see"],
  ["`**`", "`**`"],
  ["a [link", "a link"],
  ["a [link]", "a link"],
  ["a [link](http://exa", "a link"],
  ["a [link](http://x) on", "a [link](http://x) on"],
  ["an ![image](http://x", "an "],
  ["**[link](http", "**link**"],
  ["so \\(a + b", "so "],
  ["so \\(a\\) b", "so \\(a\\) b"],
])("%j is shown as %j", (text, shown) => {
  expect(mend(text)).toBe(shown);
});

test.each([
  ["text\n-", "text"],
  ["text\n==", "text"],
  ["text\n1.", "text"],
  ["text\n#", "text"],
  ["text\n``", "text"],
  ["- one\n- ", "- one"],
  ["- [", ""],
])("%j holds its last sign back", (text, shown) => {
  expect(mend(text)).toBe(shown);
});

test.each([
  ["```py", "```"],
  ["```python\nprint(1)\n``", "```python\nprint(1)"],
  ["```\na **b", "```\na **b"],
  ["~~~\n``", "~~~\n``"],
  ["```\na\n```\n**b", "```\na\n```\n**b**"],
])("a fence %j", (text, shown) => {
  expect(mend(text)).toBe(shown);
});

test.each([
  ["| a | b", ""],
  ["text\n\n| a", "text\n"],
  ["| a | b |\n", "| a | b |\n| - | - |"],
  ["| a | b |\n|--", "| a | b |\n| - | - |"],
  ["| a | b |\n|---|---|\n| **x", "| a | b |\n|---|---|\n| **x**"],
])("a table %j", (text, shown) => {
  expect(mend(text)).toBe(shown);
});
