/**
 * Requests to the paths under `/dashboard`, which the page's server handles itself. The fields are described in
 * packages/dashboard/README.md.
 */
import type { Explanation } from '@podwright/kube-view';
import { call } from './request.ts';
import { keepSessionKey } from './session-key.ts';

export type { Explanation };

export type Session = {
  server: string;
  version: string;
  apiVersion: string;
  user: { username: string; groups: string[] };
  /** Whether the user may list pods in all namespaces. */
  listsAll: boolean;
  /** The namespace to show first; '' for all. */
  startNamespace: string;
  node?: string;
};

/** Namespaces in which the user may list pods. `areListed` is false if the user may not list namespaces, so there might be more. */
export type Namespaces = { areListed: boolean; names: string[] };

/** A step of a pod's startup. Times are in Unix milliseconds. `open`: the step is still in progress. */
export type TraceSpan = {
  name: string;
  startMs: number;
  endMs: number;
  open?: boolean;
  detail?: string;
  id?: string;
  parentId?: string;
};

export type UsageSample = {
  time: number;
  cpuNanoCores: number;
  memoryWorkingSetBytes: number;
  rootfs: { usedBytes: number; capacityBytes: number; inodesUsed: number; inodes: number };
  images: { usedBytes: number; capacityBytes: number };
  /** Network traffic counters since the node was booted. */
  network: { receivedBytes: number; sentBytes: number };
  pods: number;
};

export type Usage = {
  node: string;
  periodMs: number;
  cpuCores: number;
  memoryBytes: number;
  samples: UsageSample[];
};

export type TryResult = {
  from: string;
  dns: { name: string; server?: string; addresses: string[]; ms: number; error?: string };
  connects: { address: string; port: number; ms: number; error?: string }[];
};

/** Returns the token in the page's fragment and removes it from the address bar and the history. Returns undefined if there is none. */
export function takeToken(): string | undefined {
  const token = /^#token=([\w.~-]+)$/.exec(location.hash)?.[1];
  if (token !== undefined) history.replaceState(null, '', location.pathname);
  return token;
}

/** Starts a session with a token and stores the session key. Throws an ApiError with code 401 if the token is invalid. */
export async function exchangeToken(token: string): Promise<void> {
  const { key } = await call<{ key: string }>('dashboard/login', { method: 'POST', body: { token } });
  keepSessionKey(key);
}

export const readSession = (signal?: AbortSignal): Promise<Session> => call<Session>('dashboard/session', { signal });

export const readNamespaces = (signal: AbortSignal): Promise<Namespaces> =>
  call<Namespaces>('dashboard/namespaces', { signal });

/** Reads the steps of a pod's startups. Throws an ApiError with code 404 if the node's kubelet is not Podwright's and so has none. */
export const readTraces = (pod: { node: string; uid: string }, signal: AbortSignal): Promise<TraceSpan[]> =>
  call<TraceSpan[]>('dashboard/traces', { query: pod, signal });

/** Fetches the samples later than `after` (Unix milliseconds), or those of the last hour if it is undefined. */
export const readUsage = (after: number | undefined, signal: AbortSignal): Promise<Usage> =>
  call<Usage>('dashboard/usage', { query: { after }, signal });

type WhyOptions = { plural: string; namespace: string; name: string; signal: AbortSignal };

export const readWhy = ({ plural, namespace, name, signal }: WhyOptions): Promise<Explanation> =>
  call<Explanation>('dashboard/why', { query: { kind: plural, namespace, name }, signal });

export const tryService = (target: { namespace: string; service: string; port: number }): Promise<TryResult> =>
  call<TryResult>('dashboard/try', { method: 'POST', body: target });
