import type { Message, Model, Part, Run, ToolPart, Usage } from "$/wire/types";

export function usage(fields: Partial<Usage> = {}): Usage {
  return {
    input_tokens: 0,
    output_tokens: 0,
    reasoning_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    exact: true,
    cost_usd: null,
    ...fields,
  };
}

export function run(fields: Partial<Run> = {}): Run {
  return {
    id: "run_1",
    session_id: "ses_1",
    by: "owner",
    status: "completed",
    reason: "end_turn",
    error: null,
    model: "openai/test",
    mode: "agent",
    when_busy: "queue",
    on_disconnect: "continue",
    accept_number: 1,
    accepted_at: "2026-11-15T10:00:00.000Z",
    started_at: "2026-11-15T10:00:00.100Z",
    finished_at: "2026-11-15T10:00:05.000Z",
    input: "hello",
    held: false,
    on_interrupt: "stop",
    continued: 0,
    steered_into: null,
    continues: null,
    effort: null,
    options: null,
    attended: true,
    waiting: null,
    notices: [],
    usage: usage(),
    ...fields,
  };
}

export function tool(
  name: string,
  input: ToolPart["input"],
  fields: Partial<ToolPart> = {},
): ToolPart {
  return {
    id: "prt_1",
    type: "tool",
    call_id: "call_1",
    name,
    input,
    input_text: "",
    state: "done",
    output: null,
    error: null,
    ...fields,
  };
}

export function answer(parts: Part[], fields: Partial<Message> = {}): Message {
  return {
    id: "msg_1",
    session_id: "ses_1",
    run_id: "run_1",
    role: "assistant",
    parts,
    finish_reason: "end_turn",
    created_at: "2026-11-15T10:00:00.000Z",
    ...fields,
  };
}

export function model(id: string, fields: Partial<Model> = {}): Model {
  const [provider = "", ...rest] = id.split("/");
  return {
    id,
    name: rest.join("/"),
    provider,
    context_window: 0,
    capabilities: [],
    max_output: null,
    efforts: [],
    price: null,
    source: "default",
    ...fields,
  };
}
