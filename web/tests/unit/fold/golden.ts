/** The golden event files, which the server's own tests also fold. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Event, Session, Snapshot } from "$/wire/types";

export interface Told {
  name: string;
  /** As it was when the telling began, at its `head`. */
  session: Session;
  events: Event[];
  snapshots: Snapshot[];
}

const folder = join(import.meta.dirname, "../../../../tests/golden");

export const golden: Told[] = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".json"))
  .map((name) => {
    const told = JSON.parse(readFileSync(join(folder, name), "utf8")) as Omit<Told, "name">;
    // Older ones were written down before there was more to tell.
    const snapshots = told.snapshots.map((one) => ({ ...{ questions: [], jobs: [] }, ...one }));
    return { name: name.replace(".json", ""), ...told, snapshots };
  });
