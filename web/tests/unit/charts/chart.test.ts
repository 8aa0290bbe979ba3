import { expect, test } from "vitest";
import { bands, labelled, linear, placeAt, stack, ticks } from "$/charts/chart";

test("a scale maps both ends, and what lies between in proportion", () => {
  const y = linear([0, 50], [200, 0]);
  expect([y(0), y(25), y(50)]).toEqual([200, 100, 0]);
});

test("a scale without extent stays at its start instead of dividing by zero", () => {
  expect(linear([3, 3], [10, 20])(3)).toBe(10);
});

test.each([
  [0, 10, 5, [0, 2, 4, 6, 8, 10]],
  [0, 7, 4, [0, 2, 4, 6, 8]],
  [0, 930, 4, [0, 500, 1000]],
  [0, 0.3, 3, [0, 0.1, 0.2, 0.3]],
  [0, 0, 4, [0, 1]],
  [912, 1093, 4, [900, 950, 1000, 1050, 1100]],
  [-40, 60, 5, [-40, -20, 0, 20, 40, 60]],
])("ticks from %d to %d are round and enclose both", (low, high, wanted, expected) => {
  expect(ticks(low, high, wanted)).toEqual(expected);
});

test("bars share the width and are centred in their places", () => {
  expect(bands(2, 100, 0.2)).toEqual([
    { at: 5, width: 40 },
    { at: 55, width: 40 },
  ]);
  expect(bands(2, 100, 0.2, 20)).toEqual([
    { at: 15, width: 20 },
    { at: 65, width: 20 },
  ]);
});

test("stacked values begin where the one before ends", () => {
  expect(stack([3, 0, 4])).toEqual([
    { from: 0, to: 3 },
    { from: 3, to: 3 },
    { from: 3, to: 7 },
  ]);
});

test("labels never outgrow their room and the last place has one", () => {
  expect(labelled(7, 700, 50)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(labelled(30, 300, 60)).toEqual([5, 11, 17, 23, 29]);
  expect(labelled(0, 300, 60)).toEqual([]);
  expect(labelled(3, 10, 60)).toEqual([2]);
});

test("a position finds the place under it, and nothing outside", () => {
  expect(placeAt(0, 4, 100)).toBe(0);
  expect(placeAt(99.9, 4, 100)).toBe(3);
  expect(placeAt(100, 4, 100)).toBeNull();
  expect(placeAt(-1, 4, 100)).toBeNull();
});
