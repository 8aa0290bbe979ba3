/** The jobs of a session: those that run, and those that anyone looked at. */

import { api } from "$/link/http";
import type { Job } from "$/wire/types";

export class JobBook {
  /** In the order in which they started. */
  all: Job[] = $state.raw([]);
  readonly running: Job[] = $derived(this.all.filter((job) => job.state === "running"));
  readonly #path: string;
  #asked = false;

  constructor(sessionId: string) {
    this.#path = `/api/sessions/${sessionId}/jobs`;
  }

  get(id: string): Job | undefined {
    return this.all.find((job) => job.id === id);
  }

  /** A snapshot has those that run now; of the others, the server is asked again. */
  replace(running: Job[]): void {
    const asked = this.#asked;
    this.#asked = false;
    this.all = running;
    if (asked) void this.load().catch(() => undefined);
  }

  /** An event told of this one. */
  take(job: Job): void {
    this.all =
      this.get(job.id) === undefined
        ? [...this.all, job]
        : this.all.map((one) => (one.id === job.id ? job : one));
  }

  /** Those that have ended, too. */
  async load(): Promise<void> {
    if (this.#asked) return;
    this.#asked = true;
    try {
      const { jobs } = await api.get<{ jobs: Job[] }>(this.#path);
      // What was told meanwhile is newer.
      const told = new Map(this.all.map((job) => [job.id, job]));
      const known = new Set(jobs.map(({ id }) => id));
      this.all = [
        ...jobs.map((job) => newer(told.get(job.id), job)),
        ...this.all.filter(({ id }) => !known.has(id)),
      ];
    } catch (error) {
      this.#asked = false;
      throw error;
    }
  }

  async stop(id: string): Promise<void> {
    this.take(await api.post<Job>(`/api/jobs/${id}/stop`));
  }
}

function newer(told: Job | undefined, loaded: Job): Job {
  if (told === undefined || loaded.state !== "running") return loaded;
  return told;
}
