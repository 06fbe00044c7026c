/** An in-memory runtime with fault injection: it responds late, twice, wrongly or not at all, and restarts. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PodwrightError } from '@podwright/base';
import { type ContainerEventResponse, ContainerEventType, ContainerState, type CriClient } from '@podwright/cri';
import { type FakeContainer, FakeRuntime, type FakeSandbox } from '@podwright/cri/testing';
import { type KubeletLife, never, type Stages } from './stages.fixture.ts';
import type { VirtualTime } from './virtual-time.fixture.ts';

/** A fault in the delivery of the next container runtime events. */
export type EventFault = { kind: 'lost' | 'twice' } | { kind: 'late'; ms: number };

/** The CRI client's default timeout. For stop calls, the grace period is added. */
const CALL_TIMEOUT_MS = 120_000;
/** The CRI method during which a container that ignores SIGTERM keeps running until its grace period ends. */
const STOP = 'stopContainer';

export type RuntimeWatcher = {
  /** Called for each CRI call that changes the runtime's state, before the call takes effect. */
  before: (method: string, request: Record<string, unknown>) => void;
  started: (container: FakeContainer) => void;
};

export class FaultyRuntime {
  readonly fake: FakeRuntime;
  readonly #time: VirtualTime;
  readonly #stages: Stages;
  readonly #watcher: RuntimeWatcher;
  readonly #eventFaults: EventFault[] = [];
  /** Exited containers that are reported as running, each until the given time. */
  readonly #hiddenUntilMs = new Map<string, number>();
  /** Containers that ignore SIGTERM. */
  readonly #stubborn = new Set<string>();
  /** Event streams, which break when the runtime goes down. */
  #streams = new Set<AbortController>();
  #upAtMs = 0;
  /** Whether the runtime supports events. */
  evented = true;
  /** The image registry is unavailable until this time. */
  registryUpAtMs = 0;
  /** Calls that have changed the runtime: their number, and the start time and method of the last one. */
  changes = { count: 0, lastAtMs: 0, last: '' };

  constructor(time: VirtualTime, stages: Stages, watcher: RuntimeWatcher) {
    this.#time = time;
    this.#stages = stages;
    this.#watcher = watcher;
    this.fake = new FakeRuntime({
      images: ['docker.io/library/a:1'],
      inRegistry: () => this.#time.nowMs >= this.registryUpAtMs,
      now: () => Math.round(this.#time.wallMs()),
      sharesMessages: true,
    });
  }

  get running(): FakeContainer[] {
    return this.fake.containers.filter(({ state }) => state === ContainerState.CONTAINER_RUNNING);
  }

  get sandboxes(): FakeSandbox[] {
    return this.fake.sandboxes;
  }

  isDown(): boolean {
    return this.#time.nowMs < this.#upAtMs;
  }

  restart(ms: number): void {
    this.#upAtMs = Math.max(this.#upAtMs, this.#time.nowMs + ms);
    for (const stream of this.#streams) stream.abort();
    this.#streams.clear();
    this.#stages.failSilent();
  }

  /** Ends all faults. */
  calm(): void {
    this.#upAtMs = 0;
    this.#eventFaults.length = 0;
    this.#hiddenUntilMs.clear();
    this.#stubborn.clear();
    this.registryUpAtMs = 0;
  }

  faultEvents(fault: EventFault, count: number): void {
    for (let i = 0; i < count; i++) this.#eventFaults.push(fault);
  }

  ignoreSigterm(id: string): void {
    this.#stubborn.add(id);
  }

  exit(id: string, exitCode: number, hiddenMs = 0): void {
    if (hiddenMs > 0) this.#hiddenUntilMs.set(id, this.#time.nowMs + hiddenMs);
    this.fake.exitContainer(id, { exitCode });
  }

  /** Returns the CRI client for one run of the kubelet process. */
  connect(life: KubeletLife): CriClient {
    const { runtime, image, transfers, traces } = this.fake.client;
    return {
      runtime: {
        ...this.#calls(life, runtime),
        getContainerEvents: this.#events(life),
      } as unknown as CriClient['runtime'],
      image: this.#calls(life, image) as CriClient['image'],
      transfers,
      traces,
      apiVersion: 'v1',
      close: () => undefined,
    };
  }

  #calls(life: KubeletLife, service: object): object {
    const names = Object.keys(service);
    return Object.fromEntries(names.map((method) => [method, this.#call(life, service as Service, method)]));
  }

  #call(life: KubeletLife, service: Service, method: string): Method {
    return async (request, { signal, timeoutMs = CALL_TIMEOUT_MS } = {}) => {
      signal?.throwIfAborted();
      const call = { life, stage: method, signal, timeoutMs };
      return await this.#stages.pass(call, () => this.#work(service, { method, request, life, signal }));
    };
  }

  async #work(service: Service, { method, request, life, signal }: Work): Promise<unknown> {
    if (this.isDown()) throw new PodwrightError('unavailable', `${method}: the runtime is down`);
    if (isChange(method)) {
      this.changes = { count: this.changes.count + 1, lastAtMs: this.#time.nowMs, last: method };
      this.#watcher.before(method, request);
    }
    if (method === STOP) await this.#takeTime(request, { life, signal });
    const response = await service[method]!(request);
    if (method === 'startContainer') this.#started(String(request.containerId));
    return this.#lie(method, response);
  }

  /** Lets a container that ignores SIGTERM run until the end of its grace period. */
  async #takeTime(
    { containerId, timeout }: Record<string, unknown>,
    { life, signal }: Pick<Work, 'life' | 'signal'>,
  ): Promise<void> {
    if (!this.#stubborn.has(String(containerId))) return;
    await this.#time.sleep(Number(timeout ?? 0) * 1000);
    if (life.dead || signal?.aborted) await never();
    if (this.isDown()) throw new PodwrightError('unavailable', 'stopContainer: the runtime is down');
  }

  #started(id: string): void {
    const container = this.fake.containerNamed(id);
    const { logDirectory } = this.fake.sandboxes.find((one) => one.id === container.sandboxId)!.config;
    const path = join(logDirectory, container.config.logPath);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, '');
    this.#watcher.started(container);
  }

  #lie(method: string, response: unknown): unknown {
    if (this.#hiddenUntilMs.size === 0) return response;
    const { containers, status, containersStatuses } = response as Seen;
    if (method === 'listContainers') for (const one of containers ?? []) this.#hide(one);
    if (method === 'containerStatus' && status !== undefined) this.#hide(status);
    for (const one of containersStatuses ?? []) this.#hide(one);
    return response;
  }

  #hide(seen: Hideable): void {
    if ((this.#hiddenUntilMs.get(seen.id) ?? 0) <= this.#time.nowMs) return;
    if (seen.state !== ContainerState.CONTAINER_EXITED) return;
    seen.state = ContainerState.CONTAINER_RUNNING;
    if ('finishedAt' in seen) Object.assign(seen, { finishedAt: 0n, exitCode: 0, reason: '', message: '' });
  }

  #events(life: KubeletLife) {
    const { runtime } = this.fake.client;
    return (request: object, { signal }: { signal?: AbortSignal } = {}) =>
      this.#stream(life, request, { signal, runtime });
  }

  async *#stream(
    life: KubeletLife,
    request: object,
    { signal, runtime }: { signal: AbortSignal | undefined; runtime: CriClient['runtime'] },
  ): AsyncGenerator<ContainerEventResponse> {
    if (!this.evented) throw new PodwrightError('unimplemented', 'there are no events');
    if (this.isDown()) throw new PodwrightError('unavailable', 'the runtime is down');
    const broken = new AbortController();
    this.#streams.add(broken);
    const both = signal === undefined ? broken.signal : AbortSignal.any([signal, broken.signal]);
    try {
      for await (const event of runtime.getContainerEvents(request, { signal: both })) {
        if (life.dead) await never();
        const fault = this.#isHidden(event) ? { kind: 'lost' as const } : this.#eventFaults.shift();
        if (fault?.kind === 'lost') continue;
        if (fault?.kind === 'late') await this.#time.sleep(fault.ms);
        if (life.dead) await never();
        this.#lie('event', event);
        yield event;
        if (fault?.kind === 'twice') yield event;
      }
    } finally {
      this.#streams.delete(broken);
    }
    if (life.dead) await never();
    signal?.throwIfAborted();
    throw new PodwrightError('unavailable', 'the stream broke');
  }

  #isHidden({ containerId, containerEventType }: ContainerEventResponse): boolean {
    const hidden = (this.#hiddenUntilMs.get(containerId) ?? 0) > this.#time.nowMs;
    return hidden && containerEventType === ContainerEventType.CONTAINER_STOPPED_EVENT;
  }
}

type Method = (
  request: Record<string, unknown>,
  options?: { signal?: AbortSignal; timeoutMs?: number },
) => Promise<unknown>;
type Service = Record<string, Method | undefined>;
type Work = { method: string; request: Record<string, unknown>; life: KubeletLife; signal: AbortSignal | undefined };
type Hideable = { id: string; state: ContainerState };
type Seen = { containers?: Hideable[]; status?: Hideable; containersStatuses?: Hideable[] };

function isChange(method: string): boolean {
  return /^(run|create|start|stop|remove)(Pod|Container)/.test(method);
}
