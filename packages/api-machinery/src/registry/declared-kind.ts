/**
 * Determines the kind that a JSON object declares and checks it against the expected kind (apimachinery, serializer/json and
 * codec_factory).
 */
import {
  apiVersionOf,
  type GroupVersionKind,
  type JsonObject,
  parseApiVersion,
  type Schema,
  type StructType,
} from '@podwright/kube-schema';

/** The name of upstream's scheme (registry of kinds) in error messages. */
const SCHEME = 'pkg/api/legacyscheme/scheme.go:30';

/** Thrown if a body cannot be decoded. `decodeBody` converts it to the error response. */
export class DecodeError extends Error {
  /** The kind declared in the request body, if known. */
  readonly actual: GroupVersionKind | undefined;

  constructor(message: string, actual?: GroupVersionKind) {
    super(message);
    this.actual = actual;
  }
}

/** Returns the kind that an object declares. A missing `apiVersion` or `kind` is taken from `expected`. */
export function namedKind(value: unknown, expected: GroupVersionKind): GroupVersionKind {
  const typeError = (message: string) =>
    new DecodeError(`couldn't get version/kind; json parse error: json: cannot unmarshal ${message}`);
  if (value === null) return expected;
  if (typeof value !== 'object' || Array.isArray(value))
    throw typeError(
      `${jsonType(value)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
    );
  const read = (field: 'apiVersion' | 'kind'): string => {
    const found = Object.hasOwn(value, field) ? (value as JsonObject)[field] : undefined;
    if (found === undefined || found === null) return '';
    if (typeof found !== 'string') throw typeError(`${jsonType(found)} into Go struct field .${field} of type string`);
    return found;
  };
  const [apiVersion, kind] = [read('apiVersion'), read('kind')];
  return namedBy({ apiVersion, kind }, expected);
}

/** Returns the kind that a non-JSON body declares. Otherwise like `namedKind`. */
export function namedBy(
  { apiVersion, kind }: { apiVersion: string; kind: string },
  expected: GroupVersionKind,
): GroupVersionKind {
  const version = parseApiVersion(apiVersion);
  if (version === undefined) throw new DecodeError(`unexpected GroupVersion string: ${apiVersion}`);
  const { group, version: name } = apiVersion === '' ? expected : version;
  return { group, version: name, kind: kind === '' ? expected.kind : kind };
}

const jsonType = (value: unknown): string =>
  Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;

/** Returns the schema type of a kind. Throws if the kind is unknown or not convertible to the expected kind. */
export function checkedType(
  actual: GroupVersionKind,
  { schema, expected }: { schema: Schema; expected: GroupVersionKind },
): StructType {
  const type = schema.kind(actual);
  if (type === undefined)
    throw new DecodeError(
      `no kind ${JSON.stringify(actual.kind)} is registered for version ${JSON.stringify(apiVersionOf(actual))} in scheme ${JSON.stringify(SCHEME)}`,
      actual,
    );
  if (actual.group !== expected.group || actual.kind !== expected.kind) {
    const target = schema.kind(expected)?.name.split('.')[0];
    const message = `converting (${actual.version}.${actual.kind}) to (${target}.${expected.kind}): unknown conversion`;
    throw new DecodeError(message, actual);
  }
  return type;
}
