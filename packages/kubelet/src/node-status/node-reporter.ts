import { errorMessage, type Logger, sleep } from '@podwright/base';
import { type EventRecorder, type Node, nodeSubject } from '@podwright/kube-api';
import { compareVersions, type Informer, type KubeClient, NODES } from '@podwright/kube-client';
import { HEARTBEAT_JITTER, NODE_PROMPT_PERIOD_MS, NODE_STATUS_TRIES } from './limits.ts';
import { type NodeEvent, nodeStatusEvent } from './node-conditions.ts';
import { nodePatch } from './node-patch.ts';
import type { ObservedNode } from './observed-node.ts';
import { type NodeUpdate, updateNode } from './update-node.ts';

export type NodeReporterOptions = {
  name: string;
  heartbeatClient: KubeClient;
  /** How long a heartbeat may take. */
  timeoutMs: number;
  informer: Pick<Informer<Node>, 'get'>;
  /** The node object as it was registered; the first report waits for it. `undefined` where somebody else makes it. */
  registered: Promise<Node | undefined>;
  observe: (signal: AbortSignal) => Promise<ObservedNode>;
  /** Called with what the API server has, as each report begins and ends. */
  onNode?: (node: Node) => Promise<void>;
  statusUpdateMs: number;
  statusReportMs: number;
  events: EventRecorder;
  logger: Logger;
};

/**
 * Keeps the status of the node object right. It is worked out every ten seconds, and as soon as something tells that the node has
 * become ready or is not any more; it is written if it has changed, and after five minutes in any case.
 */
export class NodeReporter {
  readonly #options: NodeReporterOptions;
  /** What the server has answered last. */
  #answered: Node | undefined;
  /** The informer has shown the node object: if it shows none any more, it is gone. */
  #shown = false;
  #reportedAtMs: number | undefined;
  /** Added to the time between reports of what has not changed, so that not all nodes of a cluster report at once. */
  #delayMs = 0;
  #rebootTold = false;
  #unschedulable = false;
  #wake = new AbortController();
  /** What the informer shows may be of another past than the server's. */
  #distrusts = false;
  #failing = false;

  constructor(options: NodeReporterOptions) {
    this.#options = options;
  }

  /** Reports from when the node is registered until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    this.#answered = await this.#options.registered;
    while (!signal.aborted) {
      this.#wake = new AbortController(); // what is told while it reports asks for one more
      await this.#report(signal);
      await this.#pause(signal);
    }
  }

  /** Something that decides whether the node is ready is another than before. */
  prompt(): void {
    this.#wake.abort();
  }

  /** The server was restored from a backup: it is asked what it has, and told soon what is. */
  distrust(): void {
    this.#distrusts = true;
    this.prompt();
  }

  /** The node object as it was last seen; `undefined` before there is one, or when it is gone. */
  node(): Node | undefined {
    const { informer, name } = this.#options;
    const known = informer.get({ name });
    if (known === undefined) return this.#shown ? undefined : this.#answered;
    this.#shown = true;
    return isNewer(this.#answered, known) ? this.#answered : known;
  }

  /** The informer has not heard yet of what was answered, or the server was restored from a backup: only it knows. */
  #isInDoubt(): boolean {
    const { informer, name } = this.#options;
    const known = informer.get({ name });
    return known !== undefined && isNewer(this.#answered, known);
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const periodMs = this.#options.statusUpdateMs * (1 + HEARTBEAT_JITTER * Math.random());
    await sleep(Math.min(NODE_PROMPT_PERIOD_MS, periodMs), signal).catch(() => undefined);
    const woken = AbortSignal.any([signal, this.#wake.signal]);
    await sleep(Math.max(0, periodMs - NODE_PROMPT_PERIOD_MS), woken).catch(() => undefined);
  }

  /** The first try takes what the informer has, which is right as a rule; the others ask. */
  async #report(signal: AbortSignal): Promise<void> {
    const { heartbeatClient, logger } = this.#options;
    let problem = '';
    for (let attempt = 0; attempt < NODE_STATUS_TRIES && !signal.aborted; attempt++) {
      try {
        await this.#tryReport(attempt, signal);
        this.#failing = false;
        return;
      } catch (error) {
        problem = errorMessage(error);
        if (attempt > 0) heartbeatClient.reconnect();
      }
    }
    if (signal.aborted) return;
    if (!this.#failing) logger.error({ error: problem }, 'the status of the node could not be told');
    this.#failing = true;
  }

  async #tryReport(attempt: number, signal: AbortSignal): Promise<void> {
    const { name, observe, onNode } = this.#options;
    const isTrusted = attempt === 0 && !this.#distrusts && !this.#isInDoubt();
    const before = isTrusted ? this.node() : await this.#read(signal);
    if (before === undefined) throw new Error(`error getting node "${name}": node "${name}" not found`);
    await onNode?.(before);
    const update = updateNode(before, await observe(signal));
    this.#tellSchedulable(before);
    if (!update.changed && !this.#isDue()) return;
    await this.#write(before, update, signal);
  }

  async #write(before: Node, update: NodeUpdate, signal: AbortSignal): Promise<void> {
    const { heartbeatClient, name, timeoutMs, onNode } = this.#options;
    const isFirst = this.#reportedAtMs === undefined;
    const patch = { type: 'strategic' as const, body: nodePatch(before, update.node), subresource: 'status' };
    const metadata = await heartbeatClient.patchForMetadata(NODES, { name }, patch, { signal, timeoutMs });
    // what is attached others write: that is known again once the watch has told this version
    this.#answered = { ...update.node, metadata, status: { ...update.node.status, volumesAttached: undefined } };
    this.#reportedAtMs = performance.now();
    this.#delayMs = update.changed || isFirst ? this.#options.statusReportMs * (Math.random() - 0.5) : 0;
    for (const event of update.events) this.#tell(event);
    await onNode?.(this.#answered);
  }

  #isDue(): boolean {
    if (this.#reportedAtMs === undefined) return true;
    return performance.now() - this.#reportedAtMs >= this.#options.statusReportMs + this.#delayMs;
  }

  async #read(signal: AbortSignal): Promise<Node> {
    const { heartbeatClient, name, timeoutMs } = this.#options;
    this.#answered = await heartbeatClient.get<Node>(NODES, { name }, { signal, timeoutMs });
    this.#distrusts = false;
    return this.#answered;
  }

  #tellSchedulable({ spec }: Node): void {
    const unschedulable = spec?.unschedulable === true;
    if (unschedulable === this.#unschedulable) return;
    this.#unschedulable = unschedulable;
    this.#tell(nodeStatusEvent(this.#options.name, unschedulable ? 'NodeNotSchedulable' : 'NodeSchedulable'));
  }

  /** A reboot is told once, as it is no other one while the kubelet runs. */
  #tell({ type, reason, message }: NodeEvent): void {
    if (reason === 'Rebooted' && this.#rebootTold) return;
    this.#rebootTold ||= reason === 'Rebooted';
    this.#options.events.event(nodeSubject(this.#options.name), type, reason, message);
  }
}

/** A node object that was made anew has another uid, and always a higher version. */
function isNewer(one: Node | undefined, other: Node): one is Node {
  return one !== undefined && (compareVersions(one.metadata.resourceVersion, other.metadata.resourceVersion) ?? 0) > 0;
}
