/** Simulates random histories of Jobs: a kubelet that ends pods, user actions, delayed watches, failed writes and killed processes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTime, type Pod } from '@podwright/kube-api';
import { PODS } from '@podwright/kube-client';
import { type Fault, SimProcess } from '../framework/sim-process.fixture.ts';
import { Random, SimServer } from '../framework/sim-server.fixture.ts';
import { finishedCondition, isFinished, JOBS, type Job, type JobSpec } from '../objects/job.ts';
import { newJob } from './job.fixture.ts';
import { JobSync } from './job-controller.ts';
import { completionIndex } from './job-pod.ts';

const HISTORIES = 200;
const STEPS = 120;

class History {
  readonly server: SimServer;
  readonly process: SimProcess;
  readonly #random: Random;
  /** Every pod created in the simulation, by UID, in the last state the simulated server had for it. */
  readonly pods = new Map<string, Pod>();
  /** How many of every ten pods end in the phase Failed rather than Succeeded. */
  readonly #failures: number;

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.server = new SimServer(seed);
    this.#failures = this.#random.below(2) * this.#random.below(8);
    this.server.put(JOBS, newJob(randomSpec(this.#random)));
    this.server.onChange = () => this.#check();
    this.process = new SimProcess(this.server, JOBS, (parts, again) => {
      const jobs = new JobSync(parts, again);
      return (key) => jobs.sync(key);
    });
    this.process.nextFault = () => this.#fault();
  }

  get podsFail(): boolean {
    return this.#failures > 0;
  }

  get job(): Job {
    return this.server.list<Job>(JOBS)[0]!;
  }

  async step(): Promise<void> {
    const action = this.#random.below(10);
    if (action < 4) await this.process.sync('shop/report');
    else if (action < 7) this.process.deliver(1 + this.#random.below(3));
    else if (action < 9) this.kubelet();
    else this.server.nowMs += this.#random.below(20_000);
  }

  /** Advances a random pod to its next state, as a kubelet would. Returns false if no pod is left to change. */
  kubelet(): boolean {
    const pods = this.server.list<Pod>(PODS);
    const pod = this.#random.pick(pods.filter(isForKubelet));
    if (pod === undefined) return false;
    const place = { namespace: 'shop', name: pod.metadata.name };
    if (pod.metadata.deletionTimestamp !== undefined && isEnded(pod)) {
      this.server.end(PODS, place);
      return true;
    }
    this.server.change<Pod>(PODS, place, (changed) => this.#progress(changed));
    return true;
  }

  #progress(pod: Pod): void {
    if (pod.spec.nodeName === undefined) pod.spec.nodeName = 'n1';
    if (pod.status?.phase === 'Pending') pod.status.phase = 'Running';
    else if (pod.status?.phase === 'Running') {
      const fails = pod.metadata.deletionTimestamp !== undefined || this.#random.below(10) < this.#failures;
      const terminated = { exitCode: fails ? 1 + this.#random.below(3) : 0, finishedAt: formatTime(this.server.nowMs) };
      const fixed = { lastState: {}, ready: false, restartCount: 0, image: '', imageID: '' };
      pod.status.phase = fails ? 'Failed' : 'Succeeded';
      pod.status.containerStatuses = [{ name: 'main', state: { terminated }, ...fixed }];
    }
  }

  #fault(): Fault {
    const faults: Fault[] = ['refused', 'conflict', 'lost', 'killed'];
    return this.#random.below(8) === 0 ? this.#random.pick(faults)! : 'none';
  }

  #lastCounts = [0, 0];

  #check(): void {
    const { job } = this;
    for (const pod of this.server.list<Pod>(PODS)) {
      if (!this.pods.has(pod.metadata.uid)) assert.ok(!isFinished(job), 'a finished Job makes no pod');
      this.pods.set(pod.metadata.uid, pod);
    }
    const active = this.server
      .list<Pod>(PODS)
      .filter((pod) => !isEnded(pod) && pod.metadata.deletionTimestamp === undefined);
    assert.ok(active.length <= job.spec.parallelism!, `${active.length} active pods`);
    const indexes = active.map(completionIndex);
    if (job.spec.completionMode === 'Indexed')
      assert.equal(new Set(indexes).size, indexes.length, 'an index has two pods');
    const { succeeded = 0, failed = 0, conditions = [] } = job.status ?? {};
    assert.ok(succeeded >= this.#lastCounts[0]! && failed >= this.#lastCounts[1]!, 'a count decreases');
    this.#lastCounts = [succeeded, failed];
    const types = conditions.map(({ type }) => type);
    assert.equal(new Set(types).size, types.length, 'a condition is doubled');
    if (types.includes('Complete')) assert.ok(types.includes('SuccessCriteriaMet') && !types.includes('Failed'));
    if (types.includes('Failed')) assert.ok(types.includes('FailureTarget'));
  }

  /** Runs the controller and the kubelet, without faults, until neither has anything left to do. */
  async end(): Promise<void> {
    await this.process.settle(() => this.kubelet());
  }
}

function randomSpec(random: Random): Partial<JobSpec> {
  const completions = 1 + random.below(6);
  const isIndexed = random.below(2) === 0;
  const isPerIndex = isIndexed && random.below(2) === 0;
  const hasPolicy = random.below(3) === 0;
  const succeedsEarly = isIndexed && random.below(3) === 0;
  return {
    completions,
    parallelism: 1 + random.below(4),
    completionMode: isIndexed ? 'Indexed' : 'NonIndexed',
    backoffLimit: isPerIndex ? 2 ** 31 - 1 : random.below(6),
    podReplacementPolicy: hasPolicy || random.below(2) === 0 ? 'Failed' : 'TerminatingOrFailed',
    ...(isPerIndex ? { backoffLimitPerIndex: random.below(3) } : {}),
    ...(succeedsEarly ? { successPolicy: { rules: [{ succeededCount: 1 }] } } : {}),
    ...(hasPolicy
      ? { podFailurePolicy: { rules: [{ action: 'Ignore', onExitCodes: { operator: 'In', values: [2] } }] } }
      : {}),
  };
}

const isEnded = ({ status }: Pod) => status?.phase === 'Succeeded' || status?.phase === 'Failed';
const isForKubelet = (pod: Pod) =>
  !isEnded(pod) || (pod.metadata.deletionTimestamp !== undefined && (pod.metadata.finalizers ?? []).length === 0);

async function run(seed: number): Promise<void> {
  const history = new History(seed);
  for (let step = 0; step < STEPS; step++) await history.step();
  await history.end();
  const { job, pods } = history;
  const { succeeded = 0, failed = 0, uncountedTerminatedPods: uncounted, active = 0 } = job.status ?? {};
  const end = finishedCondition(job);
  assert.notEqual(end, undefined, 'the Job does not end');
  assert.deepEqual([active, uncounted], [0, {}]);
  const all = [...pods.values()];
  assert.ok(history.server.list<Pod>(PODS).every(({ metadata }) => metadata.finalizers === undefined));
  if (job.spec.successPolicy !== undefined) {
    if (!history.podsFail)
      assert.deepEqual([end!.type, failed], ['Complete', 0], 'a Job whose pods do not fail succeeds');
    return;
  }
  if (end!.type === 'Complete') assert.equal(succeeded, job.spec.completions);
  if (job.spec.completionMode === 'Indexed') {
    const indexes = new Set(all.filter(({ status }) => status?.phase === 'Succeeded').map(completionIndex));
    assert.equal(succeeded, indexes.size);
  }
  if (job.spec.podFailurePolicy !== undefined) return;
  const doubles =
    job.spec.completionMode === 'Indexed'
      ? all.filter(({ status }) => status?.phase === 'Succeeded').length - succeeded
      : 0;
  assert.equal(succeeded + failed + doubles, all.length, 'each pod is counted once');
}

test('each pod is counted once, despite failures and process exits', async () => {
  const first = Number(process.env.SIM_SEED ?? 1);
  const count = process.env.SIM_SEED === undefined ? HISTORIES : 1;
  for (let seed = first; seed < first + count; seed++)
    await run(seed).catch((error: unknown) => {
      throw new Error(`seed ${seed}`, { cause: error });
    });
});
