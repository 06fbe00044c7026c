/** Collects the definitions that operations refer to, directly or indirectly. */
import type { Schema, StructType } from '@podwright/kube-schema';
import { customSchema, selectableFields } from './custom-schema.ts';
import { CUSTOM, definitionName } from './definition-names.ts';
import type { JsonSchema } from './json-schema.ts';
import type { PathItem } from './operation.ts';
import { type Describe, typeSchema } from './type-schema.ts';
import { type Dialect, valueSchema } from './value-schemas.ts';

type GroupVersion = { group: string; version: string };

export type DefinitionOptions = {
  schema: Schema;
  dialect: Dialect;
  describe: Describe;
  /** The group versions in the document. A kind that exists in all group versions is listed once for each. */
  groupVersions: readonly GroupVersion[];
};

const IN_EACH_GROUP = 'meta.v1.DeleteOptions';

export function definitionsFor(items: readonly PathItem[], options: DefinitionOptions): Record<string, JsonSchema> {
  const { schema, dialect, describe } = options;
  const found = new Map<string, JsonSchema>();
  const waiting = items.flatMap(({ operations }) =>
    operations.flatMap(({ body, response }) => [body?.type, response].filter((type) => type !== undefined)),
  );
  const refer = (type: string) => waiting.push(type);
  const structOf = (type: string) => (type.includes('.') ? schema.type(type) : undefined);
  const kindsOf = kindNamer(options);
  for (let type = waiting.pop(); type !== undefined; type = waiting.pop()) {
    const name = definitionName(type);
    if (found.has(name)) continue;
    const struct = () => {
      const found = schema.type(type);
      const { custom } = found;
      const own =
        custom === undefined
          ? { ...typeSchema(found, { dialect, describe, structOf, refer }), ...selectableOfList(schema, found) }
          : customSchema(custom, { dialect, refer });
      return { ...own, ...kindsOf(found) };
    };
    found.set(name, valueSchema(name, dialect) ?? struct());
  }
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the `x-kubernetes-selectable-fields` extension of a list of custom objects, which is the same as that of its items. */
function selectableOfList(schema: Schema, { name, byName }: StructType): JsonSchema {
  const element = name.startsWith(CUSTOM) ? byName.get('items')?.type : undefined;
  const custom = element === undefined ? undefined : schema.type(element).custom;
  return custom === undefined ? {} : selectableFields(custom);
}

/** Returns a function that builds a struct's `x-kubernetes-group-version-kind` extension. */
function kindNamer({ schema, groupVersions }: DefinitionOptions): (struct: StructType) => JsonSchema {
  const groups = groupsByDirectory(schema);
  const inMeta = [{ group: '', version: 'v1' }];
  const everywhere = [...inMeta, ...groupVersions.filter(({ group }) => group !== '')];
  return ({ name, isObject }) => {
    if (!isObject) return {};
    const [directory = '', version = '', kind = ''] = name.startsWith(CUSTOM) ? customNames(name) : name.split('.');
    const own = [{ group: groups.get(directory) ?? directory, version }];
    const found = name === IN_EACH_GROUP ? everywhere : directory === 'meta' ? inMeta : own;
    return {
      'x-kubernetes-group-version-kind': found.map((one) => ({ group: one.group, kind, version: one.version })),
    };
  };
}

/** Splits the name of a custom type into group, version and kind. */
function customNames(name: string): string[] {
  const parts = name.slice(CUSTOM.length).split('.');
  return [parts.slice(0, -2).reverse().join('.'), parts.at(-2)!, parts.at(-1)!];
}

/** Maps the directory of a Go package, which is the first part of its type names, to the API group. */
function groupsByDirectory(schema: Schema): Map<string, string> {
  const builtIn = schema.resources.filter(({ isCustom }) => !isCustom);
  const kinds = builtIn.flatMap((resource) => [resource, ...Object.values(resource.subresources ?? {})]);
  const onePerGroup = new Map(kinds.map((kind) => [kind.group, kind]));
  return new Map([...onePerGroup].map(([group, kind]) => [schema.kind(kind)!.name.split('.')[0]!, group]));
}
