import { type JsonObject, setField } from '../json.ts';
import { type Field, isScalarType, isStructType, type StructType, type ValueType } from '../schema/field.ts';
import { objectOf, zeroOf } from '../schema/go-json.ts';
import type { Schema } from '../schema/schema.ts';
import { knownFields } from './known-fields.ts';
import { type DecodeLimits, MAX_DEPTH, VALUES_OF_STRUCT, ValueBudget } from './limits.ts';
import { readScalar, WIRE_TYPES } from './scalars.ts';
import { VALUE_CODECS } from './value-codecs.ts';
import { BYTES, malformed, type Tag, type WireReader } from './wire-reader.ts';

/**
 * Decodes the messages of one object to the JSON that a Go program would print: fields that Go does not omit get their zero value or
 * `null`. If a field occurs twice, the last value wins.
 */
export class StructDecoder {
  readonly #schema: Schema;
  readonly #budget: ValueBudget;
  #depth = 0;

  constructor(schema: Schema, limits?: DecodeLimits) {
    this.#schema = schema;
    this.#budget = new ValueBudget(limits);
  }

  /** Decodes a struct to an object, or to a list or null if its type has `isList` set. */
  struct(type: StructType, reader: WireReader): unknown {
    if (++this.#depth > MAX_DEPTH) throw malformed(reader.offset, `messages are more than ${MAX_DEPTH} deep`);
    this.#budget.spend(reader.offset, VALUES_OF_STRUCT);
    const values = this.#read(type, reader);
    this.#depth--;
    if (type.isList) return values.get(1) ?? null;
    return objectOf(this.#schema, { fields: type.fields, found: ({ number }) => values.get(number) });
  }

  #read(type: StructType, reader: WireReader): Map<number, unknown> {
    const values = new Map<number, unknown>();
    while (!reader.isAtEnd) {
      const { offset } = reader;
      const tag = reader.tag();
      const field = type.byNumber.get(tag.number);
      this.#budget.spend(offset);
      if (field === undefined) reader.skip(tag);
      else if (field.container === 'none') values.set(tag.number, this.#element(field, tag, reader));
      else if (field.container === 'list')
        this.#elements(field, { tag, reader, list: into(values, tag.number, () => []) });
      else this.#entry(field, { reader, map: into(values, tag.number, () => ({})) });
    }
    return values;
  }

  #element(field: Field, { number, wireType }: Tag, reader: WireReader): unknown {
    const { type } = field;
    const expected = isScalarType(type) ? WIRE_TYPES[type] : BYTES;
    if (wireType !== expected)
      throw malformed(
        reader.offset,
        `field ${number} (${field.name}) has the wire type ${wireType} instead of ${expected}`,
      );
    return this.#value(type, reader);
  }

  /** Reads a value whose wire type has already been checked. */
  #value(type: string, reader: WireReader): unknown {
    if (isScalarType(type)) return readScalar(reader, type);
    const message = reader.message();
    if (isStructType(type)) return this.struct(this.#schema.type(type), message);
    return VALUE_CODECS[type as ValueType].decode(message, (name, inner) =>
      this.struct(this.#schema.type(name), inner),
    );
  }

  /** Reads one list element, or several numbers that are packed into one field. */
  #elements(field: Field, { tag, reader, list }: { tag: Tag; reader: WireReader; list: unknown[] }): void {
    const isPacked = isScalarType(field.type) && WIRE_TYPES[field.type] !== BYTES && tag.wireType === BYTES;
    if (!isPacked) {
      list.push(this.#element(field, tag, reader));
      return;
    }
    const packed = reader.message();
    while (!packed.isAtEnd) {
      this.#budget.spend(packed.offset);
      list.push(this.#value(field.type, packed));
    }
  }

  #entry({ type }: Field, { reader, map }: { reader: WireReader; map: JsonObject }): void {
    const wireTypes = { 1: BYTES, 2: isScalarType(type) ? WIRE_TYPES[type] : BYTES };
    const entry = reader.message();
    let [key, value]: [string, unknown] = ['', undefined];
    for (const number of knownFields(entry, wireTypes))
      if (number === 1) key = entry.string();
      else value = this.#value(type, entry);
    setField(map, key, value ?? zeroOf(this.#schema, type));
  }
}

/** Returns the list or map collected so far for a field, creating it for the field's first element or entry. */
function into<T>(values: Map<number, unknown>, number: number, make: () => T): T {
  const before = values.get(number) as T | undefined;
  const value = before ?? make();
  if (before === undefined) values.set(number, value);
  return value;
}
