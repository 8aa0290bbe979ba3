/** What a person has chosen and written so far, and what of it is an answer. */

import type { Inquiry } from "$/wire/types";

/** For one of the questions. */
export interface Said {
  /** Labels of the options. */
  chosen: string[];
  /** In their own words. */
  words: string;
}

export function nothingSaid(questions: readonly Inquiry[]): Said[] {
  return questions.map(() => ({ chosen: [], words: "" }));
}

/** The same with an option taken, or put back; of a question that takes one answer, the only one. */
export function choose(said: Said, label: string, { multiple }: Inquiry): Said {
  if (!multiple) return { chosen: [label], words: "" };
  const has = said.chosen.includes(label);
  const chosen = has ? said.chosen.filter((one) => one !== label) : [...said.chosen, label];
  return { ...said, chosen };
}

/** The same with other words; where one answer is taken, they take the place of what was chosen. */
export function write(said: Said, words: string, { multiple }: Inquiry): Said {
  const replaces = !multiple && words.trim() !== "";
  return { chosen: replaces ? [] : said.chosen, words };
}

/** An answer to each question, nothing where it was passed over; null: none is answered yet. */
export function answersOf(questions: readonly Inquiry[], said: readonly Said[]): string[][] | null {
  const answers = questions.map((inquiry, at) => answerOf(inquiry, said[at]));
  return answers.some((one) => one.length > 0) ? answers : null;
}

function answerOf({ options }: Inquiry, said: Said | undefined): string[] {
  if (said === undefined) return [];
  // In the order in which they were offered, whatever was chosen first.
  const chosen = options.map((one) => one.label).filter((label) => said.chosen.includes(label));
  const words = said.words.trim();
  return words === "" || chosen.includes(words) ? chosen : [...chosen, words];
}
