import { errorMessage, type Logger } from '@podwright/base';
import { allContainers, type Container, type Pod, type Probe } from '../api/types.ts';
import type { EventRecorder } from '../events/event-recorder.ts';
import type { CommandRunner } from '../kubecontainer/command-runner.ts';
import { latestContainer, type RuntimeContainer, type RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import type { PodProbes } from './pod-probes.ts';
import { type ProbeKind, type ProbeResult, ProbeResults } from './probe-results.ts';
import { Prober } from './prober.ts';
import { runProbeWorker } from './worker.ts';

export type ProberManagerOptions = { commands: CommandRunner; events: EventRecorder; logger: Logger };

/** A container's worker; `target` follows changes of the pod's addresses. */
type Worker = { podUid: string; containerId: string; kind: ProbeKind; stop: AbortController };
type Watched = { pod: Pod; podIps: string[] };

const PROBE_KINDS: readonly ProbeKind[] = ['startup', 'readiness', 'liveness'];

/** Kubernetes' results before the first answer: alive, not ready, startup unknown. */
const INITIAL = { liveness: 'success', readiness: 'failure', startup: 'unknown' } as const;
const LABELS = { liveness: 'Liveness', readiness: 'Readiness', startup: 'Startup' } as const;

/** Runs a worker for each probe of each running container. */
export class ProberManager implements PodProbes {
  readonly liveness = new ProbeResults();
  readonly readiness = new ProbeResults();
  readonly startup = new ProbeResults();
  readonly #options: ProberManagerOptions;
  readonly #prober: Prober;
  readonly #workers = new Map<string, Worker>();
  readonly #pods = new Map<string, Watched>();
  /** Pods that are ending: their liveness and startup probes stay off. */
  readonly #ending = new Set<string>();

  constructor(options: ProberManagerOptions) {
    this.#options = options;
    this.#prober = new Prober(options.commands);
  }

  update(pod: Pod, status: RuntimePodStatus, podIps: string[]): void {
    const { uid } = pod.metadata;
    this.#pods.set(uid, { pod, podIps });
    const running = new Set<string>();
    for (const container of allContainers(pod.spec)) {
      const found = latestContainer(status, container.name);
      if (found?.state !== 'running') continue;
      running.add(found.id);
      for (const kind of PROBE_KINDS) this.#ensure(pod, { container, found, kind });
    }
    for (const [key, worker] of this.#workers) {
      if (worker.podUid === uid && !running.has(worker.containerId)) this.#drop(key, worker);
    }
  }

  stopLiveness(podUid: string): void {
    this.#ending.add(podUid);
    for (const [key, worker] of this.#workers) {
      if (worker.podUid === podUid && worker.kind !== 'readiness') this.#drop(key, worker);
    }
  }

  remove(podUid: string): void {
    this.#pods.delete(podUid);
    this.#ending.delete(podUid);
    for (const [key, worker] of this.#workers) if (worker.podUid === podUid) this.#drop(key, worker);
  }

  stop(): void {
    for (const worker of this.#workers.values()) worker.stop.abort();
    this.#workers.clear();
  }

  #ensure(
    pod: Pod,
    { container, found, kind }: { container: Container; found: RuntimeContainer; kind: ProbeKind },
  ): void {
    const key = `${found.id}/${kind}`;
    const { uid } = pod.metadata;
    if (probeOf(container, kind) === undefined || this.#workers.has(key)) return;
    if (kind !== 'readiness' && this.#ending.has(uid)) return;
    // it succeeded before the kubelet was restarted
    if (kind === 'startup' && this.startup.get(found.id) === 'success') return;
    const gated =
      kind !== 'startup' && container.startupProbe !== undefined && this.startup.get(found.id) !== 'success';
    const set = (result: ProbeResult) =>
      this[kind].set({ kind, podUid: uid, containerName: container.name, containerId: found.id, result });
    if (this[kind].get(found.id) === undefined) set(INITIAL[kind]);
    if (gated) return; // the startup probe's success brings another update
    const worker: Worker = { podUid: uid, containerId: found.id, kind, stop: new AbortController() };
    this.#workers.set(key, worker);
    runProbeWorker({
      kind,
      prober: this.#prober,
      startedAtMs: found.startedAtMs,
      signal: worker.stop.signal,
      target: () => this.#target(uid, { container, found, kind }),
      onResult: set,
      onFailure: (output) => this.#recordFailure(pod, { container, kind, output }),
    }).catch((error: unknown) => {
      this.#options.logger.error(
        { pod: uid, container: container.name, kind, error: errorMessage(error) },
        'a probe ended early',
      );
    });
  }

  /** The pod's newest specification, so that a changed address is called. */
  #target(uid: string, { container, found, kind }: { container: Container; found: RuntimeContainer; kind: ProbeKind }) {
    const watched = this.#pods.get(uid);
    const newest = watched && allContainers(watched.pod.spec).find(({ name }) => name === container.name);
    const wanted = newest ?? container;
    return {
      probe: (probeOf(wanted, kind) ?? probeOf(container, kind))!,
      container: wanted,
      containerId: found.id,
      podIps: watched?.podIps ?? [],
    };
  }

  #recordFailure(
    pod: Pod,
    { container, kind, output }: { container: Container; kind: ProbeKind; output: string },
  ): void {
    const { namespace, name, uid } = pod.metadata;
    const about = { kind: 'Pod', namespace, name, uid, container: container.name };
    this.#options.events.event(about, 'Warning', 'Unhealthy', `${LABELS[kind]} probe failed: ${output}`);
  }

  #drop(key: string, worker: Worker): void {
    worker.stop.abort();
    this.#workers.delete(key);
    // A container that is being ended keeps its verdict, which is why it ends.
    if (!this.#ending.has(worker.podUid)) this[worker.kind].remove(worker.containerId);
  }
}

/** The container's probe of that kind, if it has one. */
function probeOf(container: Container, kind: ProbeKind): Probe | undefined {
  return container[`${kind}Probe`];
}
