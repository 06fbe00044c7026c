/** A simulated node with a kubelet, for running histories. */
import { mkdirSync, rmSync } from 'node:fs';
import type { FakeContainer } from '@podwright/cri/testing';
import { allContainers, isSidecar, type Pod } from '@podwright/kube-api';
import type { StatusManager } from '../status/status-manager.ts';
import { FaultyRuntime } from './faulty-runtime.fixture.ts';
import type { Action, History } from './history.fixture.ts';
import { nameOf, podNameOf, ShownPods, uidOf } from './invariants.fixture.ts';
import { type KubeletCore, type NodeState, startCore } from './kubelet-core.fixture.ts';
import type { DesiredPod, PodMaker } from './pods.fixture.ts';
import { leftovers, unrestOf } from './rest.fixture.ts';
import { type KubeletLife, Stages } from './stages.fixture.ts';
import type { VirtualTime } from './virtual-time.fixture.ts';

/** Maximum number of checks for whether the node has settled. */
const REST_CHECKS = 24;
const REST_CHECK_MS = 25_000;

export type WorldOptions = {
  time: VirtualTime;
  /** Directory of the kubelet's files; created and removed by `run`. */
  directory: string;
  maker: PodMaker;
  log?: (line: string) => void;
};

export class World {
  readonly #maker: PodMaker;
  readonly #time: VirtualTime;
  readonly #directory: string;
  readonly #stages: Stages;
  readonly #runtime: FaultyRuntime;
  readonly #shown: ShownPods;
  readonly #node: NodeState = { volumes: new Map(), cgroups: new Set(), records: new Map(), recorded: new Set() };
  /** The pods in the kubelet's pod source, by name. */
  readonly #desired = new Map<string, DesiredPod>();
  /** The last start of each container of a pod, keyed by `uid/name`. */
  readonly #starts = new Map<string, { id: string; hash: string | undefined }>();
  readonly problems: string[] = [];
  readonly #log: ((line: string) => void) | undefined;
  #life: KubeletLife = { dead: true };
  #core: KubeletCore | undefined;
  #startAtMs = 0;

  constructor({ time, directory, maker, log }: WorldOptions) {
    this.#maker = maker;
    this.#log = log;
    this.#time = time;
    this.#directory = directory;
    this.#stages = new Stages(time, {
      restartRuntime: (ms) => this.#runtime.restart(ms),
      killKubelet: (ms) => this.#kill(ms),
      exitAny: (exitCode) => this.#exit({ pick: 0, exitCode, hiddenMs: 0 }),
    });
    this.#runtime = new FaultyRuntime(time, this.#stages, {
      before: (method, request) => this.#beforeChange(method, request),
      started: (container) => this.#started(container),
    });
    this.#shown = new ShownPods((problem) => this.#report(problem));
  }

  /** Runs a history; returns the problems found, if any. */
  async run({ evented, steps }: History): Promise<string[]> {
    mkdirSync(this.#directory, { recursive: true });
    this.#runtime.evented = evented;
    this.#start();
    await this.#time.pass(10);
    for (const { afterMs, ...action } of steps) {
      await this.#time.pass(afterMs);
      this.#note(() => JSON.stringify(action));
      this.#act(action);
      if (this.problems.length > 0) return this.#end();
    }
    await this.#time.pass(3000);
    await this.#comeToRest();
    if (this.problems.length === 0) await this.#deleteAll();
    return this.#end();
  }

  #note(line: () => string): void {
    this.#log?.(`${(this.#time.nowMs / 1000).toFixed(3)} ${line()}`);
  }

  #end(): string[] {
    this.#life.dead = true;
    this.#time.reset();
    rmSync(this.#directory, { recursive: true, force: true });
    return this.problems;
  }

  #report(problem: string): void {
    this.#note(() => `WRONG: ${problem}`);
    this.problems.push(problem);
  }

  // Starting and killing the kubelet

  #start(): void {
    const life = { dead: false };
    this.#life = life;
    this.#shown.seed(this.#node.records, (uid) => this.#podOf(uid) !== undefined);
    startCore({
      directory: this.#directory,
      life,
      cri: this.#runtime.connect(life),
      stages: this.#stages,
      node: this.#node,
      desired: () => [...this.#desired.values()].map(({ placed }) => placed),
      onUnmount: (uid) => this.#beforeUnmount(uid),
      onStatuses: (statuses) => void this.#follow(life, statuses),
    }).then(
      (core) => {
        if (life.dead) return;
        this.#core = core;
        core.applyDesired();
        this.#time.after(1000, () => this.#answerProbes());
      },
      (error: unknown) => {
        this.#note(() => `the kubelet did not start: ${error}`);
        if (!life.dead) this.#kill(1000);
      },
    );
  }

  #kill(ms: number): void {
    if (this.#life.dead) return;
    this.#note(() => 'the kubelet is killed');
    this.#life.dead = true;
    this.#core = undefined;
    this.#time.dropKubelet();
    this.#startAtMs = this.#time.nowMs + ms;
    this.#time.after(ms, () => this.#life.dead && this.#time.nowMs >= this.#startAtMs && this.#start());
  }

  async #follow(life: KubeletLife, statuses: StatusManager): Promise<void> {
    for await (const { type, pod } of statuses.subscribe(new AbortController().signal)) {
      if (life.dead) return;
      this.#note(() => `${type} ${pod.metadata.name} ${pod.metadata.uid.slice(0, 8)} ${describe(pod)}`);
      if (type === 'DELETED') this.#shown.gone(pod);
      else this.#shown.see(pod);
    }
  }

  // Actions

  #act(action: Action): void {
    switch (action.do) {
      case 'apply':
        this.#desired.set(action.name, this.#maker.make(action));
        return this.#core?.applyDesired();
      case 'delete':
        this.#desired.delete(action.name);
        return this.#core?.applyDesired();
      case 'exit':
        return this.#exit(action);
      case 'ignoreSigterm':
        return this.#withRunning(action.pick, ({ id }) => this.#runtime.ignoreSigterm(id));
      case 'loseSandbox':
        return this.#loseSandbox(action.pick);
      case 'probe':
        return this.#withRunning(action.pick, (container) => this.#probe(container, action));
      case 'events':
        return this.#runtime.faultEvents(eventFault(action), action.count);
      case 'fault':
        return this.#stages.arm(action);
      case 'restartRuntime':
        return this.#runtime.restart(action.ms);
      case 'killKubelet':
        return this.#kill(action.ms);
      case 'breakRegistry':
        this.#runtime.registryUpAtMs = this.#time.nowMs + action.ms;
        return;
      case 'jump':
        return this.#time.jump(action.ms);
    }
  }

  #exit({ pick, exitCode, hiddenMs }: { pick: number; exitCode: number; hiddenMs: number }): void {
    this.#withRunning(pick, ({ id }) => this.#runtime.exit(id, exitCode, hiddenMs));
  }

  #withRunning(pick: number, then: (container: FakeContainer) => void): void {
    const { running } = this.#runtime;
    if (running.length > 0) then(running[pick % running.length]!);
  }

  /** Stops a sandbox behind the kubelet's back. */
  #loseSandbox(pick: number): void {
    const { sandboxes, fake } = this.#runtime;
    if (sandboxes.length > 0)
      void fake.client.runtime.stopPodSandbox({ podSandboxId: sandboxes[pick % sandboxes.length]!.id });
  }

  #probe(
    container: FakeContainer,
    { kind, good }: { kind: 'readiness' | 'liveness' | 'startup'; good: boolean },
  ): void {
    if (this.#specOf(container)?.[`${kind}Probe`] === undefined) return;
    this.#core?.probes[kind].set({
      kind,
      podUid: uidOf(container),
      containerName: nameOf(container),
      containerId: container.id,
      result: good ? 'success' : 'failure',
    });
  }

  /** Makes all probes without a result succeed. */
  #answerProbes(): void {
    for (const container of this.#runtime.running) {
      for (const kind of ['readiness', 'startup'] as const) {
        if (this.#core?.probes[kind].get(container.id) === undefined) this.#probe(container, { kind, good: true });
      }
    }
  }

  // Waiting for the node to settle

  async #comeToRest(): Promise<void> {
    this.#calm();
    await this.#rest('at rest', () => {
      this.#finishJobs();
      return this.#unrest();
    });
  }

  #calm(): void {
    this.#note(() => 'calm');
    this.#stages.calm();
    this.#runtime.calm();
  }

  async #deleteAll(): Promise<void> {
    this.#desired.clear();
    this.#core?.applyDesired();
    this.#note(() => 'all pods are deleted');
    await this.#rest('after the end', () => this.#leftovers());
  }

  /**
   * Waits until the runtime no longer changes and `wrong` finds no problems. Reports the problems that remain after `REST_CHECKS` checks.
   */
  async #rest(when: string, wrong: () => string[]): Promise<void> {
    let found: string[] = [];
    for (let check = 0; check < REST_CHECKS && this.problems.length === 0; check++) {
      const before = this.#runtime.changes.count;
      await this.#time.pass(REST_CHECK_MS);
      const { count, last } = this.#runtime.changes;
      found = wrong();
      if (count !== before) found.push(`the plan reaches no fixed point: ${last}`);
      if (found.length === 0) return;
    }
    for (const problem of found) this.#report(`${when}: ${problem}`);
  }

  /** Makes the running containers of jobs and init containers succeed. */
  #finishJobs(): void {
    for (const container of this.#runtime.running) {
      const pod = this.#podOf(uidOf(container));
      const spec = this.#specOf(container);
      if (pod === undefined || spec === undefined) continue;
      const isInit = pod.spec.initContainers?.includes(spec) === true;
      if (isInit ? !isSidecar(spec) : pod.spec.restartPolicy !== 'Always') this.#runtime.exit(container.id, 0);
    }
    this.#answerProbes();
  }

  #unrest(): string[] {
    const wrong: string[] = [];
    if (this.#core === undefined) return ['the kubelet does not run'];
    const uids = new Set<string>();
    for (const pod of this.#pods()) {
      uids.add(pod.metadata.uid);
      wrong.push(...this.#unrestOf(pod));
    }
    for (const container of this.#runtime.running)
      if (!uids.has(uidOf(container)))
        wrong.push(`container ${nameOf(container)} of the deleted pod ${podNameOf(container)} runs`);
    return [...wrong, ...this.#leftoversExcept(uids)];
  }

  #unrestOf(pod: Pod): string[] {
    const { uid } = pod.metadata;
    const running = new Set(this.#runtime.running.filter((one) => uidOf(one) === uid).map(nameOf));
    return unrestOf(pod, this.#core!.sync.statuses.get(uid)?.phase, running);
  }

  #leftovers(): string[] {
    return this.#leftoversExcept(new Set());
  }

  #leftoversExcept(uids: ReadonlySet<string>): string[] {
    const statuses = this.#core?.sync.statuses.pods().map(({ metadata }) => metadata.uid) ?? [];
    const place = { runtime: this.#runtime, node: this.#node, directory: this.#directory };
    return leftovers({ ...place, statuses }, uids);
  }

  // Invariants

  #started(container: FakeContainer): void {
    const [uid, name] = [uidOf(container), nameOf(container)];
    this.#note(() => `started ${podNameOf(container)} ${uid.slice(0, 8)} ${name} ${container.id}`);
    const twin = this.#runtime.running.find(
      (other) =>
        other.id !== container.id &&
        podNameOf(other) === podNameOf(container) &&
        (uidOf(other) !== uid || nameOf(other) === name),
    );
    if (twin !== undefined)
      this.#report(`${name} of pod ${podNameOf(container)} is started while ${nameOf(twin)} (${twin.id}) runs`);
    this.#checkRestart(container);
    this.#time.after(1000, () => this.#answerProbes());
  }

  #checkRestart(container: FakeContainer): void {
    const key = `${uidOf(container)}/${nameOf(container)}`;
    const before = this.#starts.get(key);
    const earlier = this.#runtime.fake.containers.find(({ id }) => id === before?.id);
    const hash = container.config.annotations['io.kubernetes.container.hash'];
    this.#starts.set(key, { id: container.id, hash });
    const pod = this.#podOf(uidOf(container));
    const spec = this.#specOf(container);
    if (pod === undefined || spec === undefined || before === undefined) return;
    // a container whose spec has changed may be started again, even if its restart policy would not allow that
    if (before.hash !== hash || !pod.spec.containers.includes(spec)) return;
    if (pod.spec.restartPolicy === 'Never') this.#report(`${key} is started again, but must not be`);
    if (pod.spec.restartPolicy === 'OnFailure' && earlier?.exitCode === 0 && earlier.startedAt > 0n)
      this.#report(`${key} is started again although it has succeeded`);
  }

  #beforeChange(method: string, request: Record<string, unknown>): void {
    const id = String(request.containerId ?? request.podSandboxId ?? '');
    this.#note(() => `${method} ${id}`);
    if (method === 'stopContainer') this.#beforeStop(id);
    if (method === 'removePodSandbox') {
      const sandbox = this.#runtime.sandboxes.find((one) => one.id === id);
      const uid = sandbox?.config.metadata?.uid ?? '';
      const isLast = this.#runtime.sandboxes.every((one) => one === sandbox || one.config.metadata?.uid !== uid);
      if (isLast) for (const key of this.#starts.keys()) if (key.startsWith(`${uid}/`)) this.#starts.delete(key);
    }
  }

  /** Checks that the status shows a pod as being deleted before its containers are stopped. */
  #beforeStop(id: string): void {
    const container = this.#runtime.running.find((one) => one.id === id);
    if (container === undefined || this.#core === undefined) return;
    const shown = this.#core.sync.statuses.pod(uidOf(container));
    if (shown === undefined || this.#podOf(uidOf(container)) !== undefined) return;
    const ready = shown.status?.containerStatuses?.some((one) => one.name === nameOf(container) && one.ready) === true;
    if (ready && shown.metadata.deletionTimestamp === undefined)
      this.#report(`${nameOf(container)} of the deleted pod ${podNameOf(container)} is stopped, but shown as ready`);
  }

  #beforeUnmount(uid: string): void {
    this.#note(() => `volumes of ${uid.slice(0, 8)} are unmounted`);
    const user = this.#runtime.running.find((container) => uidOf(container) === uid);
    if (user !== undefined)
      this.#report(`the volumes of pod ${podNameOf(user)} are unmounted while ${nameOf(user)} runs`);
  }

  #pods(): Pod[] {
    return [...this.#desired.values()].map(({ pod }) => pod);
  }

  #podOf(uid: string): Pod | undefined {
    return this.#pods().find(({ metadata }) => metadata.uid === uid);
  }

  #specOf(container: FakeContainer) {
    const pod = this.#podOf(uidOf(container));
    return pod && allContainers(pod.spec).find(({ name }) => name === nameOf(container));
  }
}

function eventFault({ fault, ms }: { fault: 'lost' | 'twice' | 'late'; ms: number }) {
  return fault === 'late' ? { kind: fault, ms } : { kind: fault };
}

function describe({ status, metadata }: Pod): string {
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const states = containers.map(({ name, ready, restartCount, state }) => {
    const [kind = ''] = Object.keys(state);
    const why = state.waiting?.reason ?? state.terminated?.reason ?? '';
    return `${name}=${kind}${why === '' ? '' : `(${why})`}${ready ? ' ready' : ''} ${restartCount}`;
  });
  return `${status?.phase}${metadata.deletionTimestamp === undefined ? '' : ' going'} ${states.join(', ')}`;
}
