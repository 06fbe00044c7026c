import { isTooDeep, type JsonObject } from '../json.ts';
import type { StructType } from '../schema/field.ts';
import type { Schema } from '../schema/schema.ts';
import { JsonDecoder } from './json-decoder.ts';
import { decodeError, type JsonPath, Problems } from './problems.ts';

export type DecodeJsonOptions = {
  schema: Schema;
  type: StructType;
  /** Paths of the fields that the text has more than once; a reader of JSON or YAML knows them. */
  duplicates?: readonly JsonPath[];
};

export type DecodedJson = {
  /** The object as Go would encode it: without unknown fields, with canonical quantities and times, with structs that Go never leaves out. */
  object: JsonObject;
  /**
   * What `fieldValidation=Strict` refuses and `Warn` reports, such as `unknown field "spec.foo"` and `duplicate field "spec.bar"`: at most
   * 100, in the order of the fields.
   */
  problems: string[];
};

/**
 * Decodes a JSON value as an API server's decoder into a Go struct: names are case-sensitive, and `null` is absence. Throws
 * `invalid_argument` with Go's message for values of wrong types, as `json: cannot unmarshal string into Go struct field
 * DeploymentSpec.spec.replicas of type int32`. JavaScript's numbers do not show how they were written: `1.0` and `1e3` are integers here.
 */
export function decodeJson(value: unknown, { schema, type, duplicates = [] }: DecodeJsonOptions): DecodedJson {
  if (isTooDeep(value)) throw decodeError('exceeded max depth');
  const problems = new Problems(duplicates);
  const object = new JsonDecoder(schema, problems).struct(type, value, { path: [], struct: '', fields: '' });
  problems.check();
  return { object: object!, problems: problems.strict };
}

/** The message of a request that `fieldValidation=Strict` refuses. */
export const strictDecodingMessage = (problems: readonly string[]): string =>
  `strict decoding error: ${problems.join(', ')}`;
