import { getContext, setContext } from "svelte";

/** What a field tells the control inside it, so that label, hint and error belong to it. */
export interface FieldContext {
  readonly id: string;
  readonly describedBy: string | undefined;
  readonly invalid: boolean;
}

const KEY = Symbol("field");

export function provideField(field: FieldContext): void {
  setContext(KEY, field);
}

export function useField(): FieldContext | undefined {
  return getContext<FieldContext | undefined>(KEY);
}
