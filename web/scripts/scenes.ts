/** What is said and done in the pictures: a small project, and conversations about it. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const PARSER = `"""Reads lines of comma-separated fields."""


def parse(line: str) -> list[str]:
    fields = []
    start = 0
    for at, letter in enumerate(line):
        if letter == ",":
            fields.append(line[start:at])
            start = at + 1
    if start < len(line):
        fields.append(line[start:])
    return fields
`;

export const OLD = `    if start < len(line):
        fields.append(line[start:])
    return fields`;
export const NEW = `    # A comma at the end begins one more field, an empty one.
    fields.append(line[start:])
    return fields`;

const TESTS = `from parser import parse


def test_fields_are_split_at_commas() -> None:
    assert parse("a,b") == ["a", "b"]
`;

export function writeProject(folder: string): void {
  mkdirSync(join(folder, "tests"), { recursive: true });
  writeFileSync(join(folder, "parser.py"), PARSER);
  writeFileSync(join(folder, "tests/test_parser.py"), TESTS);
  writeFileSync(join(folder, "README.md"), "# fields\n\nReads lines of comma-separated fields.\n");
}

export const THOUGHT = `The last field is only added when something follows the last comma. So \`"a,"\`
gives one field instead of two. I should look at the code before I say so.`;

export const FIX_PROMPT =
  "The parser drops the last field when a line ends with a comma. Fix it and add a test.";

export const FOUND = `The last field is only added when there is text after the last comma. For
\`"a,"\` that test is false, so the empty field at the end is lost.`;

export const FIXED = `That was it. \`parse\` now always adds what follows the last comma, even if it is
empty:

| line | before | now |
|---|---|---|
| \`a,b\` | \`["a", "b"]\` | \`["a", "b"]\` |
| \`a,\` | \`["a"]\` | \`["a", ""]\` |
| *(empty)* | \`[]\` | \`[""]\` |

The last row changes too: an empty line now has one empty field. If you would rather keep`;

export const EXPLAIN_PROMPT = "Explain binary search, with a short example.";

export const EXPLAINED = `Binary search finds a value in a **sorted** list by halving what is left. Each step
compares the middle with what you look for and throws the wrong half away, so a list of $n$ values takes
at most $\\lceil \\log_2 n \\rceil + 1$ looks.

\`\`\`python
def find(values: list[int], wanted: int) -> int | None:
    low, high = 0, len(values) - 1
    while low <= high:
        middle = (low + high) // 2
        if values[middle] == wanted:
            return middle
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle - 1
    return None
\`\`\`

Two things are easily got wrong:

1. \`low <= high\`, not \`<\`: else a list of one value is never looked at.
2. Moving by one *past* the middle: else two neighbours can go round for ever.`;

export const STORY_PROMPT = "Tell me how the tide works.";
export const STORY = `The moon pulls the water on the near side a little harder than the earth beneath it, and
the earth a little harder than the water on the far side. So there are two bulges, one towards the moon and
one away from it, and as the earth turns under them most coasts get`;

export const COMPARE_PROMPT = "What makes a good code review? Keep it short.";
export const COMPARED: Record<string, string> = {
  "gpt-large": `A good review answers three questions, in this order:

1. **Is it right?** Read the tests first. They say what the change is *meant* to do before the code
   says what it does. If a test would pass without the change, ask for a better one.
2. **Will the next person understand it?** Whatever you had to ask, someone will ask again in a year.
   The answer belongs into the code, not into the thread.
3. **Does it belong here?** A clever change in the wrong layer costs more than a plain one in the
   right layer.

Say what must change and what is only taste, and approve as soon as only taste is left.`,
  "small-fast": `- Keep it small: under 400 lines, under an hour.
- Run it, do not only read it.
- Ask questions instead of giving orders.
- Name one thing that is good.

\`\`\`
nit:      take it or leave it
question: I do not understand this yet
must:     I will not approve without it
\`\`\`

Marking each remark like this saves the author most of the guessing.`,
};

export const TITLES = [
  "Why does the build take so long",
  "Rename the settings of the importer",
  "A packing list for the mountains",
  "Questions for the interview on Thursday",
  "What changed in the last release",
];
