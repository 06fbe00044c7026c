import { errorMessage, isNotFound, PodwrightError, Timer } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import type { PodWatchEvent } from '@podwright/node-api';
import type { LocatedObject } from '../client/api-path.ts';
import { knownKinds } from '../client/known-kinds.ts';
import { NodeClient } from '../client/node-client.ts';
import { ObjectClient } from '../client/object-client.ts';
import { isApiKind, type ObjectSelection, POD, parseObjects, refuseNamesInAll } from '../client/object-names.ts';
import type { ManifestObject, Manifests } from '../manifests/read-manifests.ts';
import { print, printError } from '../output/terminal-text.ts';
import { removalTimeoutMs } from '../run/removal-timeout.ts';
import { dropDeleted } from '../run/run-records.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { type DeleteOptions, graceOf, refuseMixed } from './delete-options.ts';

const CLAIM = 'PersistentVolumeClaim';

/** `podwright delete POD…`, `delete TYPE NAME…`, `delete TYPE/NAME…`, `delete TYPE -l SELECTOR` or `--all`, `delete -f FILE`. */
export async function deletePods({ config }: CommandContext, words: string[], options: DeleteOptions): Promise<void> {
  const gracePeriod = graceOf(options);
  const client = new NodeClient(config.apiSocket);
  const selection = parseObjects(words, { bare: POD, known: await knownKinds(config.apiSocket, words) });
  refuseNamesInAll('delete', selection, options.allNamespaces);
  if (selection.kinds.some(isApiKind) && options.filename === undefined)
    return (await import('./delete-api-objects.ts')).deleteApiObjects(config.apiSocket, selection, options);
  const objects = await chosen(new ObjectClient(config.apiSocket), selection, options);
  const others: LocatedObject[] = [];
  const removal = { gracePeriod, missing: [] as string[] };
  if (options.filename !== undefined) {
    const { readManifests } = await import('../manifests/read-manifests.ts');
    const manifests = await readManifests(options.filename, options, () => client.hasKubernetesApi());
    objects.push(...withClaims(manifests, options));
    if (manifests.others.length > 0) others.push(...(await client.locate(manifests.others, removal.missing)).reverse());
  }
  // delete workloads first, as they would replace their pods
  for (const object of others.filter(({ isGround }) => !isGround)) await remove(client, object, removal);
  // Then delete the pods: objects mounted by them must exist until they have terminated.
  const pods = objects.filter(({ kind }) => kind === 'Pod');
  const uids = new Map<ManifestObject, string>();
  if (options.wait) for (const pod of pods) uids.set(pod, (await find(client, pod))?.metadata.uid ?? '');
  await Promise.all(pods.map((pod) => remove(client, pod, removal)));
  if (options.wait)
    await Promise.all(pods.map((pod) => waitUntilRemoved(client, pod, { ...removal, uid: uids.get(pod)! })));
  for (const object of objects.filter(({ kind }) => kind !== 'Pod')) await remove(client, object, removal);
  for (const object of others.filter(({ isGround }) => isGround)) await remove(client, object, removal);
  dropDeleted(config.state, objects);
  // objects selected by --all or a label selector might be removed between the list and delete requests, which is not an error
  const ignoreNotFound = options.ignoreNotFound ?? (options.all || options.selector !== undefined);
  if (removal.missing.length > 0 && !ignoreNotFound) throw new PodwrightError('not_found', removal.missing.join('\n'));
}

/**
 * Returns the manifest's objects. With --volumes, includes the claims used by its pods; otherwise, excludes all claims, so that their files
 * are retained.
 */
function withClaims({ objects, decoded }: Manifests, { volumes = false }: DeleteOptions): ManifestObject[] {
  const others = objects.filter(({ kind }) => kind !== CLAIM);
  const claims = decoded.claims.map(({ metadata: { namespace, name } }) => `${namespace}/${name}`);
  const used = decoded.pods.flatMap(({ metadata: { namespace }, spec }) =>
    (spec.volumes ?? []).flatMap(({ persistentVolumeClaim: claim }) =>
      claim ? [`${namespace}/${claim.claimName}`] : [],
    ),
  );
  const names = [...new Set([...claims, ...used])];
  if (volumes) return [...others, ...names.map((key) => claimOf(key))];
  for (const name of names) printError(`persistentvolumeclaim ${name} is kept with its files: --volumes deletes both`);
  return others;
}

function claimOf(key: string): ManifestObject {
  const [namespace = '', name = ''] = key.split('/');
  return { kind: CLAIM, namespace, name };
}

/** Returns the objects to delete: the ones named or selected on the command line. */
async function chosen(
  client: ObjectClient,
  { kinds, named }: ObjectSelection,
  options: DeleteOptions,
): Promise<ManifestObject[]> {
  const { namespace = 'default', allNamespaces, selector, all, filename } = options;
  const kept = kinds.find(({ kind }) => !DELETABLE.includes(kind));
  if (kept?.kind === 'Image')
    throw new PodwrightError('invalid_argument', "delete image: 'podwright rmi IMAGE' removes it");
  if (kept !== undefined) throw new PodwrightError('invalid_argument', `delete: ${kept.plural} cannot be deleted`);
  refuseMixed(named, options);
  if (named.length > 0)
    return named.map(({ kind, name }) => ({ kind: kind.kind, namespace: kind.namespaced ? namespace : '', name }));
  if (kinds.length > 0 && (selector !== undefined || all)) {
    const query = { namespace: allNamespaces ? undefined : namespace, labelSelector: selector };
    const lists = await Promise.all(kinds.map((kind) => client.list(kind, query)));
    const found = lists
      .flat()
      .map(({ kind, metadata }) => ({ kind, namespace: metadata.namespace, name: metadata.name }));
    if (found.length === 0)
      printError(
        `no ${kinds.map(({ plural }) => plural).join(', ')}${allNamespaces ? '' : ` in the namespace ${namespace}`} to delete`,
      );
    return found;
  }
  if (filename !== undefined) return [];
  throw new PodwrightError(
    'invalid_argument',
    "delete: name a pod, a type with -l or --all, or a manifest with -f; 'podwright ps' lists the pods",
  );
}

/** Kinds that `delete` accepts on every node: those that `apply` supports. */
const DELETABLE: string[] = ['Pod', 'ConfigMap', 'Secret', CLAIM, 'RuntimeClass'];

/** Deletes an object. If it does not exist, adds the node's message to `missing`. */
async function remove(
  client: NodeClient,
  object: ManifestObject,
  { gracePeriod, missing }: { gracePeriod: number | undefined; missing: string[] },
): Promise<void> {
  try {
    await client.delete(object, gracePeriod);
    const name = object.namespace === '' ? object.name : `${object.namespace}/${object.name}`;
    print(`${object.kind.toLowerCase()} ${name} deleted`);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    missing.push(errorMessage(error));
  }
}

type PodReader = Pick<NodeClient, 'pod' | 'podChanges'>;

/**
 * Waits until the pod with this UID has been removed; a new pod may reuse its name immediately. Rejects with `deadline_exceeded` if it
 * still exists `spareMs` after its grace period has expired.
 */
export async function waitUntilRemoved(
  client: PodReader,
  { namespace, name }: ManifestObject,
  { uid, gracePeriod, spareMs }: { uid: string; gracePeriod: number | undefined; spareMs?: number },
): Promise<void> {
  const watching = new AbortController();
  using _watch = { [Symbol.dispose]: () => watching.abort() };
  const changes = await client.podChanges({ namespace, name }, watching.signal);
  const known = await find(client, { namespace, name });
  if (known === undefined || known.metadata.uid !== uid) return;
  const timeoutMs = removalTimeoutMs([known], { gracePeriodSeconds: gracePeriod, spareMs });
  using _timer = new Timer(() => watching.abort(), timeoutMs);
  if (await isRemoved(known, changes)) return;
  if (!watching.signal.aborted)
    throw new PodwrightError(
      'unavailable',
      `delete pod ${namespace}/${name}: the node stopped before the pod was removed`,
    );
  throw new PodwrightError(
    'deadline_exceeded',
    `delete pod ${namespace}/${name}: it has not ended within ${Math.round(timeoutMs / 1000)} s, and the node keeps trying; ` +
      `'podwright describe ${name} -n ${namespace}' shows why, 'podwright delete ${name} -n ${namespace} --force' kills it`,
  );
}

/** Waits until the pod is removed. Returns false if the watch ends before that. */
async function isRemoved(pod: Pod, changes: AsyncIterable<PodWatchEvent>): Promise<boolean> {
  for await (const { type, object } of changes)
    if (type === 'DELETED' && object.metadata.uid === pod.metadata.uid) return true;
  return false;
}

async function find(
  client: PodReader,
  { namespace, name }: { namespace: string; name: string },
): Promise<Pod | undefined> {
  try {
    return await client.pod(namespace, name);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
