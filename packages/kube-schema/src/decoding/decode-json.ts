import { isTooDeep, type JsonObject } from '../json.ts';
import type { StructType } from '../schema/field.ts';
import type { Schema } from '../schema/schema.ts';
import { JsonDecoder } from './json-decoder.ts';
import { decodeError, type JsonPath, Problems } from './problems.ts';

export type DecodeJsonOptions = {
  schema: Schema;
  type: StructType;
  /** Paths of fields that the source text contains more than once, if the JSON or YAML parser reports them. */
  duplicates?: readonly JsonPath[];
};

export type DecodedJson = {
  /**
   * The object as Go would encode it: without unknown fields, with canonical quantities and times, and with structs that Go never omits.
   */
  object: JsonObject;
  /**
   * The problems that `fieldValidation=Strict` rejects and `Warn` reports, such as `unknown field "spec.foo"` and `duplicate field
   * "spec.bar"`. At most 100, in the order of the fields.
   */
  problems: string[];
};

/**
 * Decodes a JSON value like an API server that decodes into a Go struct: names are case-sensitive, and `null` means absent. Throws
 * `invalid_argument` with Go's message for values of wrong types, such as `json: cannot unmarshal string into Go struct field
 * DeploymentSpec.spec.replicas of type int32`. JavaScript numbers do not preserve their notation: `1.0` and `1e3` count as integers here.
 */
export function decodeJson(value: unknown, { schema, type, duplicates = [] }: DecodeJsonOptions): DecodedJson {
  if (isTooDeep(value)) throw decodeError('exceeded max depth');
  const problems = new Problems(duplicates);
  const object = new JsonDecoder(schema, problems).struct(type, value, { path: [], struct: '', fields: '' });
  problems.check();
  return { object: object!, problems: problems.strict };
}

/** The error message for a request with problems under `fieldValidation=Strict`. */
export const strictDecodingMessage = (problems: readonly string[]): string =>
  `strict decoding error: ${problems.join(', ')}`;
