/** Random histories of DaemonSets: nodes being added, removed and tainted, updates, failing pods, failed writes and killed processes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node, Pod } from '@podwright/kube-api';
import { NODES, PODS } from '@podwright/kube-client';
import { SimKubelet } from '../framework/sim-kubelet.fixture.ts';
import { type Fault, SimProcess } from '../framework/sim-process.fixture.ts';
import { Random, SimServer } from '../framework/sim-server.fixture.ts';
import { CONTROLLER_REVISIONS } from '../objects/controller-revision.ts';
import { DAEMON_SETS, type DaemonSet } from '../objects/daemon-set.ts';
import { isActive } from '../pods/pod-state.ts';
import { targetNode } from './daemon-pod.ts';
import { newDaemonSet, newNode, SURGE } from './daemon-set.fixture.ts';
import { DaemonSetSync } from './daemon-set-controller.ts';

const HISTORIES = 100;
const STEPS = 150;
const PLACE = { namespace: 'shop', name: 'agent' };
const TAINT = { key: 'x', effect: 'NoExecute' };

class History {
  readonly server: SimServer;
  readonly process: SimProcess;
  readonly kubelet: SimKubelet;
  readonly #random: Random;
  readonly #surges: boolean;

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.#surges = this.#random.below(2) === 0;
    this.server = new SimServer(seed);
    this.kubelet = new SimKubelet(this.server);
    for (const name of ['a', 'b', 'c']) this.server.put(NODES, newNode(name));
    this.server.put(DAEMON_SETS, newDaemonSet(this.#surges ? { updateStrategy: SURGE } : {}));
    this.server.onChange = () => this.#check();
    this.process = new SimProcess(this.server, DAEMON_SETS, (parts, again) => {
      const sets = new DaemonSetSync(parts, again);
      return (key) => sets.sync(key);
    });
    const faults: Fault[] = ['refused', 'conflict', 'lost', 'killed'];
    this.process.nextFault = () => (this.#random.below(10) === 0 ? this.#random.pick(faults)! : 'none');
    this.kubelet.failures = 5;
  }

  get set(): DaemonSet {
    return this.server.get<DaemonSet>(DAEMON_SETS, PLACE)!;
  }

  async step(): Promise<void> {
    const action = this.#random.below(20);
    if (action < 8) await this.process.sync('shop/agent');
    else if (action < 13) this.process.deliver(1 + this.#random.below(3));
    else if (action < 18) this.kubelet.step();
    else if (action === 18) this.server.nowMs += this.#random.below(10_000);
    else this.#change();
  }

  #change(): void {
    if (this.#random.below(3) === 0)
      return this.server.change<DaemonSet>(DAEMON_SETS, PLACE, ({ spec }) => {
        spec.template.spec.containers[0]!.image = `agent:${this.#random.below(3)}`;
      });
    const name = this.#random.pick(['a', 'b', 'c', 'd'])!;
    const taints = this.#random.below(2) === 0 ? [TAINT] : undefined;
    this.server.put(NODES, newNode(name, { taints }));
  }

  /** Asserts that each node has at most one pod, or two with surge, not counting pods that are being deleted. */
  #check(): void {
    const byNode = Map.groupBy(this.server.list<Pod>(PODS).filter(isActive), targetNode);
    for (const [node, pods] of byNode)
      assert.ok(pods.length <= (this.#surges ? 2 : 1), `${pods.length} pods on node ${node}`);
  }

  async end(): Promise<void> {
    this.kubelet.failures = 0;
    this.process.nextFault = () => 'none';
    await this.process.settle(() => this.kubelet.step());
  }
}

async function run(seed: number): Promise<void> {
  const history = new History(seed);
  for (let step = 0; step < STEPS; step++) await history.step();
  await history.end();
  const { set, server } = history;
  const fitting = server.list<Node>(NODES).filter(({ spec }) => spec?.taints === undefined);
  const pods = server.list<Pod>(PODS);
  assert.deepEqual(pods.map(targetNode).sort(), fitting.map(({ metadata }) => metadata.name).sort());
  const { image } = set.spec.template.spec.containers[0]!;
  assert.ok(pods.every(({ spec }) => spec.containers[0]!.image === image));
  const { status = {} } = set;
  const count = fitting.length;
  const { desiredNumberScheduled, numberReady, numberAvailable, updatedNumberScheduled } = status;
  const counts = [desiredNumberScheduled, numberReady, numberAvailable, updatedNumberScheduled];
  assert.deepEqual(
    [...counts, status.numberMisscheduled, status.numberUnavailable],
    [count, count, count, count, 0, 0],
  );
  assert.ok(server.list(CONTROLLER_REVISIONS).length <= 1 + set.spec.revisionHistoryLimit!);
}

test('each eligible node eventually has its pod, despite failures and process exits', async () => {
  const first = Number(process.env.SIM_SEED ?? 1);
  const count = process.env.SIM_SEED === undefined ? HISTORIES : 1;
  for (let seed = first; seed < first + count; seed++)
    await run(seed).catch((error: unknown) => {
      throw new Error(`seed ${seed}`, { cause: error });
    });
});
