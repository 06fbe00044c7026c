/** Fields of a configuration that its type lacks, in the form in which server-side apply reports them. */
import { decodeJson, type JsonObject, type Schema, type StructType } from '@podwright/kube-schema';

const UNKNOWN = /^unknown field "(.*)"$/s;

/**
 * The paths of the fields, such as `.spec.template.spec.containers[name="a"].foo`. Throws `invalid_argument` for values of wrong types.
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

/** Replaces the indexes in a path by the keys of the list elements. */
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

/** The keys of a list element in the form `name="a",port=80`; undefined if it has none of them. */
function keysOf(element: unknown, keys: readonly string[]): string | undefined {
  const fields = (element ?? {}) as Record<string, unknown>;
  const found = keys.filter((key) => fields[key] !== undefined);
  return found.length === 0 ? undefined : found.map((key) => `${key}=${JSON.stringify(fields[key])}`).join();
}
