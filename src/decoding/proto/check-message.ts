import { MAX_FIELD_NUMBER } from "../schema.ts";
import { NumberRanges } from "../number-ranges.ts";
import { checkNames, checkNotReserved, checkRanges, reservedOf } from "./check-enum.ts";
import { descriptorInvalid } from "./invalid.ts";
import type { ProtoField, ProtoMessage } from "./model.ts";
import { checkOptions } from "./options.ts";

/** Numbers that protobuf keeps for itself. */
const RESERVED_FIRST = 19_000;
const RESERVED_LAST = 19_999;

/** Checks the rules of the language for one message, without its fields' types. @throws StreamsError `DESCRIPTOR_INVALID`. */
export function checkMessage(message: ProtoMessage, level: string): void {
  const place = `${message.file}: ${message.fullName}`;
  checkOptions(message, "message", level);
  for (const oneof of message.oneofs) checkOptions(oneof, "oneof", level);
  if (level === "proto3" && message.extensionRanges.length > 0) {
    throw descriptorInvalid(`${place}: extension ranges do not exist in proto3`);
  }
  const ranges = [...message.reservedNumbers, ...message.extensionRanges];
  for (const [first, last] of ranges) {
    if (first < 1 || last > MAX_FIELD_NUMBER) {
      throw descriptorInvalid(`${place}: the range ${first} to ${last} is not within 1 to ${MAX_FIELD_NUMBER}`);
    }
  }
  checkRanges(ranges, place);
  checkNames(message.reservedNames, place);
  const reserved = reservedOf(message);
  const extensions = new NumberRanges(message.extensionRanges);
  const numbers = new Map<number, string>();
  for (const field of message.fields) {
    checkNumber(field);
    const other = numbers.get(field.number);
    if (other !== undefined) {
      throw descriptorInvalid(`${place}: "${other}" and "${field.name}" have the same number ${field.number}`);
    }
    numbers.set(field.number, field.name);
    checkNotReserved(reserved, field, place);
    if (extensions.has(field.number)) {
      throw descriptorInvalid(`${place}: "${field.name}" uses the number ${field.number} of an extension range`);
    }
  }
}

/** A field's number must be one that can exist. @throws StreamsError `DESCRIPTOR_INVALID`. */
export function checkNumber({ file, fullName, number }: ProtoField): void {
  const place = `${file}: ${fullName} = ${number}`;
  if (!(number >= 1 && number <= MAX_FIELD_NUMBER)) {
    throw descriptorInvalid(`${place}: the number must be from 1 to ${MAX_FIELD_NUMBER}`);
  }
  if (number >= RESERVED_FIRST && number <= RESERVED_LAST) {
    throw descriptorInvalid(`${place}: numbers ${RESERVED_FIRST} to ${RESERVED_LAST} are reserved by protobuf`);
  }
}
