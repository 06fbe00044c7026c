/** The scale of an autoscaler's target. */
import type { KubeObject, Resource } from '@podwright/kube-api';
import { isApiStatus } from '@podwright/kube-client';
import type { ControllerParts } from '../framework/controller.ts';
import { findKind, groupPath, isApiVersion } from '../framework/find-kind.ts';
import type { ObjectPlace } from '../framework/object-place.ts';
import { DEPLOYMENTS } from '../objects/deployment.ts';
import type { ScaleReference } from '../objects/horizontal-pod-autoscaler.ts';
import { REPLICA_SETS, REPLICATION_CONTROLLERS } from '../objects/replica-set.ts';
import { STATEFUL_SETS } from '../objects/stateful-set.ts';

/** An autoscaling/v1 Scale. */
export type Scale = KubeObject & {
  spec?: { replicas?: number };
  status?: { replicas?: number; selector?: string };
};

/** Built-in resources with a scale, which need no discovery request. */
const KNOWN: readonly Resource[] = [DEPLOYMENTS, REPLICA_SETS, REPLICATION_CONTROLLERS, STATEFUL_SETS];
/** Maximum number of attempts to write a scale in case of conflicts (client-go's DefaultRetry). */
const ATTEMPTS = 5;

type Parts = Pick<ControllerParts, 'client' | 'signal'>;

/** Returns the target's resource. Throws an error with upstream's message if the server does not serve it. */
export async function targetResource({ client, signal }: Parts, target: ScaleReference): Promise<Resource> {
  const { apiVersion = '', kind } = target;
  if (apiVersion !== '' && !isApiVersion(apiVersion)) throw new Error(`unexpected GroupVersion string: ${apiVersion}`);
  const [group, version] = apiVersion.includes('/')
    ? (apiVersion.split('/') as [string, string])
    : ['', apiVersion || 'v1'];
  const known = KNOWN.find((one) => one.group === group && one.kind === kind);
  if (known !== undefined) return known;
  const preferred = group === '' ? 'v1' : await preferredVersion({ client, signal }, group, version);
  const used = group === '' ? preferred : `${group}/${preferred}`;
  const found = await findKind(client, { apiVersion: used, kind }, signal);
  if (found === undefined) throw new Error(`no matches for kind "${kind}" in group "${group}"`);
  return { group, version: preferred, plural: found.plural, kind, namespaced: true };
}

async function preferredVersion({ client, signal }: Parts, group: string, version: string): Promise<string> {
  try {
    const text = await client.getText(`/apis/${group}`, { signal });
    const { preferredVersion } = JSON.parse(text) as { preferredVersion?: { version: string } };
    return preferredVersion?.version ?? version;
  } catch (error) {
    if (isApiStatus(error, 404)) return version;
    throw error;
  }
}

/** Reads the `scale` subresource of an autoscaler's target. Throws if the target does not exist. */
export async function readScale(
  { client, signal }: Parts,
  { group, version, plural }: Resource,
  { namespace, name }: ObjectPlace,
): Promise<Scale> {
  if (name === '.' || name === '..') throw new Error(`${plural} "${name}" not found`);
  const base = groupPath(group === '' ? version : `${group}/${version}`);
  const path = `${base}/namespaces/${namespace}/${plural}/${encodeURIComponent(name)}/scale`;
  return JSON.parse(await client.getText(path, { signal })) as Scale;
}

/** Writes the number of replicas to a scale. On a conflict, rereads the scale and retries. */
export async function writeScale(
  parts: Parts,
  { resource, scale }: { resource: Resource; scale: Scale },
  replicas: number,
): Promise<void> {
  const { client, signal } = parts;
  const { namespace, name = '' } = scale.metadata;
  let current = scale;
  for (let attempt = 1; ; attempt++) {
    const body = { ...current, apiVersion: 'autoscaling/v1', kind: 'Scale', spec: { ...current.spec, replicas } };
    try {
      await client.update(resource, body, { subresource: 'scale', signal });
      return;
    } catch (error) {
      if (!isApiStatus(error, 409) || attempt === ATTEMPTS) throw error;
      current = await readScale(parts, resource, { namespace, name });
    }
  }
}
