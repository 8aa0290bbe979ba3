/** The real server as a process of its own, to be killed and started again. */

import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

export const ROOT = resolve(import.meta.dirname, "../../../..");
const PROGRAM = process.env["TENUTO_PROGRAM"] ?? join(ROOT, ".venv/bin/tenuto");
const START_MS = 40_000;
export const TOKEN = "test-token-of-no-value";

/** No request reaches the model server but the test's own. */
const QUIET = {
  TENUTO_TITLES: "off",
  TENUTO_DISCOVER: "off",
  TENUTO_EMBEDDED_ENABLED: "off",
};

/** Whatever ends us ends them. */
const running = new Set<ChildProcess>();
process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")));

export class Tenuto {
  readonly folder = mkdtempSync(join(tmpdir(), "tenuto-page-"));
  port = 0;
  log = "";
  #process: ChildProcess | null = null;
  #env: Record<string, string>;

  private constructor(modelUrl: string | null, env: Record<string, string>) {
    const provider = modelUrl ? { OPENAI_API_KEY: "no-key", OPENAI_BASE_URL: modelUrl } : {};
    this.#env = {
      PATH: process.env["PATH"] ?? "",
      HOME: this.folder,
      TENUTO_TOKEN: TOKEN,
      ...QUIET,
      ...provider,
      ...env,
    };
  }

  static async start(modelUrl: string | null, env: Record<string, string> = {}): Promise<Tenuto> {
    const made = new Tenuto(modelUrl, env);
    await made.up();
    return made;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Start on the data folder and, after the first time, on the same port. */
  async up(): Promise<void> {
    const where = ["--port", String(this.port), "--data", join(this.folder, "data")];
    const child = spawn(PROGRAM, ["serve", ...where], { env: this.#env, cwd: this.folder });
    this.#process = child;
    running.add(child);
    child.on("exit", () => running.delete(child));
    this.port = await new Promise<number>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`no start:\n${this.log}`)), START_MS);
      const heard = (data: Buffer): void => {
        this.log += String(data);
        const port = /is ready: http:\/\/127\.0\.0\.1:(\d+)(?=[/\s])/.exec(
          this.log.slice(-2000),
        )?.[1];
        if (port === undefined) return;
        clearTimeout(late);
        resolve(Number(port));
      };
      child.stdout.on("data", heard);
      child.stderr.on("data", heard);
      child.on("error", reject);
      child.on("exit", (code) => reject(new Error(`it ended with ${code}:\n${this.log}`)));
    });
  }

  /** As a crash would. */
  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = null;
    this.log = "";
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
  }

  async close(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Stop whatever still runs or waits. */
  async quieten(): Promise<void> {
    for (const status of ["running", "queued"]) {
      const { runs } = await this.call<{ runs: { session_id: string }[] }>(
        "GET",
        `/runs?status=${status}&limit=200`,
      );
      const sessions = new Set(runs.map((run) => run.session_id));
      for (const id of sessions) await this.call("POST", `/sessions/${id}/cancel`);
    }
  }

  /** A call of its own, beside the browser. */
  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${this.url}/api${path}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === "" ? null : JSON.parse(text)) as T;
  }
}
