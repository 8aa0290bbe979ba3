/** What went wrong with a call, as the server says it. */

/** The server refused, or could not be reached (`code` "offline"). */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
  ) {
    super(detail);
    this.name = "Problem";
  }
}

const AWAY = new Set([502, 503, 504]);

/** Nobody who knows the request has looked at it. */
export function isAway(status: number): boolean {
  return AWAY.has(status);
}

export function unreachable(): Problem {
  return new Problem(0, "offline", "The server cannot be reached.");
}

/** The problem that an answer tells of. */
export function problemFrom(status: number, body: string): Problem {
  try {
    const told = JSON.parse(body) as { code?: unknown; detail?: unknown } | null;
    if (typeof told?.code === "string" && typeof told.detail === "string") {
      return new Problem(status, told.code, told.detail);
    }
  } catch {
    // Not from our server: a proxy, or a body that was cut off.
  }
  if (isAway(status)) return unreachable();
  if (status === 413) return new Problem(status, "payload_too_large", "");
  return new Problem(status, "internal", "The server gave an answer that makes no sense.");
}
