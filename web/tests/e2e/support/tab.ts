/** A tab as a person sees it: what is on the screen, and what can be pressed. */

import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";

export class Tab {
  constructor(readonly page: Page) {}

  get field(): Locator {
    return this.page.locator("textarea[data-composer]");
  }

  get stop(): Locator {
    return this.button(/^Stop/);
  }

  get queue(): Locator {
    return this.page.getByRole("region", { name: "Queue" });
  }

  get sessions(): Locator {
    return this.page.getByRole("navigation", { name: "Sessions" });
  }

  get lastAnswer(): Locator {
    return this.page.getByRole("article", { name: "Answer" }).last();
  }

  get lastPrompt(): Locator {
    return this.page.getByRole("article", { name: "You" }).last();
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole("button", { name, exact: typeof name === "string" });
  }

  text(words: string | RegExp): Locator {
    return this.page.getByText(words).first();
  }

  /** The session that is open. */
  get session(): string {
    return new URL(this.page.url()).pathname.split("/")[2] ?? "";
  }

  async write(text: string): Promise<void> {
    await this.field.fill(text);
  }

  async send(text: string): Promise<void> {
    await this.write(text);
    await this.field.press("Enter");
  }

  /** What is said on the screen, you and the answers in turn, without any footer. */
  async transcript(): Promise<string[]> {
    return this.page
      .locator("article .bubble .text, article .part.text")
      .evaluateAll((found) => found.map((one) => one.textContent?.trim() ?? ""));
  }

  /** Wait until the screen shows exactly this conversation. */
  async shows(...transcript: string[]): Promise<void> {
    await expect.poll(() => this.transcript()).toEqual(transcript);
  }

  async sees(words: string | RegExp): Promise<void> {
    await this.text(words).waitFor();
  }

  async hides(locator: Locator): Promise<void> {
    await locator.waitFor({ state: "hidden" });
  }

  /** Choose in a menu that a button opens. */
  async choose(trigger: Locator, item: string | RegExp): Promise<void> {
    await trigger.click();
    await this.page.getByRole("menuitem", { name: item }).click();
  }
}
