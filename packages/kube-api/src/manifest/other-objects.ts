/**
 * Objects of kinds supported only by nodes that serve the Kubernetes API: Deployments, Services, custom resources and so on. Their fields
 * are validated by the API server.
 */
import { isRecord } from '@podwright/base';
import type { IssueList } from '../issue.ts';
import { isNodeKind } from '../schema/kinds.ts';
import { NO_GENERATED_NAMES } from '../schema/metadata-schema.ts';

/** An object as written in the manifest. `namespace` is absent if it is set neither in the manifest nor in the options. */
export type OtherObject = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string } & Record<string, unknown>;
} & Record<string, unknown>;

/** Whether a value in a manifest is an object of a kind supported only by nodes that serve the Kubernetes API. */
export function isOtherKind(value: unknown): value is { apiVersion: string; kind: string } {
  return (
    isRecord(value) && typeof value.kind === 'string' && typeof value.apiVersion === 'string' && !isNodeKind(value.kind)
  );
}

/**
 * Validates only the fields that identify the object (its name and namespace). Adds an issue and returns `undefined` if they are invalid.
 */
export function decodeOther(
  value: { apiVersion: string; kind: string },
  namespace: string | undefined,
  issues: IssueList,
): OtherObject | undefined {
  const { metadata } = value as { metadata?: unknown };
  if (!isRecord(metadata)) {
    issues.at('metadata').addKey('is required');
    return undefined;
  }
  const { name, namespace: own } = metadata;
  if (name === undefined && typeof metadata.generateName === 'string')
    issues.at('metadata', 'generateName').addKey(NO_GENERATED_NAMES);
  else if (typeof name !== 'string' || name === '') issues.at('metadata', 'name').addKey('is required');
  if (own !== undefined && own !== null && typeof own !== 'string')
    issues.at('metadata', 'namespace').add('must be a string');
  else if (namespace !== undefined && own && own !== namespace)
    issues.at('metadata', 'namespace').add(`must be "${namespace}" as on the command line, got "${own}"`);
  if (issues.count > 0) return undefined;
  return { ...value, metadata: { ...metadata, ...(namespace !== undefined && { namespace }) } } as OtherObject;
}
