import { expect, test } from "vitest";
import { placeOf } from "$/state/path";

test.each([
  ["/", "home", null, null],
  ["/s/ses_1", "session", "ses_1", null],
  ["/s/", "home", null, null],
  ["/compare", "compare", null, null],
  ["/compare/cmp_1", "compare", "cmp_1", null],
  ["/compare/scoreboard", "compare", "scoreboard", null],
  ["/usage", "usage", null, null],
  ["/settings", "settings", null, null],
  ["/settings/models", "settings", null, "models"],
  ["/s/a%20b", "session", "a b", null],
  ["/s/%", "session", "%", null],
  ["/nothing", "home", null, null],
])("%s", (path, page, id, section) => {
  expect(placeOf(path)).toEqual({ page, id, section });
});
