/** Invariants that must hold at all times. */
import type { FakeContainer } from '@podwright/cri/testing';
import type { ContainerStatus, Pod, PodStatus } from '@podwright/kube-api';
import type { StatusRecord } from '../status/status-records.ts';

type Shown = {
  startTime: string | undefined;
  phase: string;
  restarts: Map<string, number>;
  startedAt: Map<string, string>;
};

/** Checks that each published pod status is consistent with the pod's previous status. */
export class ShownPods {
  readonly #pods = new Map<string, Shown>();
  readonly #report: (problem: string) => void;

  constructor(report: (problem: string) => void) {
    this.#report = report;
  }

  forget(uid: string): void {
    this.#pods.delete(uid);
  }

  /** Replaces the last published statuses with the recorded ones, as a kubelet does at startup. */
  seed(records: ReadonlyMap<string, StatusRecord>, isWanted: (uid: string) => boolean): void {
    this.#pods.clear();
    for (const [uid, { status, going }] of records)
      if (isWanted(uid) && going !== true) this.#pods.set(uid, shownOf(status));
  }

  see(pod: Pod): void {
    const { uid, name } = pod.metadata;
    const now = shownOf(pod.status!);
    const before = this.#pods.get(uid);
    this.#pods.set(uid, now);
    for (const one of allStatuses(pod.status!)) this.#checkContainer(name, one);
    if (pod.status!.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'))
      this.#checkReady(pod);
    if (before === undefined) return;
    if (before.startTime !== undefined && before.startTime !== now.startTime)
      this.#report(`pod ${name}: the start time changed from ${before.startTime} to ${now.startTime}`);
    if ((before.phase === 'Succeeded' || before.phase === 'Failed') && now.phase !== before.phase)
      this.#report(`pod ${name}: the phase went from ${before.phase} to ${now.phase}`);
    for (const [container, count] of before.restarts) {
      const restarts = now.restarts.get(container) ?? count;
      if (restarts < count)
        this.#report(`pod ${name}, container ${container}: restarts fell from ${count} to ${restarts}`);
    }
    for (const [id, startedAt] of before.startedAt) {
      const later = now.startedAt.get(id) ?? startedAt;
      if (later !== startedAt) this.#report(`pod ${name}: ${id} was started at ${startedAt}, then at ${later}`);
    }
  }

  /** Checks the last status of a removed pod. A pod that was deleted before its first sync has no start time. */
  gone(pod: Pod): void {
    const { metadata, status } = pod;
    this.#pods.delete(metadata.uid);
    if (status?.startTime === undefined) return;
    if (status.phase !== 'Succeeded' && status.phase !== 'Failed')
      this.#report(`pod ${metadata.name} was removed, and its last phase was ${status.phase}`);
  }

  #checkContainer(pod: string, { name, ready, started, state }: ContainerStatus): void {
    const hasSucceeded = state.terminated?.exitCode === 0;
    if (ready && state.running === undefined && !hasSucceeded)
      this.#report(`pod ${pod}, container ${name}: ready without running`);
    if (started && state.running === undefined) this.#report(`pod ${pod}, container ${name}: started without running`);
  }

  #checkReady({ metadata, status }: Pod): void {
    const unready = (status!.containerStatuses ?? []).find(({ ready }) => !ready);
    if (unready !== undefined) this.#report(`pod ${metadata.name} is ready without its container ${unready.name}`);
  }
}

function shownOf(status: PodStatus): Shown {
  const all = allStatuses(status);
  return {
    startTime: status.startTime,
    phase: status.phase ?? '',
    restarts: new Map(all.map(({ name, restartCount }) => [name, restartCount])),
    startedAt: new Map(
      all.flatMap(({ containerID, state }) =>
        containerID === undefined || state.running === undefined ? [] : [[containerID, state.running.startedAt]],
      ),
    ),
  };
}

function allStatuses({ initContainerStatuses = [], containerStatuses = [] }: PodStatus): ContainerStatus[] {
  return [...initContainerStatuses, ...containerStatuses];
}

export function uidOf(container: FakeContainer): string {
  return container.config.labels['io.kubernetes.pod.uid'] ?? '';
}

export function podNameOf(container: FakeContainer): string {
  return container.config.labels['io.kubernetes.pod.name'] ?? '';
}

export function nameOf(container: FakeContainer): string {
  return container.config.metadata?.name ?? '';
}
