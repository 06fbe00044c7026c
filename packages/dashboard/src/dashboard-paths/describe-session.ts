import { hostname } from 'node:os';
import { isRecord, VERSION } from '@podwright/base';
import type { ApiServer } from '../upstream/api-server.ts';
import { type JsonCalls, unlessForbidden } from '../upstream/json-calls.ts';
import { isAllowed, LIST_PODS } from './access-reviews.ts';
import { firstNamespace } from './find-namespaces.ts';

/** The response to `GET dashboard/session`. The fields are described in README.md. */
export type SessionInfo = {
  server: string;
  version: string;
  apiVersion: string;
  user: { username: string; groups: string[] };
  listsAll: boolean;
  startNamespace: string;
  node?: string;
};

const SELF = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

/**
 * Reads from the API server who the user is and what they may see. `namespace`: the namespace that the user of the command wants to see
 * first. Rejects with `unavailable` if the server cannot be reached.
 */
export async function describeSession(
  { api, calls, namespace }: { api: ApiServer; calls: JsonCalls; namespace?: string },
  signal: AbortSignal,
): Promise<SessionInfo> {
  const [version, user, listsAll, node] = await Promise.all([
    calls.get('/version', signal),
    userOf(calls, signal),
    isAllowed(calls, LIST_PODS, signal),
    findNode(api, calls, signal),
  ]);
  return {
    server: api.name,
    version: VERSION,
    apiVersion: textOf(version.gitVersion),
    user,
    listsAll,
    startNamespace: namespace ?? (listsAll ? '' : await startNamespace(api, calls, signal)),
    ...(node === undefined ? {} : { node }),
  };
}

/**
 * Returns the namespace of the kubeconfig's context or, if the user may not list its pods, the first namespace whose pods they may list.
 */
async function startNamespace(api: ApiServer, calls: JsonCalls, signal: AbortSignal): Promise<string> {
  const { namespace } = api;
  if (await isAllowed(calls, { ...LIST_PODS, namespace }, signal)) return namespace;
  return (await firstNamespace(api, calls, signal)) ?? namespace;
}

/**
 * Returns the name of the node to show usage for. On a node's socket, this is the node itself. In a cluster, it is the node named like this
 * host or, failing that, the cluster's only node. Undefined if there is none, or if the user may not list nodes.
 */
export async function findNode(api: ApiServer, calls: JsonCalls, signal: AbortSignal): Promise<string | undefined> {
  if (api.isNode) return textOf((await calls.get('/podwright/v1/node', signal)).name);
  const list = await unlessForbidden(calls.get('/api/v1/nodes?limit=100', signal));
  const items = Array.isArray(list?.items) ? (list.items as { metadata?: { name?: unknown } }[]) : [];
  const names = items.map(({ metadata }) => textOf(metadata?.name)).filter((name) => name !== '');
  return names.find((name) => name === hostname()) ?? (names.length === 1 ? names[0] : undefined);
}

async function userOf(calls: JsonCalls, signal: AbortSignal): Promise<SessionInfo['user']> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const { status } = (await unlessForbidden(calls.review(SELF, review, signal))) ?? {};
  const { username, groups } = isRecord(status) && isRecord(status.userInfo) ? status.userInfo : {};
  return { username: textOf(username), groups: Array.isArray(groups) ? groups.map(textOf) : [] };
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '');
