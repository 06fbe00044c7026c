/** `delete` for kinds available only with a Kubernetes API, with kubectl's output. */
import { errorMessage, isNotFound, PodwrightError, withTimeout } from '@podwright/base';
import { pathOf } from '@podwright/kube-api';
import type { ApiPort } from '@podwright/kube-verbs';
import { apiPort } from '../client/known-kinds.ts';
import { WATCH_FROM_LIST } from '../client/object-client.ts';
import { type ObjectKind, type ObjectSelection, qualifiedKind, withGroup } from '../client/object-names.ts';
import { UnixHttp } from '../client/unix-http.ts';
import { LONGEST_WAIT_MS } from '../limits.ts';
import { print } from '../output/terminal-text.ts';
import { type DeleteOptions, graceOf, refuseMixed } from './delete-options.ts';

type Target = { kind: ObjectKind; namespace: string | undefined; name: string; path: string };

/** Deletes the selected objects and, by default, waits until they are removed. */
export async function deleteApiObjects(
  socketPath: string,
  selection: ObjectSelection,
  options: DeleteOptions,
): Promise<void> {
  const api = apiPort(new UnixHttp(socketPath));
  const { named } = selection;
  refuseMixed(named, options);
  if (named.length === 0 && options.selector === undefined && !options.all)
    throw new PodwrightError('invalid_argument', 'delete: name objects, or select them with -l or --all');
  const targets = named.length > 0 ? namedTargets(selection, options) : await selected(api, selection, options);
  if (targets.length === 0) return print('No resources found');
  const missing: string[] = [];
  const deleted: { target: Target; uid: string | undefined }[] = [];
  for (const target of targets) {
    const uid = await remove(api, target, { options, missing });
    if (uid !== undefined) deleted.push({ target, uid });
  }
  using signal = withTimeout(undefined, options.timeout || LONGEST_WAIT_MS, 'wait until the objects are removed');
  if (options.wait) for (const { target, uid } of deleted) await untilRemoved(api, target, { uid, signal });
  const ignoreNotFound = options.ignoreNotFound ?? named.length === 0;
  if (missing.length > 0 && !ignoreNotFound) throw new PodwrightError('not_found', missing.join('\n'));
}

function targetOf(kind: ObjectKind, namespace: string, name: string): Target {
  const own = kind.namespaced ? namespace : undefined;
  return { kind, namespace: own, name, path: pathOf(withGroup(kind), { namespace: own, name }) };
}

const namedTargets = ({ named }: ObjectSelection, { namespace = 'default' }: DeleteOptions): Target[] =>
  named.map(({ kind, name }) => targetOf(kind, namespace, name));

async function selected(api: ApiPort, { kinds }: ObjectSelection, options: DeleteOptions): Promise<Target[]> {
  const { namespace = 'default', allNamespaces, selector } = options;
  const lists = await Promise.all(
    kinds.map(async (kind) => {
      const path = pathOf(withGroup(kind), { namespace: allNamespaces ? undefined : namespace });
      const query = { labelSelector: selector };
      const { items } = (await api.call({ method: 'GET', path, query })) as { items: { metadata: Named }[] };
      return items.map(({ metadata }) => targetOf(kind, metadata.namespace ?? '', metadata.name));
    }),
  );
  return lists.flat();
}

type Named = { name: string; namespace?: string; uid?: string };

const POLICIES = { background: 'Background', foreground: 'Foreground', orphan: 'Orphan' } as const;

/** Deletes an object and returns its UID. If it does not exist, adds the error message to `missing` and returns `undefined`. */
async function remove(
  api: ApiPort,
  { kind, namespace, name, path }: Target,
  { options, missing }: { options: DeleteOptions; missing: string[] },
): Promise<string | undefined> {
  const grace = graceOf(options)?.toString();
  const query = { propagationPolicy: POLICIES[options.cascade ?? 'background'], gracePeriodSeconds: grace };
  try {
    const answer = (await api.call({ method: 'DELETE', path, query })) as { metadata?: Named; details?: Named };
    const from = namespace === undefined ? '' : ` from ${namespace} namespace`;
    print(`${qualifiedKind(kind)} "${name}" ${options.force ? 'force ' : ''}deleted${from}`);
    return answer.metadata?.uid ?? answer.details?.uid ?? '';
  } catch (error) {
    if (!isNotFound(error)) throw error;
    missing.push(errorMessage(error));
    return undefined;
  }
}

/** Waits until the object with this UID is removed. Checking the name is not enough, as a new object may reuse it immediately. */
async function untilRemoved(
  api: ApiPort,
  { path, name }: Target,
  { uid, signal: deadline }: { uid: string | undefined; signal: AbortSignal },
): Promise<void> {
  const ended = new AbortController();
  using _end = { [Symbol.dispose]: () => ended.abort() };
  const signal = AbortSignal.any([deadline, ended.signal]);
  const query = { ...WATCH_FROM_LIST, fieldSelector: `metadata.name=${name}` };
  let isThere = false;
  for await (const change of api.watch({
    method: 'GET',
    path: path.slice(0, path.lastIndexOf('/')),
    query,
    signal,
  })) {
    const isIt = !uid || change.object.metadata.uid === uid;
    if (change.type === 'DELETED' && isIt) return;
    if (change.type === 'BOOKMARK' && !isThere) return;
    isThere ||= isIt && change.type !== 'BOOKMARK';
  }
  deadline.throwIfAborted();
  throw new PodwrightError('unavailable', `delete ${name}: the node stopped before the object was removed`);
}
