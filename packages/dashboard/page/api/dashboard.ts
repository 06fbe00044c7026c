/** The paths of the page's own server (its contract is in packages/dashboard/README.md). */
import type { Explanation } from '@podwright/kube-view';
import { call } from './request.ts';
import { keepSessionKey } from './session-key.ts';

export type { Explanation };

export type Session = {
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

/** A step of a pod's start. Times are Unix milliseconds; `open` marks a step under way. */
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
  /** Counters since the machine's start. */
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

export type Tried = {
  from: string;
  dns: { name: string; server?: string; addresses: string[]; ms: number; error?: string };
  connects: { address: string; port: number; ms: number; error?: string }[];
};

/** Takes the token off the address, so that it is neither kept in the history nor seen. Returns undefined if there is none. */
export function takeToken(): string | undefined {
  const token = /^#token=([\w.~-]+)$/.exec(location.hash)?.[1];
  if (token !== undefined) history.replaceState(null, '', location.pathname);
  return token;
}

/** Exchanges a token for a session. */
export async function exchangeToken(token: string): Promise<void> {
  const { key } = await call<{ key: string }>('dashboard/login', { method: 'POST', body: { token } });
  keepSessionKey(key);
}

export const readSession = (signal?: AbortSignal): Promise<Session> => call<Session>('dashboard/session', { signal });

export const readTraces = (uid: string, signal: AbortSignal): Promise<TraceSpan[]> =>
  call<TraceSpan[]>('dashboard/traces', { query: { uid }, signal });

export const readUsage = (after: number | undefined, signal: AbortSignal): Promise<Usage> =>
  call<Usage>('dashboard/usage', { query: { after }, signal });

type WhyOptions = { plural: string; namespace: string; name: string; signal: AbortSignal };

export const readWhy = ({ plural, namespace, name, signal }: WhyOptions): Promise<Explanation> =>
  call<Explanation>('dashboard/why', { query: { kind: plural, namespace, name }, signal });

export const tryService = (target: { namespace: string; service: string; port: number }): Promise<Tried> =>
  call<Tried>('dashboard/try', { method: 'POST', body: target });
