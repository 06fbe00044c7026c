import {
  badRequest,
  checkedType,
  DecodeError,
  namedBy,
  namedKind,
  unsupportedMediaType,
} from '@podwright/api-machinery';
import { errorCode, PodwrightError } from '@podwright/base';
import type { ApiObject } from '@podwright/kube-kinds';
import {
  apiVersionOf,
  decodeJson,
  decodeObject,
  type GroupVersionKind,
  type JsonObject,
  PROTOBUF_MEDIA_TYPE,
  type Schema,
} from '@podwright/kube-schema';
import { customKind } from './body-kind.ts';
import { checkValues } from './check-values.ts';
import { type FieldValidation, strictError, type Warn } from './field-validation.ts';
import { CUSTOM_MEDIA_TYPES, MEDIA_TYPES, mediaTypeOf, type ObjectMediaType } from './media-type.ts';
import { BodySyntaxError, type ParsedBody, parseJsonBody, parseYamlBody } from './parsed-body.ts';
import type { SentBody } from './sent-body.ts';
import { summaryOf } from './summary.ts';

export type DecodeBodyOptions = {
  schema: Schema;
  /** The kind implied by the URL; also the default for bodies that do not declare one. */
  expected: GroupVersionKind;
  fieldValidation: FieldValidation;
  warn: Warn;
};

/** Returns a body's media type from its Content-Type header. Defaults to JSON. Throws 415 if the type is not supported. */
export function bodyMediaType(contentType: string, isCustom = false): ObjectMediaType {
  const supported = isCustom ? CUSTOM_MEDIA_TYPES : MEDIA_TYPES;
  const sent = contentType === '' ? MEDIA_TYPES[0] : mediaTypeOf(contentType);
  const known = supported.find((type) => type === sent);
  if (known === undefined) throw unsupportedMediaType(supported);
  return known;
}

/**
 * Decodes the object in a POST or PUT body. Throws 400 with upstream's message if the body is malformed, declares a different kind or
 * version, or (with `fieldValidation=Strict`) has unknown or duplicate fields.
 */
export function decodeBody(body: SentBody, mediaType: ObjectMediaType, options: DecodeBodyOptions): ApiObject {
  const { expected } = options;
  try {
    const { object, actual } =
      Buffer.isBuffer(body) && mediaType === PROTOBUF_MEDIA_TYPE
        ? ofProtobuf(body, options)
        : ofParsed(Buffer.isBuffer(body) ? parsedText(body, mediaType) : body, options);
    const [data, served] = [apiVersionOf(actual), apiVersionOf(expected)];
    if (data !== served)
      throw badRequest(`the API version in the data (${data}) does not match the expected API version (${served})`);
    const { kind: _, apiVersion: __, metadata, ...fields } = object;
    return { kind: expected.kind, apiVersion: served, metadata: (metadata ?? {}) as ApiObject['metadata'], ...fields };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const { actual, message } = error;
    if (actual?.kind)
      throw badRequest(
        `${actual.kind} in version ${JSON.stringify(actual.version)} cannot be handled as a ${expected.kind}: ${message}`,
      );
    throw badRequest(
      `the object provided is unrecognized (must be of type ${expected.kind}): ${message} (${summaryOf(shownBody(body))})`,
    );
  }
}

const shownBody = (body: SentBody): Buffer =>
  Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body.value) ?? '');

type Decoded = { object: JsonObject; actual: GroupVersionKind };

function ofParsed(parsed: ParsedBody, options: DecodeBodyOptions): Decoded {
  const { schema, expected } = options;
  const custom = schema.kind(expected);
  const isCustom = custom?.custom !== undefined;
  const actual = isCustom ? customKind(parsed.value, expected) : namedKind(parsed.value, expected);
  const type = isCustom ? custom : checkedType(actual, options);
  const decoded = withKind(actual, () =>
    decodeJson(parsed.value ?? {}, { schema, type, duplicates: parsed.duplicates }),
  );
  const problem = strictError(decoded.problems, parsed, options);
  if (problem !== undefined) throw new DecodeError(problem, actual);
  return { object: decoded.object, actual };
}

function parsedText(body: Buffer, mediaType: ObjectMediaType): ParsedBody {
  const text = body.toString('utf8');
  try {
    return mediaType === 'application/yaml' ? parseYamlBody(text) : parseJsonBody(text);
  } catch (error) {
    if (!(error instanceof BodySyntaxError)) throw error;
    const isYaml = mediaType === 'application/yaml';
    throw new DecodeError(isYaml ? error.message : `couldn't get version/kind; json parse error: ${error.message}`);
  }
}

function ofProtobuf(body: Buffer, options: DecodeBodyOptions): Decoded {
  const { schema, expected } = options;
  if (body.length === 0) throw new DecodeError('empty data');
  const fallback = { apiVersion: apiVersionOf(expected), kind: expected.kind };
  const object = withKind(undefined, () => decodeObject(schema, body, { fallback }));
  checkValues(object);
  const actual = namedBy({ apiVersion: String(object.apiVersion ?? ''), kind: String(object.kind ?? '') }, expected);
  checkedType(actual, options);
  return { object, actual };
}

/** Calls a kube-schema decoder and turns its errors into `DecodeError`s. */
function withKind<T>(actual: GroupVersionKind | undefined, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    const code = error instanceof PodwrightError ? errorCode(error) : undefined;
    if (code === 'invalid_argument' || code === 'not_found') throw new DecodeError((error as Error).message, actual);
    throw error;
  }
}
