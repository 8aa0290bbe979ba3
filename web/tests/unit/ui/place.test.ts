import { expect, test } from "vitest";
import { place } from "$/ui/place";

const VIEW = { width: 1000, height: 800 };
const SIZE = { width: 200, height: 300 };

function box(
  left: number,
  top: number,
): { left: number; top: number; right: number; bottom: number } {
  return { left, top, right: left + 40, bottom: top + 30 };
}

test("it hangs below its anchor, at its left edge", () => {
  expect(place(box(100, 50), SIZE, VIEW)).toMatchObject({ left: 100, top: 84 });
});

test("aligned to the end it shares the right edge", () => {
  expect(place(box(500, 50), SIZE, VIEW, "end").left).toBe(340);
});

test("with no room below it stands above", () => {
  expect(place(box(100, 700), SIZE, VIEW).top).toBe(396);
});

test("it never leaves the screen at the side", () => {
  expect(place(box(960, 50), SIZE, VIEW).left).toBe(792);
  expect(place(box(0, 50), SIZE, VIEW, "end").left).toBe(8);
});

test("when it fits nowhere, it takes the larger side and scrolls", () => {
  const spot = place(box(100, 300), { width: 200, height: 2000 }, VIEW);
  expect(spot).toMatchObject({ top: 334, maxHeight: 458 });
});
