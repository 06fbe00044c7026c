import { isTooDeep, type JsonObject } from '../json.ts';
import type { StructType } from '../schema/field.ts';
import type { Schema } from '../schema/schema.ts';
import { decodeCustom } from './decode-custom.ts';
import { JsonDecoder } from './json-decoder.ts';
import { type DecodingSource, decodeError, type JsonPath, Problems, rootContext } from './problems.ts';

export type DecodeJsonOptions = {
  schema: Schema;
  type: StructType;
  /** Paths of fields that occur more than once in the source text, if the JSON or YAML parser reports them. */
  duplicates?: readonly JsonPath[];
  /** Determines the wording of errors for built-in kinds. Default: `json`. */
  source?: DecodingSource;
  /**
   * A decoded object of the same built-in type. Parts that the value shares with it, such as the spec after a patch of the status, are not
   * decoded again.
   */
  decoded?: JsonObject;
};

export type DecodedJson = {
  /**
   * The object as Go would encode it: without unknown fields, with canonical quantities and times, and including structs that Go never
   * omits.
   */
  object: JsonObject;
  /**
   * The problems that `fieldValidation=Strict` rejects and `Warn` reports, such as `unknown field "spec.foo"` and `duplicate field
   * "spec.bar"`. At most 100, in field order.
   */
  problems: string[];
};

/**
 * Decodes a JSON value like an API server that decodes into a Go struct: names are case-sensitive, and `null` means absent. For values of
 * the wrong type, throws `invalid_argument` with Go's message, such as `json: cannot unmarshal string into Go struct field
 * DeploymentSpec.spec.replicas of type int32`. JavaScript numbers do not preserve their notation, so `1.0` and `1e3` count as integers
 * here.
 */
export function decodeJson(value: unknown, options: DecodeJsonOptions): DecodedJson {
  const { schema, type, duplicates = [], source, decoded } = options;
  if (isTooDeep(value)) throw decodeError('exceeded max depth');
  if (type.custom !== undefined) return decodeCustom(value, { schema, type, duplicates });
  const problems = new Problems(duplicates, source);
  const object = new JsonDecoder(schema, problems, decoded).struct(type, value, rootContext());
  problems.check();
  return { object: object!, problems: problems.strict };
}

/** Returns the error message for a request that fails `fieldValidation=Strict`. */
export const strictDecodingMessage = (problems: readonly string[]): string =>
  `strict decoding error: ${problems.join(', ')}`;
