import type { Registry } from '@podwright/base';
import {
  allContainers,
  type Container,
  type EventRecorder,
  eventSubject,
  type Pod,
  type Probe,
} from '@podwright/kube-api';
import type { CommandRunner } from '../kubecontainer/command-runner.ts';
import { latestContainer, type RuntimeContainer, type RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { KUBELET_RESTART_GRACE_MS } from './limits.ts';
import type { PodProbes } from './pod-probes.ts';
import { ProbeClock } from './probe-clock.ts';
import { PROBE_NAMES, type ProbeMetrics, type ProbeSubject, probeMetrics } from './probe-metrics.ts';
import { type ProbeKind, type ProbeResult, ProbeResults } from './probe-results.ts';
import { type ProbeAnswer, Prober } from './prober.ts';
import { type ProbedContainer, ProbeWorker } from './worker.ts';

export type ProberManagerOptions = {
  commands: CommandRunner;
  events: EventRecorder;
  /** Registry for the `prober_*` metrics. */
  metrics?: Registry;
  /** Whether the kubelet froze the pod at any time since `sinceMs` (monotonic). Attempts that fail during that time do not count. */
  wasFrozen?: (podUid: string, sinceMs: number) => boolean;
  /** Returns the delay of a probe's first run after a kubelet start, as a fraction (0 to 1) of the probe's period. Default: Math.random. */
  random?: () => number;
};

type Worker = { container: string; kind: ProbeKind; worker: ProbeWorker };
type Watched = { pod: Pod; status: RuntimePodStatus; podIps: string[]; workers: Map<string, Worker>; ending: boolean };

const PROBE_KINDS: readonly ProbeKind[] = ['startup', 'readiness', 'liveness'];

/** A lookup table of property names, because computing the names would make each access slower. */
const PROBE_FIELDS = { startup: 'startupProbe', readiness: 'readinessProbe', liveness: 'livenessProbe' } as const;

/** The probe results assumed before the first attempt, as in Kubernetes: alive, not ready, startup unknown. */
const INITIAL = { liveness: 'success', readiness: 'failure', startup: 'unknown' } as const;

/**
 * Runs a worker for each probe of each container, from when the pod is first seen until it is removed. A result that already exists when a
 * container is first seen becomes its initial result, so that containers stay started and ready across a kubelet restart.
 */
export class ProberManager implements PodProbes {
  readonly liveness = new ProbeResults();
  readonly readiness = new ProbeResults();
  readonly startup = new ProbeResults();
  readonly #options: ProberManagerOptions;
  readonly #prober: Prober;
  readonly #metrics: ProbeMetrics;
  readonly #clock = new ProbeClock();
  readonly #pods = new Map<string, Watched>();
  readonly #random: () => number;
  readonly #startedMs = performance.now();
  readonly #startedAtMs = Date.now();

  constructor(options: ProberManagerOptions) {
    this.#options = options;
    this.#prober = new Prober(options.commands);
    this.#metrics = probeMetrics(options.metrics);
    this.#random = options.random ?? Math.random;
  }

  update(pod: Pod, status: RuntimePodStatus, podIps: string[]): void {
    const { uid } = pod.metadata;
    const { workers = new Map(), ending = false } = this.#pods.get(uid) ?? {};
    const watched: Watched = { pod, status, podIps, workers, ending };
    this.#pods.set(uid, watched);
    const nowMs = performance.now();
    for (const container of allContainers(pod.spec)) this.#observe(watched, container, nowMs);
  }

  stopLiveness(podUid: string): void {
    const watched = this.#pods.get(podUid);
    if (watched === undefined) return;
    watched.ending = true;
    // keep the results: the pod's status shows them, and they may be the reason why the pod is being terminated
    for (const { kind, worker } of watched.workers.values()) if (kind !== 'readiness') worker.stop();
  }

  remove(podUid: string): void {
    const watched = this.#pods.get(podUid);
    if (watched === undefined) return;
    this.#pods.delete(podUid);
    for (const { kind, container, worker } of watched.workers.values()) {
      worker.stop();
      if (worker.containerId !== undefined) this[kind].remove(worker.containerId);
      this.#metrics.remove(subjectOf(watched.pod, container, kind));
    }
  }

  stop(): void {
    for (const { workers } of this.#pods.values()) for (const { worker } of workers.values()) worker.stop();
    this.#pods.clear();
  }

  #observe(watched: Watched, container: Container, nowMs: number): void {
    const found = latestContainer(watched.status, container.name);
    const running = found?.state === 'running' ? found : undefined;
    for (const kind of PROBE_KINDS) {
      if (probeOf(container, kind) === undefined || (watched.ending && kind !== 'readiness')) continue;
      const worker = this.#ensureWorker(watched, { container, kind }, nowMs);
      const before = worker.containerId;
      if (before !== undefined && before !== running?.id) this[kind].remove(before);
      if (running !== undefined && this[kind].get(running.id) === undefined)
        this.#set(watched.pod, { container: container.name, kind, id: running.id, result: INITIAL[kind] });
      worker.observe(running && this.#probed(container, { kind, running, nowMs }), nowMs);
    }
  }

  #ensureWorker(
    watched: Watched,
    { container, kind }: { container: Container; kind: ProbeKind },
    nowMs: number,
  ): ProbeWorker {
    const key = `${container.name}/${kind}`;
    const known = watched.workers.get(key)?.worker;
    if (known !== undefined) return known;
    const { uid } = watched.pod.metadata;
    const probe = () => timing(this.#probeOf(uid, container, kind));
    const periodMs = probe().periodSeconds * 1000;
    // as in upstream, spread out the probes after a kubelet start
    const delayMs = periodMs > nowMs - this.#startedMs ? this.#random() * periodMs : 0;
    const worker = new ProbeWorker({
      kind,
      probe,
      anchorMs: nowMs + delayMs,
      attempt: (id, how) => this.#attempt(uid, { container, kind, id }, how),
      result: (id) => this[kind].get(id),
      onResult: (id, result) => this.#note(uid, { container, kind, id, result }),
      clock: this.#clock,
    });
    watched.workers.set(key, { container: container.name, kind, worker });
    return worker;
  }

  #probed(
    container: Container,
    { kind, running, nowMs }: { kind: ProbeKind; running: RuntimeContainer; nowMs: number },
  ): ProbedContainer {
    const { id, startedAtMs } = running;
    const delayMs = (probeOf(container, kind)?.initialDelaySeconds ?? 0) * 1000;
    // the wall clock may have been changed, so never wait longer than the initial delay
    const remainingMs = Math.min(delayMs, Math.max(0, startedAtMs + delayMs - Date.now()));
    return {
      id,
      isNew: startedAtMs >= this.#startedAtMs - KUBELET_RESTART_GRACE_MS,
      isGated: kind !== 'startup' && container.startupProbe !== undefined && this.startup.get(id) !== 'success',
      probedFromMs: nowMs + remainingMs,
    };
  }

  /** Returns the probe from the latest pod spec, so that changes to the probe take effect. */
  #probeOf(uid: string, container: Container, kind: ProbeKind): Probe {
    const spec = this.#pods.get(uid)?.pod.spec;
    const newest = spec && allContainers(spec).find(({ name }) => name === container.name);
    return (newest && probeOf(newest, kind)) ?? probeOf(container, kind)!;
  }

  async #attempt(
    uid: string,
    { container, kind, id }: { container: Container; kind: ProbeKind; id: string },
    { quiet, signal }: { quiet: boolean; signal: AbortSignal },
  ): Promise<'success' | 'failure' | undefined> {
    const watched = this.#pods.get(uid);
    if (watched === undefined) return undefined;
    const startedMs = performance.now();
    const probe = this.#probeOf(uid, container, kind);
    const target = { probe, container, containerId: id, podIps: watched.podIps };
    const answer = await this.#prober.probe(target, signal);
    if (signal.aborted) return undefined;
    const hasFailed = answer.verdict === 'failure' || answer.verdict === 'error';
    if (hasFailed && this.#options.wasFrozen?.(uid, startedMs)) return undefined;
    if (quiet && hasFailed) return undefined;
    if (watched.ending && answer.verdict === 'error') return undefined; // the container may already be removed
    this.#event(watched.pod, { container: container.name, kind, answer });
    if (answer.verdict === 'error') return undefined;
    const verdict = answer.verdict === 'failure' ? 'failure' : 'success';
    const seconds = (performance.now() - startedMs) / 1000;
    this.#metrics.record(subjectOf(watched.pod, container.name, kind), verdict, seconds);
    return verdict;
  }

  /** Emits the same event as upstream for an attempt that resulted in a warning, a failure or an error. */
  #event(pod: Pod, { container, kind, answer }: { container: string; kind: ProbeKind; answer: ProbeAnswer }): void {
    const { verdict, output } = answer;
    if (verdict === 'success') return;
    const what = {
      warning: `probe warning: ${output}`,
      failure: `probe failed: ${output}`,
      error: `probe errored and resulted in unknown state: ${output}`,
    }[verdict];
    const reason = verdict === 'warning' ? 'ProbeWarning' : 'Unhealthy';
    this.#options.events.event(eventSubject(pod, container), 'Warning', reason, `${PROBE_NAMES[kind]} ${what}`);
  }

  /** Stores a result whose threshold has been reached. If a startup probe succeeds, the container's other probes start immediately. */
  #note(
    uid: string,
    { container, kind, id, result }: { container: Container; kind: ProbeKind; id: string; result: ProbeResult },
  ): void {
    const watched = this.#pods.get(uid);
    if (watched === undefined) return;
    this.#set(watched.pod, { container: container.name, kind, id, result });
    const current = this.#pods.get(uid);
    if (kind === 'startup' && current !== undefined) this.#observe(current, container, performance.now());
  }

  #set(
    pod: Pod,
    { container, kind, id, result }: { container: string; kind: ProbeKind; id: string; result: ProbeResult },
  ): void {
    this[kind].set({ kind, podUid: pod.metadata.uid, containerName: container, containerId: id, result });
  }
}

function probeOf(container: Container, kind: ProbeKind): Probe | undefined {
  return container[PROBE_FIELDS[kind]];
}

/** Returns the probe's timing with the API defaults, which also replace 0. */
function timing({ periodSeconds, successThreshold, failureThreshold }: Probe) {
  return {
    periodSeconds: periodSeconds || 10,
    successThreshold: successThreshold || 1,
    failureThreshold: failureThreshold || 3,
  };
}

function subjectOf({ metadata: { name, namespace, uid } }: Pod, container: string, kind: ProbeKind): ProbeSubject {
  return { kind, container, pod: name, namespace, podUid: uid };
}
