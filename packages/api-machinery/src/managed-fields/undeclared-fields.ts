/** Finds undeclared fields in a configuration and reports them in the same format as server-side apply. */
import { decodeJson, type JsonObject, type Schema, type StructType } from '@podwright/kube-schema';

const UNKNOWN = /^unknown field "(.*)"$/s;

/**
 * Returns the paths of the undeclared fields, such as `.spec.template.spec.containers[name="a"].foo`. Throws `invalid_argument` for values
 * of the wrong type.
 */
export function undeclaredFields(
  configuration: JsonObject,
  { schema, type }: { schema: Schema; type: StructType },
): string[] {
  const { problems } = decodeJson(configuration, { schema, type });
  return problems.flatMap((problem) => {
    const path = UNKNOWN.exec(problem)?.[1];
    return path === undefined ? [] : [formatPath(path, configuration, { schema, type })];
  });
}

/** Replaces list indexes in a path with the keys of the elements. */
function formatPath(
  path: string,
  configuration: unknown,
  { schema, type }: { schema: Schema; type: StructType },
): string {
  let value = configuration;
  let struct: StructType | undefined = type;
  let keys: readonly string[] = [];
  let text = '';
  for (const [, name, index] of path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)) {
    value = (value as Record<string, unknown> | undefined)?.[name ?? index!];
    if (name === undefined) text += `[${keysOf(value, keys) ?? index}]`;
    else {
      const field = struct?.byName.get(name);
      keys = field?.mapKeys ?? [];
      struct = field?.type.includes('.') ? schema.type(field.type) : undefined;
      text += `.${name}`;
    }
  }
  return text;
}

/** Formats a list element's keys, for example `name="a",port=80`. Returns `undefined` if it has none. */
function keysOf(element: unknown, keys: readonly string[]): string | undefined {
  const fields = (element ?? {}) as Record<string, unknown>;
  const found = keys.filter((key) => fields[key] !== undefined);
  return found.length === 0 ? undefined : found.map((key) => `${key}=${JSON.stringify(fields[key])}`).join();
}
