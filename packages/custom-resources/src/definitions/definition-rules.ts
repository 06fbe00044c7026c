import {
  type ApiObject,
  type FieldError,
  forbiddenField,
  invalidValue,
  isSameValue,
  objectAt,
  objectsAt,
  textAt,
} from '@podwright/kube-kinds';
import { type JsonSchema, someSchema } from '../json-schema.ts';
import { defaultErrors } from './default-rules.ts';
import { schemaErrors } from './schema-rules.ts';
import { structuralErrors } from './structural-rules.ts';

/** Validates the schemas of a definition. Schemas unchanged by an update are not validated again. */
export function definitionSchemaErrors(definition: ApiObject, old?: ApiObject): FieldError[] {
  const versions = objectsAt(definition, 'spec', 'versions');
  const schemas = versions.map((version) => objectAt(version, 'schema', 'openAPIV3Schema') as JsonSchema | undefined);
  const before = objectsAt(old, 'spec', 'versions').map((version) => objectAt(version, 'schema', 'openAPIV3Schema'));
  const isShared = schemas.every((schema) => isSameValue(schema, schemas[0]));
  return schemas.flatMap((schema, index) => {
    if (schema === undefined || before.some((one) => isSameValue(one, schema)) || (isShared && index > 0)) return [];
    const at = isShared ? 'spec.validation' : `spec.versions[${index}].schema`;
    return errorsOf(`${at}.openAPIV3Schema`, schema);
  });
}

/** Requires selectable fields to be scalars declared in the schema. */
export function selectableErrors(definition: ApiObject): FieldError[] {
  const versions = objectsAt(definition, 'spec', 'versions');
  const isShared = versions.every((one) => isSameValue(one.selectableFields, versions[0]?.selectableFields));
  return (isShared ? versions.slice(0, 1) : versions).flatMap((version, index) => {
    const schema = (objectAt(version, 'schema', 'openAPIV3Schema') ?? {}) as JsonSchema;
    const at = isShared ? 'spec.selectableFields' : `spec.versions[${index}].selectableFields`;
    return objectsAt(version, 'selectableFields').flatMap((one, position) => {
      const path = textAt(one, 'jsonPath');
      const problem = path.startsWith('.') ? selectableProblem(schema, path.slice(1).split('.')) : undefined;
      return problem === undefined ? [] : [invalidValue(`${at}[${position}].jsonPath`, path, problem)];
    });
  });
}

function selectableProblem(schema: JsonSchema, path: readonly string[]): string | undefined {
  const found = path.reduce<JsonSchema | undefined>((one, name) => one?.properties?.[name], schema);
  if (found === undefined) return 'is an invalid path: does not refer to a valid field';
  const isScalar = ['string', 'boolean', 'integer'].includes(found.type ?? '');
  const types = 'string, boolean or integer. Enum string fields and strings with formats are allowed.';
  return isScalar ? undefined : `must point to a field of type ${types}`;
}

function errorsOf(field: string, schema: JsonSchema): FieldError[] {
  const nullable =
    schema.nullable === true ? [forbiddenField(`${field}.nullable`, 'nullable cannot be true at the root')] : [];
  const structural = structuralErrors(field, schema);
  const defaults = structural.length === 0 ? defaultErrors(field, schema) : [];
  return [...nullable, ...structural, ...defaults, ...schemaErrors(field, schema)];
}

/** Whether any schema of a definition has CEL rules. */
export function hasRules(definition: ApiObject): boolean {
  return objectsAt(definition, 'spec', 'versions').some((version) => {
    const schema = (objectAt(version, 'schema', 'openAPIV3Schema') ?? {}) as JsonSchema;
    return someSchema(schema, (one) => (one['x-kubernetes-validations']?.length ?? 0) > 0);
  });
}

/** Rejects conversion webhooks: conversion between versions only changes the `apiVersion`. */
export function conversionErrors(definition: ApiObject): FieldError[] {
  const strategy = objectAt(definition, 'spec', 'conversion')?.strategy;
  if (strategy !== 'Webhook') return [];
  return [
    invalidValue('spec.conversion.strategy', strategy, 'this server does not call conversion webhooks; use None'),
  ];
}
