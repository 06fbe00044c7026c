/** The types of expressions, as used by the checker. */

/**
 * `object` has declared fields. `param` is a type parameter of a function, or a type that is still unknown, such as the element type of an
 * empty list.
 */
export type CelType =
  | { readonly kind: SimpleKind }
  | { readonly kind: 'list'; readonly element: CelType }
  | { readonly kind: 'map'; readonly key: CelType; readonly value: CelType }
  | { readonly kind: 'type'; readonly of: CelType }
  | { readonly kind: 'opaque'; readonly name: string; readonly parameters: readonly CelType[] }
  | { readonly kind: 'object'; readonly name: string; readonly fields: ReadonlyMap<string, CelType> }
  | { readonly kind: 'param'; readonly name: string };

export type SimpleKind =
  | 'dyn'
  | 'error'
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'timestamp'
  | 'duration';

const simple = (kind: SimpleKind): CelType => ({ kind });

export const DYN = simple('dyn');
export const ERROR = simple('error');
export const NULL = simple('null');
export const BOOL = simple('bool');
export const INT = simple('int');
export const UINT = simple('uint');
export const DOUBLE = simple('double');
export const STRING = simple('string');
export const BYTES = simple('bytes');
export const TIMESTAMP = simple('timestamp');
export const DURATION = simple('duration');

export const listOf = (element: CelType): CelType => ({ kind: 'list', element });
export const mapOf = (key: CelType, value: CelType): CelType => ({ kind: 'map', key, value });
export const typeOfType = (of: CelType): CelType => ({ kind: 'type', of });
export const opaque = (name: string, ...parameters: CelType[]): CelType => ({ kind: 'opaque', name, parameters });
export const optionalOf = (type: CelType): CelType => opaque('optional_type', type);
export const param = (name: string): CelType => ({ kind: 'param', name });
export const objectOf = (name: string, fields: Iterable<readonly [string, CelType]>): CelType => ({
  kind: 'object',
  name,
  fields: new Map(fields),
});

/** The fields of an open object: every name is a field of type `dyn`. */
class EveryField extends Map<string, CelType> {
  override get(): CelType {
    return DYN;
  }
}

/** Returns an object type in which any field can be read and set. All fields have the type `dyn`. */
export const openObject = (name: string): CelType => ({ kind: 'object', name, fields: new EveryField() });

/** Returns the type parameters of a type, such as the element type of a list. */
export function parametersOf(type: CelType): readonly CelType[] {
  switch (type.kind) {
    case 'list':
      return [type.element];
    case 'map':
      return [type.key, type.value];
    case 'type':
      return [type.of];
    case 'opaque':
      return type.parameters;
    default:
      return [];
  }
}

/** Returns the type with these type parameters in place of its own. */
export function withParameters(type: CelType, parameters: readonly CelType[]): CelType {
  switch (type.kind) {
    case 'list':
      return listOf(parameters[0]!);
    case 'map':
      return mapOf(parameters[0]!, parameters[1]!);
    case 'type':
      return typeOfType(parameters[0]!);
    case 'opaque':
      return opaque(type.name, ...parameters);
    default:
      return type;
  }
}

/** Whether two types are the same, including their type parameters. */
export function isSameType(one: CelType, other: CelType): boolean {
  if (one === other) return true;
  if (one.kind !== other.kind) return false;
  if ('name' in one && 'name' in other && one.name !== other.name) return false;
  const [parameters, others] = [parametersOf(one), parametersOf(other)];
  return parameters.length === others.length && parameters.every((type, index) => isSameType(type, others[index]!));
}

/** Returns the element type of an optional, or `undefined`. */
export const unwrapOptional = (type: CelType): CelType | undefined =>
  type.kind === 'opaque' && type.name === 'optional_type' ? type.parameters[0] : undefined;

const DECLARED: Readonly<Record<string, string>> = { error: '!error!' };

/** Formats a type for error messages. */
export function formatType(type: CelType): string {
  const parameters = parametersOf(type);
  const name = 'name' in type ? type.name : (DECLARED[type.kind] ?? type.kind);
  return parameters.length === 0 ? name : `${name}(${parameters.map(formatType).join(', ')})`;
}
