/** Pods and events that change at a steady rate, as objects of a node that has no kubelet. */
import { sleep } from '@podwright/base';
import type { KubeObject, Resource } from '@podwright/kube-api';
import { EVENTS, type KubeClient, LEASES, NODES, PODS } from '@podwright/kube-client';
import { type LoadPod, type PodState, podOf, statusOf } from './dashboard-pods.ts';

const core = (plural: string, kind: string): Resource => ({
  group: '',
  version: 'v1',
  plural,
  kind,
  namespaced: false,
});
const NAMESPACES = core('namespaces', 'Namespace');
const NAMESPACE = 'load';
const NODE = 'load';
/** How often the node's lease is renewed, as kubelets do. */
const RENEW_MS = 10_000;
const TICK_MS = 20;
const CREATORS = 20;
/** Events are deleted after this time. An API server keeps them for an hour, but then an hour's run would not see their number settle. */
const EVENT_LIFE_MS = 600_000;
/** Changes that the API server has not answered yet. Further ones are skipped. */
const MAX_UNDER_WAY = 200;

/** How many of each hundred pods are in each state. */
const STATES: [PodState, number][] = [
  ['ready', 88],
  ['crashing', 4],
  ['no image', 2],
  ['starting', 4],
  ['completed', 2],
];

const REASONS: [type: string, reason: string, message: string][] = [
  ['Normal', 'Pulled', 'Container image already present on machine'],
  ['Normal', 'Started', 'Container started'],
  ['Warning', 'BackOff', 'Back-off restarting failed container main in pod'],
  ['Warning', 'Unhealthy', 'Readiness probe failed: HTTP probe failed with statuscode: 503'],
];

export class DashboardLoad {
  readonly #client: KubeClient;
  readonly #pods: LoadPod[] = [];
  readonly #events: { name: string; timeMs: number }[] = [];
  readonly #timers: NodeJS.Timeout[] = [];
  #serial = 0;
  #underWay = 0;
  /** Changes that the API server has made. */
  changes = 0;

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /** Creates the node and its pods. */
  async create(count: number): Promise<void> {
    await this.#client.create(NAMESPACES, { metadata: { name: NAMESPACE } });
    await this.#client.create(NODES, { metadata: { name: NODE } });
    await this.#renew();
    this.#timers.push(setInterval(() => void this.#renew().catch(() => undefined), RENEW_MS));
    for (let first = 0; first < count; first += CREATORS)
      await Promise.all(Array.from({ length: CREATORS }, (_, index) => this.#replace(first + index)));
  }

  /** Makes this many changes a second until `stop`. */
  start(rate: number): void {
    const startedMs = performance.now();
    let made = 0;
    const tick = () => {
      const due = ((performance.now() - startedMs) * rate) / 1000;
      for (; made < due; made++) if (this.#underWay < MAX_UNDER_WAY) void this.#change(made);
    };
    this.#timers.push(setInterval(tick, TICK_MS));
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    while (this.#underWay > 0) await sleep(TICK_MS);
  }

  /** Of each hundred changes, three replace a pod, twenty create an event, twenty delete one, and the others change a pod's status. */
  async #change(index: number): Promise<void> {
    this.#underWay++;
    const turn = index % 100;
    const isOld = (this.#events[0]?.timeMs ?? Number.POSITIVE_INFINITY) < Date.now() - EVENT_LIFE_MS;
    try {
      if (turn === 0) await this.#replace(chance(this.#pods.length));
      else if (turn > 2) {
        if (turn % 5 === 0) await this.#createEvent();
        else if (turn % 5 === 1 && isOld) await this.#deleteEvent();
        else await this.#changeStatus();
        this.changes++;
      }
    } catch {
      // the pod may just have been replaced
    } finally {
      this.#underWay--;
    }
  }

  /** Creates the pod with this index, after deleting the previous one: up to three changes. */
  async #replace(index: number): Promise<void> {
    const before = this.#pods[index];
    if (before !== undefined) await this.#client.delete(PODS, keyOf(before), { gracePeriodSeconds: 0 });
    const state = stateOf(index);
    const restarts = state === 'crashing' ? 5 : 0;
    const pod: LoadPod = { name: `web-${index}-${++this.#serial}`, uid: '', state, isReady: true, restarts };
    const { metadata } = await this.#client.create<KubeObject>(
      PODS,
      podOf(pod, { namespace: NAMESPACE, node: NODE, app: index % 40 }),
    );
    pod.uid = metadata.uid ?? '';
    this.#pods[index] = pod;
    await this.#writeStatus(pod);
    this.changes += before === undefined ? 2 : 3;
  }

  /** A tenth of the changes are restarts of crashing pods; in others, a pod becomes ready or, rarely, not ready. */
  async #changeStatus(): Promise<void> {
    const state = Math.random() < 0.1 ? 'crashing' : 'ready';
    const pods = this.#pods.filter((one) => one.state === state);
    const pod = pods[chance(pods.length)]!;
    if (state === 'crashing') pod.restarts++;
    else pod.isReady = pod.isReady ? Math.random() > 0.05 : true;
    await this.#writeStatus(pod);
  }

  async #writeStatus(pod: LoadPod): Promise<void> {
    const body = { status: statusOf(pod, now()) };
    await this.#client.patch(PODS, keyOf(pod), { type: 'merge', subresource: 'status', body });
  }

  async #createEvent(): Promise<void> {
    const { name: pod, uid } = this.#pods[chance(this.#pods.length)]!;
    const [type, reason, message] = REASONS[chance(REASONS.length)]!;
    const [name, time] = [`${pod}.${(++this.#serial).toString(16)}`, now()];
    const fieldPath = 'spec.containers{main}';
    const event = {
      metadata: { name, namespace: NAMESPACE },
      ...{ type, reason, message: `${message}: ${pod}`, count: 1, firstTimestamp: time, lastTimestamp: time },
      involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace: NAMESPACE, name: pod, uid, fieldPath },
      ...{ source: { component: 'kubelet', host: NODE }, reportingComponent: 'kubelet' },
    };
    await this.#client.create(EVENTS, event);
    this.#events.push({ name, timeMs: Date.now() });
  }

  async #deleteEvent(): Promise<void> {
    await this.#client.delete(EVENTS, keyOf(this.#events.shift()!));
  }

  /** Renews the node's lease and reports it ready; otherwise, its pods would be evicted. */
  async #renew(): Promise<void> {
    const renewTime = new Date().toISOString().replace('Z', '000Z');
    const key = { namespace: 'kube-node-lease', name: NODE };
    const lease = { metadata: key, spec: { holderIdentity: NODE, leaseDurationSeconds: 40, renewTime } };
    await this.#client
      .patch(LEASES, key, { type: 'merge', body: { spec: { renewTime } } })
      .catch(() => this.#client.create(LEASES, lease));
    const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', lastHeartbeatTime: now() };
    // no kubelet listens on this port, so reading a log fails immediately
    const status = {
      conditions: [ready],
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: 1 } },
    };
    await this.#client.patch(NODES, { name: NODE }, { type: 'strategic', subresource: 'status', body: { status } });
  }
}

const keyOf = ({ name }: { name: string }) => ({ namespace: NAMESPACE, name });
const chance = (count: number): number => Math.floor(Math.random() * count);
const now = (): string => new Date().toISOString().replace(/\.\d+Z/, 'Z');

function stateOf(index: number): PodState {
  let rest = index % 100;
  for (const [state, share] of STATES) {
    if (rest < share) return state;
    rest -= share;
  }
  return 'ready';
}
