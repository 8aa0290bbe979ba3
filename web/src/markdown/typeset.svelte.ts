/** Formulas, typeset as MathML. The typesetter is large, so it comes when the first one is shown. */

type Typesetter = (tex: string, options: { displayMode: boolean }) => string;

let typesetter: Typesetter | null = $state.raw(null);
let asked = false;

/** MathML of a formula, or null as long as the typesetter is on its way. */
export function typeset(tex: string, display: boolean): string | null {
  if (!typesetter) {
    void load();
    return null;
  }
  return typesetter(tex, { displayMode: display });
}

async function load(): Promise<void> {
  if (asked) return;
  asked = true;
  try {
    const { default: katex } = await import("katex");
    typesetter = (tex, options) =>
      katex
        .renderToString(tex, {
          ...options,
          output: "mathml",
          throwOnError: false,
          strict: false,
          trust: false,
          maxExpand: 500,
        })
        // The page allows no style attributes; MathML needs none of them to be right.
        .replace(/ style="[^"]*"/g, "");
  } catch {
    // Without it formulas stay as they were written; the next one asks again.
    asked = false;
  }
}
