import { expect, test } from "vitest";
import { explain, explainUpload } from "$/state/problem";

test("problems are told in words", () => {
  expect(explain({ status: 0, code: "offline", detail: "x" })).toMatch(/cannot be reached/);
  expect(explain({ status: 422, code: "invalid_input", detail: "input is empty" })).toBe(
    "Input is empty.",
  );
  expect(explain(new Error(""))).toBe("That did not work. Try again.");
});

test("a file that is too large is told with both sizes", () => {
  const detail = "a file may have at most 26214400 bytes";
  const said = explainUpload(
    { status: 413, code: "payload_too_large", detail },
    { name: "big.bin", size: 31_457_280 },
  );
  expect(said).toBe("big.bin is too large (30 MB). The server takes files up to 25 MB.");
});
