/** The types `Object` and `JSONPatch`, which mutation expressions return (apiserver, pkg/cel/mutation). */
import {
  EvaluationError,
  type FunctionTable,
  ListValue,
  MapValue,
  MessageValue,
  overload,
  type Program,
  textOf,
  celTypes as types,
  UnsignedValue,
  type Value,
} from '@podwright/cel';

/** The types that mutation expressions can return, as named in error messages. */
export const OBJECT = 'Object';
export const JSON_PATCH_LIST = 'list(JSONPatch)';

const JSON_PATCH = 'JSONPatch';
const JSON_PATCH_TYPE = types.objectOf(JSON_PATCH, [
  ['op', types.STRING],
  ['path', types.STRING],
  ['from', types.STRING],
  ['value', types.DYN],
]);

/** Returns the type of a message that mutations can create, such as `Object.spec`, or `undefined` for any other name. */
export function patchMessages(name: string): Program['type'] | undefined {
  if (name === JSON_PATCH) return JSON_PATCH_TYPE;
  return name === OBJECT || name.startsWith(`${OBJECT}.`) ? types.openObject(name) : undefined;
}

/** Escapes a key for use in a JSON pointer (RFC 6901). */
const escapeKey = (key: string): string => key.replace(/[~/]/g, (character) => (character === '~' ? '~0' : '~1'));

/** CEL functions that are available only in the expressions of mutations. */
export const PATCH_FUNCTIONS: FunctionTable = { 'jsonpatch.escapeKey': [overload('(string) -> string', escapeKey)] };

/** Returns the operations of a JSON patch (RFC 6902). Throws `EvaluationError`. */
export const jsonPatchOperations = (patch: Value): object[] =>
  patch instanceof ListValue ? [...patch].map((one) => operationOf(one as MapValue)) : [];

function operationOf(patch: MapValue): object {
  const [op, path, from] = ['op', 'path', 'from'].map((name) => String(patch.get(name) ?? ''));
  const value = patch.get('value');
  const checked = value instanceof MessageValue ? withFieldNames(value) : value;
  return { op, path, ...(from && { from }), ...(checked !== undefined && { value: jsonOf(checked, textInPatch) }) };
}

/** Returns the apply configuration represented by a value of type `Object`. Throws `EvaluationError`. */
export const configurationOf = (value: Value): Record<string, unknown> =>
  jsonOf(value instanceof MessageValue ? withFieldNames(value) : value) as Record<string, unknown>;

/**
 * Throws an `EvaluationError` unless the type name of each message is its field path: the field `spec` of `Object` must be an
 * `Object.spec`.
 */
function withFieldNames(value: MessageValue): MessageValue {
  const problems = nameProblems(value, value.typeName);
  if (problems.length > 0) throw new EvaluationError(`type mismatch: ${problems.join('\n')}`);
  return value;
}

/**
 * Returns errors for messages with a wrong type name. `expected`: the type name that `value` itself must have; list elements must have the
 * same one as their list.
 */
function nameProblems(value: Value, expected: string): string[] {
  if (value instanceof ListValue) return [...value].flatMap((one) => nameProblems(one, expected));
  if (!(value instanceof MapValue)) return [];
  const isMessage = value instanceof MessageValue;
  const isWrong = isMessage && value.typeName !== expected;
  const problem = `unexpected type name ${JSON.stringify(isMessage && value.typeName)}, expected ${JSON.stringify(expected)}, which matches field name path from root Object type`;
  const within = [...value.keys()].flatMap((key) =>
    nameProblems(value.get(key)!, isMessage ? `${expected}.${String(key)}` : expected),
  );
  return [...(isWrong ? [problem] : []), ...within];
}

type OwnText = (value: Value) => string | undefined;

/** Returns the text of bytes, a timestamp or a duration in a JSON patch, formatted as in protobuf's JSON mapping. */
const textInPatch: OwnText = (value) =>
  value instanceof Uint8Array ? Buffer.from(value).toString('base64') : textOf(value);

/** Converts a value to JSON. `ownText` formats types that JSON lacks. Throws an `EvaluationError` if the value cannot be converted. */
function jsonOf(value: Value, ownText: OwnText = () => undefined): unknown {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'bigint') return numberOf(value);
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (value instanceof UnsignedValue) return numberOf(value.value);
  if (value instanceof ListValue) return [...value].map((one) => jsonOf(one, ownText));
  if (value instanceof MapValue)
    return Object.fromEntries([...value.keys()].map((key) => [keyOf(key), jsonOf(value.get(key)!, ownText)]));
  const text = typeof value === 'number' ? undefined : ownText(value);
  if (text !== undefined) return text;
  throw new EvaluationError('the value could not be converted to JSON');
}

function numberOf(value: bigint): number {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw new EvaluationError(`the integer ${value} could not be converted to JSON`);
}

function keyOf(key: Value): string {
  if (typeof key === 'string') return key;
  throw new EvaluationError('the value has a map whose keys are not strings');
}
