/** The parts of a CustomResourceDefinition version that determine how its objects are decoded and merged. */

/** A structural schema, as in a CustomResourceDefinition (apiextensions v1, JSONSchemaProps). */
export type CustomSchema = {
  readonly type?: string;
  readonly description?: string;
  readonly nullable?: boolean;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, CustomSchema>>;
  readonly additionalProperties?: CustomSchema | boolean;
  readonly items?: CustomSchema;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: string;
};

/** A printer column of a custom kind (CustomResourceColumnDefinition). */
export type CustomColumn = {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
};

export type CustomType = {
  readonly schema: CustomSchema;
  /** The printer columns. Default: name and age. */
  readonly columns?: readonly CustomColumn[];
  /** JSON paths of the fields supported by field selectors. Default: none. */
  readonly selectablePaths?: readonly string[];
  /** Warning for clients that use this version, if it is deprecated. */
  readonly deprecationWarning?: string;
};

/** Returns the schema of a property, or `undefined` if the schema does not specify one. */
export function propertyOf(schema: CustomSchema, name: string): CustomSchema | undefined {
  const { properties, additionalProperties } = schema;
  if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

/** Whether objects of the schema may have arbitrary fields. */
export const allowsAnyField = (schema: CustomSchema): boolean =>
  schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties === true;
