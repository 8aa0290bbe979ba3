/** A session as an event leaves it. */

import type { Event, Session, Usage } from "$/wire/types";

export function sessionAfter(session: Session, event: Event): Session {
  const changed = changedBy(session, event);
  return changed === session ? session : { ...changed, state: stateOf(changed) };
}

function changedBy(session: Session, event: Event): Session {
  switch (event.type) {
    case "run.accepted":
      return { ...session, queued: session.queued + 1, updated_at: event.at };
    case "run.started":
      return { ...session, queued: session.queued - 1, active_run: event.run.id };
    case "run.finished": {
      const { run } = event;
      // An ending that only repairs what a crash left is no activity: it moves nothing up.
      const updated_at = run.reason === "server_crashed" ? session.updated_at : event.at;
      const usage = sum(session.usage, run.usage);
      const ended = { ...session, usage, updated_at };
      if (session.active_run === run.id) return { ...ended, active_run: null };
      return run.started_at === null ? { ...ended, queued: session.queued - 1 } : ended;
    }
    case "approval.requested":
      return { ...session, waiting_approvals: session.waiting_approvals + 1 };
    case "approval.resolved":
      return { ...session, waiting_approvals: session.waiting_approvals - 1 };
    case "question.asked":
      return { ...session, waiting_questions: session.waiting_questions + 1 };
    case "question.answered":
      return { ...session, waiting_questions: session.waiting_questions - 1 };
    case "session.updated": {
      // The new order of queued runs, and what a vote reveals of runs: no fields of the session.
      const { queue: _, runs: __, ...known } = event.changes;
      return { ...session, ...known };
    }
    case "session.rewound":
      return { ...session, updated_at: event.at };
    default:
      return session;
  }
}

function stateOf(session: Session): Session["state"] {
  if (session.active_run === null) return "idle";
  const waits = session.waiting_approvals > 0 || session.waiting_questions > 0;
  return waits ? "waiting" : "running";
}

function sum(a: Usage, b: Usage): Usage {
  const priced = a.cost_usd !== null || b.cost_usd !== null;
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    reasoning_tokens: a.reasoning_tokens + b.reasoning_tokens,
    cache_read_tokens: a.cache_read_tokens + b.cache_read_tokens,
    cache_write_tokens: a.cache_write_tokens + b.cache_write_tokens,
    exact: a.exact && b.exact,
    cost_usd: priced ? (a.cost_usd ?? 0) + (b.cost_usd ?? 0) : null,
  };
}
