import { errorMessage } from '@podwright/base';
import {
  type EventRecorder,
  type EventSubject,
  eventSubject,
  formatTime,
  type Lease,
  type Node,
  type NodeCondition,
  type Pod,
  type Taint,
} from '@podwright/kube-api';
import { isApiStatus, LEASES, NODES, PODS } from '@podwright/kube-client';
import { everyCall } from '../framework/calls.ts';
import type { ControllerParts } from '../framework/controller.ts';
import type { ObjectCache } from '../framework/object-cache.ts';
import { writeStatus } from '../framework/write-status.ts';
import { readyCondition } from '../pods/pod-state.ts';
import { isLost, lostConditions, type NodeHealth, observe, readyOf } from './node-health.ts';
import { noExecuteTaints, noScheduleTaints } from './node-taints.ts';
import { areAllLost, taintIntervalMs, zoneOf } from './zones.ts';

const LEASE_NAMESPACE = 'kube-node-lease';

/** Checks the heartbeats of nodes, and writes the resulting conditions, taints and pod readiness. */
export class NodeMonitor {
  readonly #parts: ControllerParts;
  readonly #nodes: ObjectCache<Node>;
  readonly #leases: ObjectCache<Lease>;
  readonly #events: EventRecorder;
  readonly #clock: () => number;
  readonly #health = new Map<string, NodeHealth>();
  /** Whether each node was ready at the last check. If it was not, its pods have already been marked as not ready. */
  readonly #ready = new Map<string, boolean>();
  /** When a node in each zone last got a NoExecute taint, by zone. Times are those of `clock`. */
  readonly #taintedMs = new Map<string, number>();

  /** `clock` returns how long this process has been able to receive heartbeats, in milliseconds (`AwakeClock`). */
  constructor(parts: ControllerParts, clock: () => number) {
    this.#parts = parts;
    this.#nodes = parts.objects.of(NODES);
    this.#leases = parts.objects.of(LEASES);
    this.#events = parts.events('node-controller');
    this.#clock = clock;
  }

  get caches() {
    return [this.#nodes, this.#leases, this.#parts.objects.of<Pod>(PODS)];
  }

  /** Checks all nodes once. If writing a node fails, this is logged and the remaining nodes are still checked. */
  async pass(): Promise<void> {
    const nowMs = this.#clock();
    this.#reportChanges();
    for (const node of this.#nodes.list()) await this.#tryTo(node, () => this.#checkHealth(node, nowMs));
    const nodes = this.#nodes.list();
    const allLost = areAllLost(nodes);
    const zones = Map.groupBy(nodes, zoneOf);
    for (const node of nodes) {
      const intervalMs = taintIntervalMs(zones.get(zoneOf(node))!);
      await this.#tryTo(node, () => this.#setNoExecute(node, { allLost, intervalMs, nowMs }));
    }
  }

  /** Sets the NoSchedule taints of a node. */
  async taint(name: string): Promise<void> {
    const node = this.#nodes.get({ name });
    const taints = node && noScheduleTaints(node, this.#parts.now());
    if (node !== undefined && taints !== undefined) await this.#setTaints(node, taints);
  }

  /** Marks a newly assigned pod as not ready if its node is not ready. */
  async markAssigned(pod: Pod): Promise<void> {
    const node = this.#nodes.get({ name: pod.spec.nodeName ?? '' });
    const ready = node && readyOf(node);
    if (ready !== undefined && ready.status !== 'True') await this.#markNotReady(pod);
  }

  #reportChanges(): void {
    const nodes = new Map(this.#nodes.list().map((node) => [node.metadata.name ?? '', node]));
    for (const [name, node] of nodes)
      if (!this.#health.has(name)) this.#report(node, 'RegisteredNode', `Registered Node ${name} in Controller`);
    for (const [name, { uid = '' }] of this.#health) {
      if (nodes.has(name)) continue;
      this.#health.delete(name);
      this.#ready.delete(name);
      this.#report({ metadata: { name, uid } }, 'RemovingNode', `Removing Node ${name} from Controller`);
    }
  }

  #report({ metadata }: Pick<Node, 'metadata'>, reason: string, text: string): void {
    this.#events.event(nodeSubject({ metadata }), 'Normal', reason, `Node ${metadata.name} event: ${text}`);
  }

  async #checkHealth(node: Node, nowMs: number): Promise<void> {
    const { name = '' } = node.metadata;
    const lease = this.#leases.get({ namespace: LEASE_NAMESPACE, name });
    const health = observe(this.#health.get(name), { node, lease, nowMs });
    const wasReady = this.#wasReady(node);
    this.#health.set(name, health);
    const conditions = isLost(node, health, nowMs) ? lostConditions(node, this.#parts.now()) : undefined;
    const isReady = (conditions === undefined ? readyOf(node)?.status : 'Unknown') === 'True';
    if (conditions !== undefined) await this.#writeConditions(node, conditions);
    if (wasReady && !isReady) await this.#becameNotReady(node);
    this.#ready.set(name, isReady);
  }

  async #becameNotReady(node: Node): Promise<void> {
    const { name = '' } = node.metadata;
    const message = `Node ${name} status is now: NodeNotReady`;
    this.#events.event(nodeSubject(node), 'Normal', 'NodeNotReady', message);
    const pods = this.#parts.objects.of<Pod>(PODS).list();
    const own = pods.filter(({ spec }) => spec.nodeName === name);
    await everyCall(own, (pod) => this.#markNotReady(pod));
  }

  #wasReady(node: Node): boolean {
    return this.#ready.get(node.metadata.name ?? '') ?? readyOf(node)?.status === 'True';
  }

  async #writeConditions(node: Node, conditions: NodeCondition[]): Promise<void> {
    await writeStatus(this.#parts, NODES, { ...node, status: { ...node.status, conditions } });
  }

  async #markNotReady(pod: Pod): Promise<void> {
    const ready = readyCondition(pod);
    if (ready === undefined || ready.status === 'False') return;
    const { client, objects, now, signal } = this.#parts;
    const { namespace, name, uid } = pod.metadata;
    const condition = { type: 'Ready', status: 'False', lastTransitionTime: formatTime(now()) };
    const body = { metadata: { uid }, status: { conditions: [condition] } };
    const patch = { type: 'strategic' as const, body, subresource: 'status' };
    try {
      objects.of<Pod>(PODS).written(await client.patch<Pod>(PODS, { namespace, name }, patch, { signal }));
    } catch (error) {
      if (isApiStatus(error, 404) || isApiStatus(error, 409)) return; // the pod was removed, and may have a successor
      throw error;
    }
    this.#events.event(eventSubject(pod), 'Warning', 'NodeNotReady', 'Node is not ready');
  }

  async #setNoExecute(
    node: Node,
    { allLost, intervalMs, nowMs }: { allLost: boolean; intervalMs: number | undefined; nowMs: number },
  ): Promise<void> {
    const taints = noExecuteTaints(node, allLost, this.#parts.now());
    if (taints === undefined) return;
    const count = (list: readonly Taint[] = []) => list.filter(({ effect }) => effect === 'NoExecute').length;
    if (count(taints) > count(node.spec?.taints)) {
      const zone = zoneOf(node);
      const lastMs = this.#taintedMs.get(zone) ?? Number.NEGATIVE_INFINITY;
      if (intervalMs === undefined || nowMs - lastMs < intervalMs) return;
      this.#taintedMs.set(zone, nowMs);
    }
    await this.#setTaints(node, taints);
  }

  /** Patches the node's taints. The patch contains the resource version, so it fails if another client has changed the node. */
  async #setTaints({ metadata }: Node, taints: Taint[]): Promise<void> {
    const { client, objects, signal } = this.#parts;
    const { name = '', resourceVersion } = metadata;
    const body = { metadata: { resourceVersion }, spec: { taints: taints.length === 0 ? null : taints } };
    const written = await client.patch<Node>(NODES, { name }, { type: 'merge', body }, { signal });
    objects.of<Node>(NODES).written(written);
  }

  async #tryTo({ metadata }: Node, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#parts.signal.throwIfAborted();
      if (isApiStatus(error, 404) || isApiStatus(error, 409)) return; // the next pass reads the node again
      const context = { node: metadata.name, error: errorMessage(error) };
      this.#parts.logger.warn(context, 'failed to update a node, trying again');
    }
  }
}

const nodeSubject = ({ metadata }: Pick<Node, 'metadata'>): EventSubject => ({
  ...{ apiVersion: 'v1', kind: 'Node', namespace: '' },
  name: metadata.name ?? '',
  uid: metadata.uid ?? '',
});
