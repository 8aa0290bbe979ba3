import { expect, test } from "vitest";
import { answersOf, choose, nothingSaid, write } from "$/questions/answering";
import type { Inquiry } from "$/wire/types";

const labels = ["Red", "Blue", "Green"];
const options = labels.map((label) => ({ label, about: "" }));
const one: Inquiry = { question: "Which?", options, multiple: false };
const many: Inquiry = { ...one, multiple: true };
const open: Inquiry = { question: "Why?", options: [], multiple: false };
const [blank = { chosen: [], words: "" }] = nothingSaid([one]);

test("nothing said is no answer", () => {
  expect(answersOf([one, many], nothingSaid([one, many]))).toBeNull();
  expect(answersOf([open], [write(blank, "  ", open)])).toBeNull();
});

test("of one answer the last choice counts, and words take its place", () => {
  const red = choose(choose(blank, "Blue", one), "Red", one);
  expect(answersOf([one], [red])).toEqual([["Red"]]);
  const own = write(red, " violet ", one);
  expect(answersOf([one], [own])).toEqual([["violet"]]);
  expect(answersOf([one], [choose(own, "Blue", one)])).toEqual([["Blue"]]);
});

test("several are given in the order in which they were offered, with the words last", () => {
  const both = choose(choose(blank, "Green", many), "Red", many);
  expect(answersOf([many], [write(both, "violet", many)])).toEqual([["Red", "Green", "violet"]]);
  expect(answersOf([many], [choose(both, "Green", many)])).toEqual([["Red"]]);
});

test("words that are an option already chosen are said once", () => {
  expect(answersOf([many], [write(choose(blank, "Red", many), "Red", many)])).toEqual([["Red"]]);
});

test("what is passed over has no answer of its own", () => {
  expect(answersOf([one, open], [choose(blank, "Red", one), blank])).toEqual([["Red"], []]);
});
