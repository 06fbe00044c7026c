/** Validates an applied configuration. */
import { errorMessage, PodwrightError } from '@podwright/base';
import type { ApiObject } from '@podwright/kube-kinds';
import {
  apiVersionOf,
  type GroupVersionKind,
  type JsonObject,
  type Schema,
  type StructType,
  wrongStructures,
} from '@podwright/kube-schema';
import { ApiError, badRequest, formatKind } from '../status/api-error.ts';
import { undeclaredFields } from './undeclared-fields.ts';

type Kind = { kind: GroupVersionKind; schema: Schema; type: StructType };

/**
 * Throws unless the configuration has the request's apiVersion and kind, contains only declared fields, and does not set `managedFields`.
 */
export function checkConfiguration(configuration: JsonObject, { kind, ...types }: Kind): void {
  const { apiVersion, kind: kindName } = configuration;
  if (apiVersion !== apiVersionOf(kind) || kindName !== kind.kind)
    throw badRequest(
      `invalid object type: ${formatKind({ ...groupVersionOf(textOf(apiVersion)), kind: textOf(kindName) })}`,
    );
  const { managedFields } = metadataOf(configuration);
  if (managedFields !== undefined && managedFields !== null) throw badRequest('metadata.managedFields must be nil');
  const wrong = types.type.custom && wrongStructures(configuration, types.type.custom.schema);
  const problems = wrong?.length ? wrong : fieldProblems(configuration, types);
  if (problems.length > 0) throw untypedConfiguration(configuration, kind, problems);
}

function fieldProblems(configuration: JsonObject, types: Omit<Kind, 'kind'>): string[] {
  try {
    return undeclaredFields(configuration, types).map((path) => `${path}: field not declared in schema`);
  } catch (error) {
    if (error instanceof PodwrightError) return [errorMessage(error)];
    throw error;
  }
}

/**
 * Returns the error for a configuration that does not conform to its type's schema, for example because list elements lack their keys.
 * Upstream reports an unknown error.
 */
export function untypedConfiguration(
  configuration: JsonObject,
  kind: GroupVersionKind,
  problems: readonly string[],
): ApiError {
  const { name = '', namespace = '' } = metadataOf(configuration);
  const subject = `${namespace}/${name}; ${formatKind(kind)}`;
  const listed = problems.length === 1 ? problems[0] : ['errors:', ...problems.map((one) => `  ${one}`)].join('\n');
  const message = `failed to create typed patch object (${subject}): ${listed}`;
  return new ApiError(500, '', { message });
}

const metadataOf = ({ metadata }: JsonObject): ApiObject['metadata'] =>
  typeof metadata === 'object' && metadata !== null ? (metadata as ApiObject['metadata']) : {};

function groupVersionOf(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf('/');
  return { group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1) };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
