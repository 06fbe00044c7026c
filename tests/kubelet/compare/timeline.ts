/** Polls pods' statuses, and formats them as timelines along with events and CRI calls. */
import { sleep } from '@podwright/base';
import type { ContainerStatus, Pod } from '@podwright/kube-api';
import type { ComparedKubelet, SeenEvent } from './kubelets.ts';
import type { PodCall } from './observed.ts';

const EVERY_MS = 200;

/** An observed status, event or call, and when it was observed (Unix time). */
export type Moment = { atMs: number; what: string };

/** Polls a kubelet's pods every 200 ms until closed, and records when their statuses change. */
export class PodWatch {
  readonly #kubelet: ComparedKubelet;
  readonly #moments = new Map<string, Moment[]>();
  /** Each pod as of the last poll that listed it. */
  readonly last = new Map<string, Pod>();
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  constructor(kubelet: ComparedKubelet) {
    this.#kubelet = kubelet;
    this.#ended = this.#watch();
  }

  moments(name: string): Moment[] {
    return this.#moments.get(name) ?? [];
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  async #watch(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const pods = await this.#kubelet.pods().catch(() => undefined);
      if (pods !== undefined) this.#see(pods);
      await sleep(EVERY_MS);
    }
  }

  #see(pods: Pod[]): void {
    const names = new Set(pods.map(({ metadata }) => metadata.name));
    for (const pod of pods) {
      this.last.set(pod.metadata.name, pod);
      this.#add(pod.metadata.name, describeStatus(pod));
    }
    for (const name of this.#moments.keys()) if (!names.has(name)) this.#add(name, 'removed');
  }

  #add(name: string, what: string): void {
    const moments = this.#moments.get(name) ?? [];
    if (moments.at(-1)?.what === what) return;
    this.#moments.set(name, [...moments, { atMs: Date.now(), what }]);
  }
}

/** Returns a pod's phase, conditions and containers on one line. */
function describeStatus({ metadata, status }: Pod): string {
  if (status === undefined) return 'no status';
  const conditions = (status.conditions ?? []).map(
    ({ type, status: is, reason }) => `${type.replace(/[a-z]+/g, '')}${is === 'True' ? '+' : '-'}${reason ?? ''}`,
  );
  const { initContainerStatuses = [], containerStatuses = [] } = status;
  return [
    ...(metadata.deletionTimestamp === undefined ? [] : ['deleted']),
    [status.phase, status.reason].filter(Boolean).join('/'),
    conditions.join(' '),
    ...[...initContainerStatuses, ...containerStatuses].map(describeContainer),
  ].join(' | ');
}

function describeContainer({ name, state, lastState, ready, started, restartCount }: ContainerStatus): string {
  const { waiting, running, terminated } = state;
  const now =
    waiting !== undefined
      ? `waiting(${waiting.reason ?? ''})`
      : running !== undefined
        ? 'running'
        : terminated === undefined
          ? 'nothing'
          : `terminated(${terminated.reason} ${terminated.exitCode})`;
  const before = lastState?.terminated === undefined ? '' : ` after ${lastState.terminated.exitCode}`;
  return `${name} ${now}${before}${ready ? ' ready' : ''}${started ? ' started' : ''} #${restartCount}`;
}

/** Returns a pod's statuses, events and calls in chronological order, each with the seconds since `beginMs`. */
export function timelineOf(
  beginMs: number,
  { moments, events, calls }: { moments: Moment[]; events: SeenEvent[]; calls: PodCall[] },
): string[] {
  const all = [
    ...moments.map(({ atMs, what }) => ({ atMs, what: `status ${what}` })),
    ...events.map(({ atMs, reason, fieldPath, message }) => ({
      atMs,
      what: `event ${reason} ${fieldPath} ${message}`,
    })),
    ...calls.map(({ atMs, tookMs, method, about, error }) => ({
      atMs,
      what: `call ${method} ${about} (${tookMs ?? '?'} ms)${error === undefined ? '' : ` fails: ${error}`}`,
    })),
  ];
  return all
    .sort((a, b) => a.atMs - b.atMs)
    .map(({ atMs, what }) => `${((atMs - beginMs) / 1000).toFixed(1).padStart(6)} ${what}`);
}
