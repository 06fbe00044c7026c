import { type FieldSet, formatFieldsV1, type JsonObject, parseFieldsV1 } from '@podwright/kube-schema';

/**
 * Converts between field sets and the `fieldsV1` objects of managed fields entries. Most writes change the fields of only one owner, so
 * conversions are cached while their `fieldsV1` object is in memory: the field sets of the other owners are then neither parsed nor
 * formatted again. Callers must not modify `fieldsV1` objects.
 */
export class FieldSets {
  readonly #parsed = new WeakMap<JsonObject, FieldSet>();
  readonly #formatted = new WeakMap<FieldSet, JsonObject>();

  /** Parses the `fieldsV1` of a managed fields entry. Throws `invalid_argument`. */
  parse(fieldsV1: JsonObject): FieldSet {
    const known = this.#parsed.get(fieldsV1);
    if (known !== undefined) return known;
    const fields = parseFieldsV1(fieldsV1);
    this.#parsed.set(fieldsV1, fields);
    return fields;
  }

  format(fields: FieldSet): JsonObject {
    const known = this.#formatted.get(fields);
    if (known !== undefined) return known;
    const fieldsV1 = formatFieldsV1(fields);
    this.#formatted.set(fields, fieldsV1);
    this.#parsed.set(fieldsV1, fields);
    return fieldsV1;
  }
}
