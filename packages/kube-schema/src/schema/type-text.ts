/**
 * Parses the text form of a type that `scripts/kube-schema/type-texts.ts` generates. The first line has one letter for each property that
 * is set: `isObject` (k), `isList` (l) and `isAtomic` (a). Each further line is a field: number, JSON name (`-` if inlined), type (prefix
 * `[]` for a list, `{}` for a map), flags, and options. Flags are `p` pointer, `e` omitempty, `z` omitzero, `i` inlined, `r` required.
 * Options are `a` atomic, `g` granular, `s` set, `mKEY,KEY` map with these keys, `+KEY` patch strategy merge, `~` patch strategy
 * retainKeys, `=` patch strategy replace, `:TYPE` Go type name.
 */
import { type Field, isStructType, type StructType } from './field.ts';

const GO_NAMES: Record<string, string> = {
  double: 'float64',
  bytes: '[]uint8',
  quantity: 'resource.Quantity',
  time: 'v1.Time',
  microTime: 'v1.MicroTime',
  duration: 'v1.Duration',
  intOrString: 'intstr.IntOrString',
  rawExtension: 'runtime.RawExtension',
  fieldsV1: 'v1.FieldsV1',
  json: 'v1.JSON',
  schemaOrArray: 'v1.JSONSchemaPropsOrArray',
  schemaOrBool: 'v1.JSONSchemaPropsOrBool',
  schemaOrStringArray: 'v1.JSONSchemaPropsOrStringArray',
};

/** Parses the text of a type. `structOf` looks up the types of inlined structs. */
export function parseType(name: string, text: string, structOf: (name: string) => StructType): StructType {
  const [head = '', ...lines] = text.split('\n');
  const fields = lines.map(parseField);
  const isObject = head.includes('k');
  const byName = new Map<string, Field>(isObject ? TYPE_META : []);
  for (const field of fields) {
    if (!field.isInlined) byName.set(field.name, field);
    else for (const [inner, one] of structOf(field.type).byName) byName.set(inner, one);
  }
  const byNumber = new Map(fields.map((field) => [field.number, field]));
  return { name, fields, byNumber, byName, isObject, isList: head.includes('l'), isAtomic: head.includes('a') };
}

function parseField(line: string): Field {
  const [number = '', name = '', type = '', flags = '', ...words] = line.split(' ');
  const container = type.startsWith('[]') ? 'list' : type.startsWith('{}') ? 'map' : 'none';
  const element = container === 'none' ? type : type.slice(2);
  const word = (start: string) => words.find((one) => one.startsWith(start))?.slice(1);
  const keys = word('m');
  const mergeKey = word('+');
  return {
    name: name === '-' ? '' : name,
    number: Number(number),
    type: element,
    container,
    isPointer: flags.includes('p'),
    omitEmpty: flags.includes('e'),
    omitZero: flags.includes('z'),
    isInlined: flags.includes('i'),
    isRequired: flags.includes('r'),
    listType: keys !== undefined ? 'map' : word('s') !== undefined ? 'set' : 'atomic',
    mapKeys: keys?.split(',') ?? [],
    isAtomicMap: container !== 'list' && word('a') !== undefined,
    isGranular: word('g') !== undefined,
    patch: {
      merge: mergeKey !== undefined,
      mergeKey: mergeKey === '' ? undefined : mergeKey,
      retainKeys: word('~') !== undefined,
      replace: word('=') !== undefined,
    },
    goType: word(':') ?? goName(container, element),
  };
}

function goName(container: Field['container'], element: string): string {
  const name = isStructType(element) ? element.split('.').slice(-2).join('.') : (GO_NAMES[element] ?? element);
  return { none: name, list: `[]${name}`, map: `map[string]${name}` }[container];
}

/** Fields of every object that exist only in JSON, not in protobuf. */
const TYPE_META: [string, Field][] = ['kind', 'apiVersion'].map((name) => [name, parseField(`0 ${name} string e`)]);
