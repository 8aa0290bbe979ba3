import { expect, test } from "vitest";
import { delayOf } from "$/conversation/delay";

const WAITING = {
  reason: "openai is overloaded (503): Try later..",
  attempt: 3,
  until: "2026-11-15T10:03:20.000Z",
};

function at(time: string): string {
  return delayOf(WAITING, Date.parse(`2026-11-15T${time}Z`)).when;
}

/** The time of day depends on where the test runs. */
const HERE = /^Trying again at \d\d:03:20 \(attempt 3\), in (.*)\.$/;

test("a delay counts down to the next attempt", () => {
  expect(HERE.exec(at("10:03:05.200"))?.[1]).toBe("15 s");
  expect(HERE.exec(at("10:03:19.999"))?.[1]).toBe("1 s");
  expect(HERE.exec(at("10:01:10.000"))?.[1]).toBe("2 min 10 s");
});

test("when its time has come, it is now", () => {
  expect(at("10:03:20.000")).toBe("Trying again now (attempt 3).");
  expect(at("10:09:00.000")).toBe("Trying again now (attempt 3).");
});

test("the reason is one sentence", () => {
  expect(delayOf(WAITING, 0).why).toBe("openai is overloaded (503): Try later.");
});
