import { endingOf, type Ending } from "./ending";
import type { Run } from "$/wire/types";

export interface LastEnding extends Ending {
  run: Run;
  text: string;
  canRetry: boolean;
}

/** How the conversation was left, if not well; null while something runs or all is well. */
export function lastEnding(
  runs: Iterable<Run>,
  busy: boolean,
  hasContent: (run: Run) => boolean,
): LastEnding | null {
  const run = busy ? null : lastEnded(runs);
  const ending = run === null ? null : endingOf(run);
  if (run === null || ending === null || ending.text === null) return null;
  const compacting = run.mode === "compact";
  return {
    ...ending,
    run,
    text: compacting ? `The summary was not made. ${ending.text}` : ending.text,
    canContinue: ending.canContinue && !compacting && hasContent(run),
    canRetry: !compacting && run.status !== "completed",
  };
}

/** The run that ended last; not one that was taken back or became part of another. */
export function lastEnded(runs: Iterable<Run>): Run | null {
  let last: Run | null = null;
  for (const run of runs) {
    if (run.finished_at === null || run.steered_into !== null) continue;
    if (run.reason === "withdrawn" || run.reason === "deleted") continue;
    if (last === null || isLater(run, last)) last = run;
  }
  return last;
}

function isLater(run: Run, than: Run): boolean {
  const [a, b] = [run.finished_at ?? "", than.finished_at ?? ""];
  return a === b ? run.accept_number > than.accept_number : a > b;
}
