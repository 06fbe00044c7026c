/** Binds pods to a node and reports them as running, like a scheduler and a kubelet, but without containers. */
import { formatTime, type KubeObject, type Pod } from '@podwright/kube-api';
import { type Informer, isApiStatus, type KubeClient, NODES, PODS, startInformer } from '@podwright/kube-client';

const NODE = 'n1';
/** Pods with this image never become ready. */
export const BROKEN_IMAGE = 'broken';

export class FakeKubelet {
  readonly #client: KubeClient;
  readonly #informer: Informer<Pod>;
  readonly #busy = new Map<string, Promise<void>>();
  #address = 0;

  /** Creates the node and starts handling its pods. */
  static async start(client: KubeClient): Promise<FakeKubelet> {
    const labels = { 'topology.kubernetes.io/zone': 'z1' };
    await client.create(NODES, { metadata: { name: NODE, labels } }).catch(ignore(409));
    return new FakeKubelet(client);
  }

  constructor(client: KubeClient) {
    this.#client = client;
    this.#informer = startInformer<Pod>(client, {
      resource: PODS,
      onChange: ({ object }) => this.#changed(object),
    });
  }

  async stop(): Promise<void> {
    this.#informer.stop();
    await Promise.all(this.#busy.values());
  }

  /** Handles the changes of a pod one at a time. If another client has modified the pod meanwhile, it is handled at its next change. */
  #changed({ metadata: { namespace, name } }: Pod): void {
    const key = `${namespace}/${name}`;
    const before = this.#busy.get(key) ?? Promise.resolve();
    const next = before.then(() => this.#sync(namespace, name)).catch(ignore(404, 409));
    this.#busy.set(key, next);
  }

  async #sync(namespace: string, name: string): Promise<void> {
    const pod = this.#informer.get({ namespace, name });
    if (pod === undefined) return;
    const { spec, status, metadata } = pod;
    if (metadata.deletionTimestamp !== undefined) return await this.#remove(pod);
    if (spec.nodeName === undefined) return await this.#bind(pod);
    if (status?.phase === 'Pending' && status.podIP === undefined) await this.#report(pod);
  }

  async #bind({ metadata: { namespace, name } }: Pod): Promise<void> {
    const target = { apiVersion: 'v1', kind: 'Node', name: NODE };
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { namespace, name }, target };
    await this.#client.create(PODS, binding as KubeObject, { subresource: 'binding' });
  }

  async #report({ metadata: { namespace, name }, spec, status }: Pod): Promise<void> {
    this.#address++;
    const podIP = `10.9.${Math.floor(this.#address / 250)}.${(this.#address % 250) + 1}`;
    const isReady = spec.containers.every(({ image }) => image !== BROKEN_IMAGE) ? 'True' : 'False';
    const lastTransitionTime = formatTime(Date.now());
    const ready = ['Ready', 'ContainersReady', 'Initialized'].map((type) => ({
      type,
      status: isReady,
      lastTransitionTime,
    }));
    const conditions = [...(status?.conditions ?? []), ...ready];
    const body = { status: { phase: 'Running', podIP, podIPs: [{ ip: podIP }], conditions } };
    await this.#client.patch(PODS, { namespace, name }, { type: 'merge', body, subresource: 'status' });
  }

  async #remove({ metadata: { namespace, name, uid } }: Pod): Promise<void> {
    await this.#client.delete(PODS, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } });
  }
}

function ignore(...codes: number[]): (error: unknown) => void {
  return (error) => {
    if (!codes.some((code) => isApiStatus(error, code))) throw error;
  };
}
