/**
 * Maintains what nodes need to join with bootstrap tokens: deletes expired tokens (upstream's tokencleaner), and maintains the ConfigMap
 * `cluster-info`, signed with each token that permits it (upstream's bootstrapsigner; the ConfigMap itself is created by kubeadm there).
 */

import { createHmac } from 'node:crypto';
import type { StoredObject } from '@podwright/api-machinery';
import { type ApiObject, isSameValue, objectAt } from '@podwright/kube-kinds';
import {
  isExpired,
  readTokenSecret,
  TOKEN_NAMESPACE,
  TOKEN_PREFIX,
  type TokenSecret,
} from '../authentication/token-secrets.ts';
import type { ControllerParts } from './controller-parts.ts';
import { followResource } from './follow-resource.ts';
import { ignoreOvertaken } from './ignore-overtaken.ts';
import { type Location, locationOf } from './location.ts';
import { repeat } from './repeat.ts';
import { WorkQueue } from './work-queue.ts';

export type JoinParts = ControllerParts & {
  /** The kubeconfig to publish in `cluster-info`; undefined if other machines cannot reach the server. */
  clusterInfo: string | undefined;
  now: () => number;
};

const CLUSTER_INFO: Location = { resource: 'configmaps', namespace: 'kube-public', name: 'cluster-info' };
const SIGNATURE = 'jws-kubeconfig-';
/**
 * How often to check for expired tokens. They are rejected immediately, so this only determines how long their Secrets and signatures
 * linger.
 */
const CHECK_EVERY_MS = 60_000;

/** Maintains the bootstrap tokens and `cluster-info` until the signal aborts. */
export async function keepJoinTokens(parts: JoinParts): Promise<void> {
  const failure = 'update the bootstrap tokens failed';
  const queue = new WorkQueue({ ...parts, handle: () => update(parts), failure });
  const wake = () => queue.add(CLUSTER_INFO);
  const changed = (resource: string, prefix: string) => {
    const isOwn = (object: StoredObject) => object.key.startsWith(prefix);
    const follower = {
      listed: wake,
      changed: ({ object }: { object: StoredObject }) => void (isOwn(object) && wake()),
    };
    return followResource(resource, follower, parts);
  };
  await Promise.all([
    changed('secrets', `${TOKEN_NAMESPACE}/${TOKEN_PREFIX}`),
    changed(CLUSTER_INFO.resource, `${CLUSTER_INFO.namespace}/${CLUSTER_INFO.name}`),
    repeat(async () => wake(), { ...parts, everyMs: CHECK_EVERY_MS, failure }),
    queue.run(),
  ]);
}

async function update(parts: JoinParts): Promise<void> {
  const { store, registryOf, context, now } = parts;
  const signing: TokenSecret[] = [];
  for (const stored of store.list('secrets', { namespace: TOKEN_NAMESPACE }).objects) {
    const location = locationOf('secrets', stored);
    const token = location.name.startsWith(TOKEN_PREFIX) ? readTokenSecret(stored.decode()) : undefined;
    if (token === undefined) continue;
    if (isExpired(token, now())) {
      const options = { preconditions: { resourceVersion: String(stored.revision) } };
      await registryOf('secrets').delete(location, options, context()).catch(ignoreOvertaken);
    } else if (token.canSign && location.name === `${TOKEN_PREFIX}${token.id}` && token.secret !== '')
      signing.push(token);
  }
  await updateClusterInfo(parts, signing);
}

async function updateClusterInfo(
  { store, registryOf, context, clusterInfo }: JoinParts,
  tokens: readonly TokenSecret[],
) {
  const next = (object: ApiObject) => ({ ...object, data: signedData(object, clusterInfo, tokens) });
  const { namespace, name } = CLUSTER_INFO;
  const present = store.get(CLUSTER_INFO)?.decode();
  const registry = registryOf(CLUSTER_INFO.resource);
  if (present !== undefined) {
    if (isSameValue(next(present).data, present.data)) return;
    await registry.change(CLUSTER_INFO, next, context());
  } else if (clusterInfo !== undefined) {
    const object = next({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
    await registry.create(namespace, object, context());
  }
}

/**
 * Returns the data of `cluster-info`, signed with exactly these tokens. If `clusterInfo` is undefined, signs the kubeconfig already in the
 * object.
 */
function signedData(object: ApiObject, clusterInfo: string | undefined, tokens: readonly TokenSecret[]) {
  const others = Object.entries(objectAt(object, 'data') ?? {}).filter(([name]) => !name.startsWith(SIGNATURE));
  const data: Record<string, unknown> = Object.fromEntries(others);
  const { kubeconfig = clusterInfo } = clusterInfo === undefined ? data : {};
  if (typeof kubeconfig !== 'string') return data;
  const signatures = tokens.map((token) => [`${SIGNATURE}${token.id}`, detachedSignature(token, kubeconfig)]);
  return { ...data, kubeconfig, ...Object.fromEntries(signatures) };
}

/** Returns a detached JSON Web Signature (RFC 7515), which omits the content. */
function detachedSignature({ id, secret }: TokenSecret, content: string): string {
  const head = Buffer.from(JSON.stringify({ alg: 'HS256', kid: id })).toString('base64url');
  const signed = `${head}.${Buffer.from(content).toString('base64url')}`;
  return `${head}..${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}
