/** What of a conversation can be seen on this screen, so that it need not be said a second time. */

import { SvelteSet } from "svelte/reactivity";

export class Sight {
  /** Approvals, where they stand in the conversation. */
  readonly approvals = new SvelteSet<string>();
  /** Questions, alike. */
  readonly questions = new SvelteSet<string>();
  /** The words about how the last run ended. */
  ending = $state(false);

  approval(id: string, seen: boolean): void {
    if (seen) this.approvals.add(id);
    else this.approvals.delete(id);
  }

  question(id: string, seen: boolean): void {
    if (seen) this.questions.add(id);
    else this.questions.delete(id);
  }
}
