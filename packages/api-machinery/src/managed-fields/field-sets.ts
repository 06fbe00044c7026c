import { type FieldSet, formatFieldsV1, type JsonObject, parseFieldsV1 } from '@podwright/kube-schema';

/**
 * Converts between field sets and the objects in `managedFields`. Most writes only change the fields of a single owner, so the results are
 * cached while the objects are in memory, and the other owners' sets are neither parsed nor formatted again. These objects must not be
 * modified.
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
