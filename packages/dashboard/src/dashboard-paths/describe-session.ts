import { hostname } from 'node:os';
import { isRecord, VERSION } from '@podwright/base';
import type { ApiServer } from '../upstream/api-server.ts';
import { type JsonCalls, unlessForbidden } from '../upstream/json-calls.ts';

/** The answer of `GET dashboard/session`. README.md describes the fields. */
export type SessionInfo = {
  server: string;
  version: string;
  apiVersion: string;
  user: { username: string; groups: string[] };
  canWrite: boolean;
  canExec: boolean;
  namespace: string;
  node?: string;
  traces: boolean;
};

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const SELF = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

/** Reads from the API server who the user is, and what the user may do. Rejects with `unavailable` if the server cannot be reached. */
export async function describeSession(api: ApiServer, calls: JsonCalls, signal: AbortSignal): Promise<SessionInfo> {
  const [version, user, canWrite, canExec, node] = await Promise.all([
    calls.get('/version', signal),
    userOf(calls, signal),
    isAllowed(calls, { verb: 'patch', group: 'apps', resource: 'deployments' }, signal),
    isAllowed(calls, { verb: 'create', group: '', resource: 'pods', subresource: 'exec' }, signal),
    findNode(api, calls, signal),
  ]);
  return {
    server: api.name,
    version: VERSION,
    apiVersion: textOf(version.gitVersion),
    user,
    canWrite,
    canExec,
    namespace: api.namespace,
    ...(node === undefined ? {} : { node }),
    traces: api.isNode,
  };
}

/**
 * Returns the name of the node whose usage is shown. On a node's socket, it is that node. In a cluster, it is the node with the name of
 * this host or, if there is none, the cluster's only node. Undefined if there is no such node, or if the user may not list nodes.
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

async function isAllowed(calls: JsonCalls, resourceAttributes: object, signal: AbortSignal): Promise<boolean> {
  const review = {
    ...{ apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' },
    spec: { resourceAttributes },
  };
  const { status } = (await unlessForbidden(calls.review(REVIEWS, review, signal))) ?? {};
  return isRecord(status) && status.allowed === true;
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '');
