import { describe, expect, test } from "vitest";
import { countLines, stretches } from "$/markdown/code";

describe("long code", () => {
  test("is in stretches that join to the whole", () => {
    const code = Array.from({ length: 173 }, (_, n) => `line ${n}`).join("\n");
    expect(stretches(code).length).toBe(4);
    expect(stretches(code).join("\n")).toBe(code);
    expect(countLines(code)).toBe(173);
  });
});
