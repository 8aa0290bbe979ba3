/** The changes of a session's runs, as far as anyone looks at them. */

import { isNothing } from "$/fold/change";
import { api } from "$/link/http";
import type { FileChange, Reverted } from "$/wire/types";

export class ChangeBook {
  /** By run; only what was asked for, or changed while the page was open. */
  runs: ReadonlyMap<string, FileChange[]> = $state.raw(new Map());
  readonly #asked = new Set<string>();

  /** What the run changed, once it has been asked for. */
  of(runId: string): FileChange[] {
    return this.runs.get(runId) ?? [];
  }

  async load(runId: string): Promise<FileChange[]> {
    if (!this.#asked.has(runId)) {
      this.#asked.add(runId);
      try {
        const { changes } = await api.get<{ changes: FileChange[] }>(`/api/runs/${runId}/changes`);
        this.#put(runId, changes);
      } catch (error) {
        this.#asked.delete(runId);
        throw error;
      }
    }
    return this.of(runId);
  }

  /** An event told of this one. */
  take(change: FileChange): void {
    const others = this.of(change.run_id).filter((one) => one.id !== change.id);
    const known = this.of(change.run_id).some((one) => one.id === change.id);
    if (isNothing(change)) this.#put(change.run_id, others);
    else if (known)
      this.#put(
        change.run_id,
        this.of(change.run_id).map((one) => (one.id === change.id ? change : one)),
      );
    else this.#put(change.run_id, [...others, change]);
  }

  /** Put files back as they were before the run, or as it had left them; the events tell of it. */
  move(runId: string, way: "revert" | "redo", paths?: string[]): Promise<Reverted> {
    const body = { ...(paths === undefined ? {} : { paths }), redo: way === "redo" };
    return api.post<Reverted>(`/api/runs/${runId}/revert`, body);
  }

  #put(runId: string, changes: FileChange[]): void {
    this.runs = new Map(this.runs).set(runId, changes);
  }
}
