import { expect, test } from "vitest";
import { editDistance, nearest } from "../../src/config/nearest.ts";

test.each([
  ["", "", 0],
  ["abc", "", 3],
  ["", "abc", 3],
  ["abc", "abd", 1],
  ["abc", "acb", 1],
  ["topic", "topik", 1],
  ["kitten", "sitting", 3],
])("from %j to %j: %d", (a, b, distance) => {
  expect(editDistance(a, b)).toBe(distance);
});

test.each([
  ["topik", "topic"],
  ["TOPIC", "topic"],
  ["dead_letter_topic", "deadLetterTopic"],
  ["xyz", undefined],
  ["", undefined],
  ["x".repeat(100_000), undefined],
])("%s is meant as %s", (word, meant) => {
  expect(nearest(word, ["topic", "group", "deadLetterTopic"])).toBe(meant);
});
