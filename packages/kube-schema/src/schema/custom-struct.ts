import type { CustomType } from './custom-schema.ts';
import type { Field, StructType } from './field.ts';
import { type GroupVersionKind, listKind, type Resource } from './resource.ts';

export type CustomResource = { resource: Resource; type: StructType };

export const keyOf = ({ group, version }: GroupVersionKind, name: string): string => [group, version, name].join('/');

/** Returns the type of a custom kind. `objectType`: a type that has only the fields common to all objects. */
export function customStruct(kind: GroupVersionKind, custom: CustomType, objectType: StructType): StructType {
  return { ...objectType, name: customTypeName(kind), isAtomic: false, custom };
}

/** Returns the types of a kind and its list, each keyed by type name and by kind. */
export function namedTypes(resource: Resource, type: StructType): [string, StructType][] {
  const list = listStruct(resource, type);
  return [
    [type.name, type],
    [list.name, list],
    [keyOf(resource, resource.kind), type],
    [keyOf(resource, resource.listKind ?? listKind(resource.kind)), list],
  ];
}

function listStruct(resource: Resource, type: StructType): StructType {
  const kind = resource.listKind ?? listKind(resource.kind);
  const metadata = { ...type.byName.get('metadata')!, type: 'meta.v1.ListMeta' };
  const items: Field = { ...metadata, name: 'items', number: 2, type: type.name, container: 'list', isRequired: true };
  const byName = new Map([...type.byName, ['metadata', metadata] as const, ['items', items] as const]);
  const name = customTypeName({ ...resource, kind });
  return { ...type, name, byName, fields: [metadata, items], isObject: true, custom: undefined };
}

/** Returns the name of a custom type, such as `custom.com.example.v1.Foo`. The group name is reversed, as in Java packages. */
function customTypeName(kind: GroupVersionKind): string {
  return ['custom', ...kind.group.split('.').reverse(), kind.version, kind.kind].join('.');
}
