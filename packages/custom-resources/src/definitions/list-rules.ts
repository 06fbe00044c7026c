/** The rules for `x-kubernetes-list-type` and `x-kubernetes-list-map-keys`. */
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '@podwright/kube-kinds';
import type { JsonSchema } from '../json-schema.ts';

export function listRules(field: string, schema: JsonSchema): FieldError[] {
  const { type = '' } = schema;
  const listType = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const at = `${field}.x-kubernetes-list-type`;
  const mustBeMap = 'must be map if x-kubernetes-list-map-keys is non-empty';
  const keyErrors =
    keys.length === 0 || listType === 'map'
      ? []
      : [listType === undefined ? required(at, mustBeMap) : invalidValue(at, listType, mustBeMap)];
  if (listType === undefined) return keyErrors;
  const mustBeArray = 'must be array if x-kubernetes-list-type is specified';
  const wrongType =
    type === '' ? required(`${field}.type`, mustBeArray) : invalidValue(`${field}.type`, type, mustBeArray);
  return [
    ...(type === 'array' ? [] : [wrongType]),
    ...(['atomic', 'set', 'map'].includes(listType) ? [] : [notSupported(at, listType, ['atomic', 'set', 'map'])]),
    ...(type === 'array' && listType === 'set' ? setRules(field, schema) : []),
    ...keyErrors,
    ...(listType === 'map' ? mapRules(field, schema) : []),
    ...((listType === 'map' || listType === 'set') && schema.items?.nullable === true
      ? [forbiddenField(`${field}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`)]
      : []),
    ...(listType === 'map' ? keyFieldRules(field, schema) : []),
  ];
}

function setRules(field: string, { items }: JsonSchema): FieldError[] {
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const listType = items?.['x-kubernetes-list-type'];
  if (items?.type === 'array' && listType !== undefined && listType !== 'atomic')
    return [invalidValue(`${field}.items.x-kubernetes-list-type`, listType, detail)];
  if (items?.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic')
    return [invalidValue(`${field}.items.x-kubernetes-map-type`, listType ?? null, detail)];
  return [];
}

function mapRules(field: string, schema: JsonSchema): FieldError[] {
  const { items } = schema;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const at = `${field}.x-kubernetes-list-map-keys`;
  const errors = keys.length === 0 ? [required(at, 'must not be empty if x-kubernetes-list-type is map')] : [];
  if (items === undefined)
    return [...errors, required(`${field}.items`, 'must have a schema if x-kubernetes-list-type is map')];
  if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    return [...errors, invalidValue(`${field}.items.type`, items.type ?? '', detail)];
  }
  const { properties = {} } = items;
  return [
    ...errors,
    ...keys.flatMap((key, index) => {
      const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
      const isScalar = property?.type !== 'array' && property?.type !== 'object';
      const scalar = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      return [
        ...(property === undefined ? [invalidValue(at, keys, 'entries must all be names of item properties')] : []),
        ...(isScalar ? [] : [invalidValue(`${field}.items.properties[${key}].type`, items.type, scalar)]),
        ...(keys.indexOf(key) < index ? [invalidValue(at, keys, 'must not contain duplicate entries')] : []),
      ];
    }),
  ];
}

/** Requires the key fields of a `map` list's elements to be non-nullable, and to be required or have a default. */
function keyFieldRules(field: string, schema: JsonSchema): FieldError[] {
  const { properties = {}, required: names = [] } = schema.items ?? {};
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  return keys.flatMap((key) => {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (property === undefined) return [];
    const at = `${field}.items.properties[${key}]`;
    const must = 'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property';
    const notNull = 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable';
    return [
      ...(names.includes(key) || property.default !== undefined ? [] : [required(`${at}.default`, must)]),
      ...(property.nullable === true ? [forbiddenField(`${at}.nullable`, notNull)] : []),
    ];
  });
}
