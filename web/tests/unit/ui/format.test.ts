import { expect, test } from "vitest";
import { bytes, duration, money, number, plural, relative, short } from "$/ui/format";
import { keycaps, keyText } from "$/ui/keys";

const NOW = Date.parse("2026-11-15T12:00:00Z");

test("numbers have separators", () => {
  expect(number(1204)).toBe("1,204");
});

test.each([
  [999, "999"],
  [1250, "1.3k"],
  [2000, "2k"],
  [128000, "128k"],
  [1_048_576, "1M"],
])("%i is %s in short", (value, text) => expect(short(value)).toBe(text));

test.each([
  [null, "–"],
  [0, "$0"],
  [0.00001, "under $0.0001"],
  [0.004, "$0.004"],
  [0.00412, "$0.0041"],
  [0.05, "$0.05"],
  [0.5, "$0.50"],
  [12.3, "$12.30"],
  [1234.5, "$1,234.50"],
])("%s dollars are written %s", (usd, text) => expect(money(usd)).toBe(text));

test.each([
  [0, "0 s"],
  [0.12, "0.1 s"],
  [9.21, "9.2 s"],
  [9.97, "10 s"],
  [59.6, "1 min"],
  [75, "1 min 15 s"],
  [3600, "1 h"],
  [7260, "2 h 1 min"],
])("%d seconds are %s", (seconds, text) => expect(duration(seconds)).toBe(text));

test.each([
  ["2026-11-15T11:59:30Z", "now"],
  ["2026-11-15T12:00:09Z", "now"],
  ["2026-11-15T11:56:00Z", "4 min"],
  ["2026-11-15T09:00:00Z", "3 h"],
  ["2026-11-13T11:00:00Z", "2 d"],
  ["2026-11-02T12:00:00Z", "Nov 2"],
  ["2025-11-02T12:00:00Z", "Nov 2025"],
])("%s is %s", (at, text) => expect(relative(at, NOW)).toBe(text));

test.each([
  [12, "12 B"],
  [1536, "1.5 KB"],
  [20 * 1024 * 1024, "20 MB"],
])("%i bytes are %s", (count, text) => expect(bytes(count)).toBe(text));

test("one is singular", () => {
  expect(plural(1, "file")).toBe("1 file");
  expect(plural(1200, "file")).toBe("1,200 files");
});

test("keys are named as they stand on the keyboard", () => {
  expect(keycaps("Mod-Shift-O", false)).toEqual(["Ctrl", "Shift", "O"]);
  expect(keycaps("Mod-Shift-O", true)).toEqual(["⌘", "⇧", "O"]);
  expect(keyText("Alt-ArrowUp", false)).toBe("Alt+↑");
});
