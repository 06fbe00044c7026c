/** Field paths of rules, such as `.spec.replicas` and `.labels['example.com/name']` (apiextensions-apiserver, ValidFieldPath). */
import type { JsonSchema } from '../json-schema.ts';

const STEP = /\.([^.[\]]+)|\['((?:[^'\\]|\\[\s\S])*)'\]/y;
const ESCAPES: Readonly<Record<string, string>> = {
  ...{ a: '\u0007', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', "'": "'", '\\': '\\' },
};

/** Returns a rule's `fieldPath` as printed in errors; `undefined` if it does not name a field of the schema. */
export function ruleFieldPath(path: string, schema: JsonSchema): string | undefined {
  let shown = '';
  let at: JsonSchema | undefined = schema;
  let index = 0;
  while (index < path.length) {
    STEP.lastIndex = index;
    const [all, plain, quoted = ''] = STEP.exec(path) ?? [];
    if (all === undefined) return undefined;
    const name: string | undefined = plain ?? unescaped(quoted);
    const parts: JsonSchema = at;
    const { properties, additionalProperties: more } = parts;
    const isNamed: boolean = properties !== undefined;
    at =
      name === undefined
        ? undefined
        : isNamed
          ? ownProperty(properties, name)
          : typeof more === 'object'
            ? more
            : undefined;
    if (at === undefined) return undefined;
    shown += isNamed ? `.${name}` : `[${name}]`;
    index += all.length;
  }
  return shown.replace(/^\./, '');
}

const ownProperty = (properties: JsonSchema['properties'], name: string): JsonSchema | undefined =>
  properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;

function unescaped(quoted: string): string | undefined {
  let isValid = true;
  const text = quoted.replace(/\\([\s\S])/g, (_, char: string) => {
    if (!Object.hasOwn(ESCAPES, char)) isValid = false;
    return ESCAPES[char] ?? '';
  });
  return isValid ? text : undefined;
}
