/** Keeps nodes without a kubelet ready: updates their conditions and renews their Leases every ten seconds. */
import { formatTime, type KubeObject } from '@podwright/kube-api';
import { type KubeClient, LEASES, NODES } from '@podwright/kube-client';

const INTERVAL_MS = 10_000;

export class Heartbeats {
  readonly #client: KubeClient;
  readonly #nodes: Set<string>;
  readonly #timer: NodeJS.Timeout;
  #sent: Promise<void>;

  constructor(client: KubeClient, nodes: string[]) {
    this.#client = client;
    this.#nodes = new Set(nodes);
    this.#sent = this.#send();
    this.#timer = setInterval(() => {
      this.#sent = this.#sent.then(() => this.#send());
    }, INTERVAL_MS);
  }

  /** Stops the heartbeats of a node, as if its kubelet had stopped. */
  remove(node: string): void {
    this.#nodes.delete(node);
  }

  async add(node: string): Promise<void> {
    this.#nodes.add(node);
    await this.#beat(node);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sent;
  }

  async #send(): Promise<void> {
    await Promise.all([...this.#nodes].map((node) => this.#beat(node)));
  }

  async #beat(name: string): Promise<void> {
    const time = formatTime(Date.now());
    const condition = {
      type: 'Ready',
      status: 'True',
      reason: 'KubeletReady',
      message: 'kubelet is posting ready status',
    };
    const conditions = [{ ...condition, lastHeartbeatTime: time, lastTransitionTime: time }];
    const allocatable = { cpu: '8', memory: '16Gi', pods: '110' };
    const status = { conditions, allocatable, capacity: allocatable };
    await this.#client.patch(NODES, { name }, { type: 'strategic', body: { status }, subresource: 'status' });
    const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime: time.replace('Z', '.000000Z') };
    const lease = { metadata: { namespace: 'kube-node-lease', name }, spec } as KubeObject;
    const place = { namespace: 'kube-node-lease', name };
    await this.#client
      .patch(LEASES, place, { type: 'merge', body: { spec } })
      .catch(() => this.#client.create(LEASES, lease));
  }
}
