/** Validates Kubernetes objects embedded in custom objects (apiextensions-apiserver, objectmeta). */
import { type FieldError, required } from '@podwright/kube-kinds';
import type { JsonSchema } from '../json-schema.ts';

/** Requires objects with `x-kubernetes-embedded-resource` to have a kind and an apiVersion. */
export function embeddedErrors(value: unknown, schema: JsonSchema, path: string): FieldError[] {
  const { items, properties = {}, additionalProperties } = schema;
  if (Array.isArray(value))
    return items === undefined ? [] : value.flatMap((one, index) => embeddedErrors(one, items, `${path}[${index}]`));
  if (typeof value !== 'object' || value === null) return [];
  const below = (name: string) => (path === '' ? name : `${path}.${name}`);
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  const missing = ['apiVersion', 'kind'].filter((name) => isEmbedded && !Reflect.get(value, name));
  return [
    ...missing.map((name) => required(below(name))),
    ...Object.entries(value).flatMap(([name, one]) => {
      const declared = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
      return typeof declared === 'object' ? embeddedErrors(one, declared, below(name)) : [];
    }),
  ];
}
