import { fieldOf, isJsonObject, type JsonObject } from '../json.ts';
import { type Field, isScalarType, isStructType, type StructType, type ValueType } from '../schema/field.ts';
import { zeroOf } from '../schema/go-json.ts';
import type { Schema } from '../schema/schema.ts';
import { MAX_DEPTH } from './limits.ts';
import { unfit, writeScalar } from './scalars.ts';
import { VALUE_CODECS } from './value-codecs.ts';
import type { WireWriter } from './wire-writer.ts';

/**
 * Encodes JSON to the same messages as Go's generated code: fields in ascending order of field number, map entries in key order, and
 * non-pointer fields even if they are absent. JSON fields that are not in the schema are ignored.
 */
export class StructEncoder {
  readonly #schema: Schema;
  readonly #writer: WireWriter;
  #depth = 0;

  constructor(schema: Schema, writer: WireWriter) {
    this.#schema = schema;
    this.#writer = writer;
  }

  /** Writes the fields of an object, or of a list if the type has `isList` set. Throws `invalid_argument` for values of other types. */
  struct(type: StructType, value: unknown): void {
    if (++this.#depth > MAX_DEPTH) throw unfit(type.name, `object of at most ${MAX_DEPTH} levels`);
    const object = type.isList ? { items: value } : value;
    if (!isJsonObject(object)) throw unfit(type.name, 'object');
    for (let index = type.fields.length - 1; index >= 0; index--) this.#field(type.fields[index]!, object, type);
    this.#depth--;
  }

  #field(field: Field, object: JsonObject, type: StructType): void {
    const name = `${type.name}.${field.name}`;
    const value = field.isInlined ? object : (fieldOf(object, field.name) ?? null);
    if (field.container === 'list') this.#list(field, value, name);
    else if (field.container === 'map') this.#map(field, value, name);
    else if (value !== null) this.#element(field, value, name);
    else if (!field.isPointer && field.type !== 'bytes') this.#element(field, zeroOf(this.#schema, field.type), name);
  }

  #list(field: Field, value: unknown, name: string): void {
    if (value === null) return;
    if (!Array.isArray(value)) throw unfit(name, 'list');
    for (let index = value.length - 1; index >= 0; index--)
      this.#element(field, value[index] ?? zeroOf(this.#schema, field.type), name);
  }

  #map(field: Field, value: unknown, name: string): void {
    if (value === null) return;
    if (!isJsonObject(value)) throw unfit(name, 'map');
    for (const key of Object.keys(value).sort(byBytes).reverse())
      this.#writer.messageField(field.number, () => {
        const entry = fieldOf(value, key) ?? zeroOf(this.#schema, field.type);
        this.#element({ number: 2, type: field.type }, entry, name);
        this.#writer.stringField(1, key);
      });
  }

  #element({ number, type }: Pick<Field, 'number' | 'type'>, value: unknown, name: string): void {
    if (isScalarType(type)) return writeScalar(this.#writer, { number, type, name }, value);
    const encodeStruct = (struct: string, of: unknown) => this.struct(this.#schema.type(struct), of);
    this.#writer.messageField(number, () => {
      if (isStructType(type)) encodeStruct(type, value);
      else VALUE_CODECS[type as ValueType].encode(this.#writer, value, { name, encodeStruct });
    });
  }
}

/**
 * Compares strings byte by byte, as Go does. JavaScript compares UTF-16 code units, which sorts characters beyond the Basic Multilingual
 * Plane before U+E000.
 */
function byBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
