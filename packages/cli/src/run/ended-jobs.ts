import { isNotFound } from '@podwright/base';
import type { DecodedManifest } from '@podwright/kube-api';
import type { NodeClient } from '../client/node-client.ts';
import type { AppliedObject } from './run-session.ts';

type Others = DecodedManifest['others'];
type JobSpec = { ttlSecondsAfterFinished?: unknown; suspend?: unknown };

function jobsWith(others: Others, holds: (spec: JobSpec) => boolean): { namespace: string; name: string }[] {
  return others.flatMap(({ object: { kind, metadata, spec } }) => {
    const { name, namespace = 'default' } = metadata;
    return kind === 'Job' && holds((spec ?? {}) as JobSpec) ? [{ namespace: namespace || 'default', name }] : [];
  });
}

/** Returns the first suspended Job in the manifests. */
export function suspendedJob(others: Others): { kind: 'Job'; namespace: string; name: string } | undefined {
  const [job] = jobsWith(others, ({ suspend }) => suspend === true);
  return job === undefined ? undefined : { kind: 'Job', ...job };
}

/**
 * Removes `ttlSecondsAfterFinished` from the Jobs created by a foreground `podwright run`. Otherwise, their results, pods and logs could be
 * deleted before the command has read them. The command deletes these Jobs itself.
 */
export async function keepEndedJobs(
  client: Pick<NodeClient, 'locate' | 'mergeObject'>,
  applied: readonly AppliedObject[],
  others: Others,
): Promise<void> {
  const expiring = jobsWith(others, ({ ttlSecondsAfterFinished: ttl }) => ttl !== undefined && ttl !== null);
  const created = applied.filter(
    (object): object is AppliedObject & { apiVersion: string } =>
      object.action === 'created' &&
      object.apiVersion !== undefined &&
      expiring.some(({ namespace, name }) => namespace === object.namespace && name === object.name) &&
      object.kind === 'Job',
  );
  if (created.length === 0) return;
  for (const { path } of await client.locate(created)) {
    await client.mergeObject(path, { spec: { ttlSecondsAfterFinished: null } }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error; // deleted in the meantime
    });
  }
}
