/** Names of types in OpenAPI documents. For example, `core.v1.Pod` in the schema becomes `io.k8s.api.core.v1.Pod`. */
import type { ValueType } from '@podwright/kube-schema';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const APIEXTENSIONS = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';

/** Go packages outside k8s.io/api, by the first part of the type name. */
const PACKAGES: Readonly<Record<string, string>> = {
  apiextensions: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions',
  apiregistration: 'io.k8s.kube-aggregator.pkg.apis.apiregistration',
  meta: 'io.k8s.apimachinery.pkg.apis.meta',
};

/** Structs that are encoded as a single JSON value. */
export const VALUE_NAMES: Readonly<Record<ValueType, string>> = {
  quantity: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
  time: `${META}.Time`,
  microTime: `${META}.MicroTime`,
  duration: `${META}.Duration`,
  intOrString: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
  rawExtension: 'io.k8s.apimachinery.pkg.runtime.RawExtension',
  fieldsV1: `${META}.FieldsV1`,
  json: `${APIEXTENSIONS}.JSON`,
  schemaOrArray: `${APIEXTENSIONS}.JSONSchemaPropsOrArray`,
  schemaOrBool: `${APIEXTENSIONS}.JSONSchemaPropsOrBool`,
  schemaOrStringArray: `${APIEXTENSIONS}.JSONSchemaPropsOrStringArray`,
};

/** The definition of the request body for all patch types. */
export const PATCH = `${META}.Patch`;

/** Prefix of the names of custom types. */
export const CUSTOM = 'custom.';

/** Returns a type's name in OpenAPI documents. `type`: the name of a struct or value type, or `PATCH`. */
export function definitionName(type: string): string {
  if (type === PATCH) return PATCH;
  if (Object.hasOwn(VALUE_NAMES, type)) return VALUE_NAMES[type as ValueType];
  if (type.startsWith(CUSTOM)) return type.slice(CUSTOM.length);
  const [directory = '', ...rest] = type.split('.');
  return [PACKAGES[directory] ?? `io.k8s.api.${directory}`, ...rest].join('.');
}
