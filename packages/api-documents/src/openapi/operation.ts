/** Operations in an intermediate form for generating both OpenAPI v2 and v3 documents. */
import { type GroupVersionKind, PROTOBUF_MEDIA_TYPE, type Resource, type Schema } from '@podwright/kube-schema';
import { operationId } from './operation-id.ts';
import type { Parameter } from './parameters.ts';

export type Operation = {
  /** The HTTP method, in lower case. */
  method: string;
  id: string;
  /** The values of `x-kubernetes-action` and `x-kubernetes-group-version-kind`; undefined for discovery. */
  action?: string;
  kind?: GroupVersionKind;
  description: string;
  parameters: readonly Parameter[];
  body?: { type: BodyType; isRequired: boolean; mediaTypes: readonly string[] };
  /** The type of a successful response, or `undefined` for plain text. */
  response: BodyType | undefined;
  statusCodes: readonly number[];
  produces: readonly string[];
};

/** The type of a request body: the name of a struct in the schema, or of the definition for patches. */
export type BodyType = string;

export type PathItem = { path: string; parameters: readonly Parameter[]; operations: readonly Operation[] };

export type OperationContext = { schema: Schema; resource: Resource; path: string };

export type OperationFields = Omit<Operation, 'id' | 'produces'> & Partial<Pick<Operation, 'produces'>>;

export const OBJECT_TYPES: readonly string[] = ['application/json', 'application/yaml', PROTOBUF_MEDIA_TYPE];
export const ANY_TYPE: readonly string[] = ['*/*'];

/** Descriptions of responses by HTTP status code. */
export const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  401: 'Unauthorized',
};

/** Builds an operation. For `verb` and `suffix`, see `operationId`. */
export function operation(
  { resource }: OperationContext,
  [verb, suffix = '']: [string, string?],
  fields: OperationFields,
): Operation {
  const { group, version, kind } = fields.kind ?? resource;
  return { produces: OBJECT_TYPES, ...fields, kind: { group, version, kind }, id: operationId(resource, verb, suffix) };
}

/** Builds a path item. Parameters shared by all operations are moved to the path. */
export function pathItem(path: string, own: readonly Parameter[], operations: readonly Operation[]): PathItem {
  const [first, ...others] = operations;
  const shared = (first?.parameters ?? []).filter((one) => others.every(({ parameters }) => parameters.includes(one)));
  const rest = operations.map((one) => ({
    ...one,
    parameters: byName(one.parameters.filter((parameter) => !shared.includes(parameter))),
  }));
  return { path, parameters: byName([...own, ...shared]), operations: rest };
}

const byName = (parameters: readonly Parameter[]) => parameters.toSorted((a, b) => (a.name < b.name ? -1 : 1));

/** Returns the name of a kind's struct. The kinds of resources and subresources always have one. */
export const typeName = (schema: Schema, kind: GroupVersionKind): string => schema.kind(kind)!.name;
