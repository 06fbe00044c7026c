import { errorMessage, type Logger, pause } from '@podwright/base';
import { type EventRecorder, type Node, nodeSubject } from '@podwright/kube-api';
import { compareVersions, type Informer, isApiStatus, type KubeClient, NODES } from '@podwright/kube-client';
import { HEARTBEAT_JITTER, NODE_PROMPT_PERIOD_MS, NODE_STATUS_TRIES } from './limits.ts';
import { type NodeEvent, nodeStatusEvent } from './node-conditions.ts';
import { nodePatch } from './node-patch.ts';
import type { ObservedNode } from './observed-node.ts';
import { type NodeUpdate, updateNode } from './update-node.ts';

export type NodeReporterOptions = {
  name: string;
  heartbeatClient: KubeClient;
  /** Timeout for each request through `heartbeatClient`, such as writing the node status. */
  timeoutMs: number;
  informer: Pick<Informer<Node>, 'get'>;
  /**
   * Resolves with the registered Node object, or with `undefined` if the kubelet does not register the node (`registerNode: false`). The
   * first report waits for it.
   */
  registered: Promise<Node | undefined>;
  /**
   * Registers the node again when its Node object has been deleted. Default: like upstream, registers it only when the kubelet next starts.
   */
  registerAgain?: (signal: AbortSignal) => Promise<Node | undefined>;
  observe: (signal: AbortSignal) => Promise<ObservedNode>;
  /** Called with the API server's node object at the beginning and at the end of each report. */
  onNode?: (node: Node) => Promise<void>;
  statusUpdateMs: number;
  statusReportMs: number;
  events: EventRecorder;
  logger: Logger;
};

/**
 * Keeps the status of the Node object up to date. Computes the status every `statusUpdateMs`, and immediately after `prompt` is called.
 * Writes it if it has changed, and at least every `statusReportMs`.
 */
export class NodeReporter {
  readonly #options: NodeReporterOptions;
  /**
   * The newest known state of the server's Node object, either as read or as written by the last report. In the latter case, it lacks
   * `volumesAttached`.
   */
  #latest: Node | undefined;
  /** Whether the informer has ever had the Node object. If so, the object's absence means that it was deleted. */
  #wasInformed = false;
  #reportedAtMs: number | undefined;
  /** Jitter for the next report of an unchanged status, so that the nodes of a cluster do not all report at once. */
  #reportOffsetMs = 0;
  #isRebootEmitted = false;
  #unschedulable = false;
  #wake = new AbortController();
  /**
   * Whether the API server has been restored from a backup and the Node object has not been read since. The informer might then hold a
   * newer version that the server has lost.
   */
  #isInformerStale = false;
  #isFailing = false;

  constructor(options: NodeReporterOptions) {
    this.#options = options;
  }

  /** Reports the node status, from the node's registration until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    this.#latest = await this.#options.registered;
    while (!signal.aborted) {
      this.#wake = new AbortController(); // a call of `prompt` during this report causes another report
      await this.#report(signal);
      await this.#pause(signal);
    }
  }

  /** Triggers an early report, because the node's readiness or its volumes in use may have changed. */
  prompt(): void {
    this.#wake.abort();
  }

  /** Must be called when the API server has been restored from a backup. Reads the server's state, and reports the status immediately. */
  serverRestored(): void {
    this.#isInformerStale = true;
    this.prompt();
  }

  /** Returns the last known Node object; `undefined` if none is known yet or if the object was deleted. */
  node(): Node | undefined {
    const known = this.#informed();
    if (known === undefined) return this.#wasInformed ? undefined : this.#latest;
    return isNewer(this.#latest, known) ? this.#latest : known;
  }

  /**
   * Whether the informer's object is older than `#latest`. Either the informer lags, or the API server was restored from a backup; only
   * reading the object from the server shows which.
   */
  #isInDoubt(): boolean {
    const known = this.#informed();
    return known !== undefined && isNewer(this.#latest, known);
  }

  #informed(): Node | undefined {
    const { informer, name } = this.#options;
    const known = informer.get({ name });
    this.#wasInformed ||= known !== undefined;
    return known;
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const periodMs = this.#options.statusUpdateMs * (1 + HEARTBEAT_JITTER * Math.random());
    await pause(Math.min(NODE_PROMPT_PERIOD_MS, periodMs), signal);
    const woken = AbortSignal.any([signal, this.#wake.signal]);
    await pause(Math.max(0, periodMs - NODE_PROMPT_PERIOD_MS), woken);
  }

  /**
   * Reports the status. The first attempt uses the informer's object, which is usually up to date; further attempts read the object from
   * the API server.
   */
  async #report(signal: AbortSignal): Promise<void> {
    const { heartbeatClient, logger } = this.#options;
    let problem = '';
    for (let attempt = 0; attempt < NODE_STATUS_TRIES && !signal.aborted; attempt++) {
      try {
        await this.#tryReport(attempt, signal);
        this.#isFailing = false;
        return;
      } catch (error) {
        problem = errorMessage(error);
        if (isApiStatus(error, 404)) await this.#registerAgain(signal);
        if (attempt > 0) heartbeatClient.reconnect();
      }
    }
    if (signal.aborted) return;
    if (!this.#isFailing) logger.error({ error: problem }, 'the status of the node could not be reported');
    this.#isFailing = true;
  }

  async #tryReport(attempt: number, signal: AbortSignal): Promise<void> {
    const { name, observe, onNode } = this.#options;
    const isTrusted = attempt === 0 && !this.#isInformerStale && !this.#isInDoubt();
    const before = isTrusted ? this.node() : await this.#read(signal);
    if (before === undefined) throw new Error(`error getting node "${name}": node "${name}" not found`);
    await onNode?.(before);
    const update = updateNode(before, await observe(signal));
    this.#emitSchedulable(before);
    if (!update.changed && !this.#isDue()) return;
    await this.#write(before, update, signal);
  }

  /** Registers the node again after its object was deleted. The new object has no status, so the next report writes all of it. */
  async #registerAgain(signal: AbortSignal): Promise<void> {
    const { registerAgain } = this.#options;
    if (registerAgain === undefined || (await this.#options.registered) === undefined || signal.aborted) return;
    this.#latest = await registerAgain(signal);
    this.#reportedAtMs = undefined;
  }

  async #write(before: Node, update: NodeUpdate, signal: AbortSignal): Promise<void> {
    const { heartbeatClient, name, timeoutMs, onNode } = this.#options;
    const isFirst = this.#reportedAtMs === undefined;
    const patch = { type: 'strategic' as const, body: nodePatch(before, update.node), subresource: 'status' };
    const metadata = await heartbeatClient.patchForMetadata(NODES, { name }, patch, { signal, timeoutMs });
    // leave volumesAttached unknown: the attach-detach controller writes it, and the patch response contains only metadata, so its value at
    // this version arrives only with the watch
    this.#latest = { ...update.node, metadata, status: { ...update.node.status, volumesAttached: undefined } };
    this.#reportedAtMs = performance.now();
    this.#reportOffsetMs = update.changed || isFirst ? this.#options.statusReportMs * (Math.random() - 0.5) : 0;
    for (const event of update.events) this.#emit(event);
    await onNode?.(this.#latest);
  }

  #isDue(): boolean {
    if (this.#reportedAtMs === undefined) return true;
    return performance.now() - this.#reportedAtMs >= this.#options.statusReportMs + this.#reportOffsetMs;
  }

  async #read(signal: AbortSignal): Promise<Node> {
    const { heartbeatClient, name, timeoutMs } = this.#options;
    this.#latest = await heartbeatClient.get<Node>(NODES, { name }, { signal, timeoutMs });
    this.#isInformerStale = false;
    return this.#latest;
  }

  #emitSchedulable({ spec }: Node): void {
    const unschedulable = spec?.unschedulable === true;
    if (unschedulable === this.#unschedulable) return;
    this.#unschedulable = unschedulable;
    this.#emit(nodeStatusEvent(this.#options.name, unschedulable ? 'NodeNotSchedulable' : 'NodeSchedulable'));
  }

  /** Emits an event. Rebooted is emitted at most once, because the host cannot reboot while the kubelet runs. */
  #emit({ type, reason, message }: NodeEvent): void {
    if (reason === 'Rebooted' && this.#isRebootEmitted) return;
    this.#isRebootEmitted ||= reason === 'Rebooted';
    this.#options.events.event(nodeSubject(this.#options.name), type, reason, message);
  }
}

/** Whether `one` has a higher resource version than `other`. A recreated Node object has a different UID but always a higher version. */
function isNewer(one: Node | undefined, other: Node): one is Node {
  return one !== undefined && (compareVersions(one.metadata.resourceVersion, other.metadata.resourceVersion) ?? 0) > 0;
}
