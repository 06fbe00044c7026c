/** Defaulting of custom kinds (apiextensions-apiserver, defaulting). */
import { isJsonObject, type JsonObject, setField } from '../json.ts';
import { type CustomSchema, propertyOf } from '../schema/custom-schema.ts';

/**
 * Returns a value with the defaults of its schema applied. A null that the schema does not allow is replaced with the default, or removed
 * if there is none.
 */
export function withDefaults(value: unknown, schema: CustomSchema): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? value : value.map((one) => withDefaults(defaulted(one, items), items));
  }
  return isJsonObject(value) ? withFieldDefaults(value, schema) : value;
}

function withFieldDefaults(object: JsonObject, schema: CustomSchema): JsonObject {
  const result: JsonObject = {};
  for (const [name, value] of Object.entries(object)) {
    const property = propertyOf(schema, name);
    if (property === undefined) setField(result, name, value);
    else if (value !== null || property.nullable === true) setField(result, name, withDefaults(value, property));
    else if (property.default !== undefined) setField(result, name, withDefaults(property.default, property));
    else if (!isDeclared(schema, name)) setField(result, name, value); // as in upstream, only in objects with properties
  }
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    if (property.default !== undefined && !Object.hasOwn(object, name))
      setField(result, name, withDefaults(structuredClone(property.default), property));
  return result;
}

const isDeclared = ({ properties = {} }: CustomSchema, name: string): boolean => Object.hasOwn(properties, name);

const defaulted = (value: unknown, schema: CustomSchema): unknown =>
  value === null && schema.nullable !== true && schema.default !== undefined ? schema.default : value;
