/**
 * Assigns pods to nodes and reports their states, like a scheduler and kubelets, but without containers. The first container's command
 * consists of exit codes by completion index, such as `0,1`; if there is no number, the pod runs until it is deleted. A pod with the broken
 * image runs but never becomes ready.
 */
import { formatTime, type KubeObject, type Pod } from '@podwright/kube-api';
import { type Informer, isApiStatus, type KubeClient, NODES, PODS, startInformer } from '@podwright/kube-client';
import { BROKEN_IMAGE } from './fake-kubelet.fixture.ts';

const DEFAULT_NODE = 'n1';

export class ScriptedKubelet {
  readonly #client: KubeClient;
  readonly #informer: Informer<Pod>;
  readonly #busy = new Map<string, Promise<void>>();
  /** Pod addresses by pod UID. */
  readonly #addresses = new Map<string, string>();

  /** Creates the node `n1` and starts handling pods. */
  static async start(client: KubeClient): Promise<ScriptedKubelet> {
    await addNode(client, DEFAULT_NODE);
    return new ScriptedKubelet(client);
  }

  constructor(client: KubeClient) {
    this.#client = client;
    this.#informer = startInformer<Pod>(client, { resource: PODS, onChange: ({ object }) => this.#changed(object) });
  }

  async stop(): Promise<void> {
    this.#informer.stop();
    await Promise.all(this.#busy.values());
  }

  /** Handles the changes of a pod one at a time. If another client has modified the pod meanwhile, it is handled at its next change. */
  #changed({ metadata: { namespace, name } }: Pod): void {
    const key = `${namespace}/${name}`;
    const before = this.#busy.get(key) ?? Promise.resolve();
    const next = before
      .then(() => this.#sync(namespace, name))
      .catch((error: unknown) => {
        if (!isApiStatus(error, 404) && !isApiStatus(error, 409)) throw error;
      });
    this.#busy.set(key, next);
  }

  async #sync(namespace: string, name: string): Promise<void> {
    const pod = this.#informer.get({ namespace, name });
    if (pod === undefined) return;
    const { metadata, spec, status } = pod;
    const hasEnded = status?.phase === 'Succeeded' || status?.phase === 'Failed';
    if (metadata.deletionTimestamp !== undefined) {
      if (!hasEnded && spec.nodeName !== undefined) return this.#end(pod, 137);
      const how = { gracePeriodSeconds: 0, preconditions: { uid: metadata.uid } };
      return this.#client.delete(PODS, { namespace, name }, how);
    }
    if (spec.nodeName === undefined) return this.#bind(pod);
    if (status?.phase === 'Pending') return this.#run(pod);
    const code = exitCode(pod);
    if (status?.phase === 'Running' && code !== undefined) await this.#end(pod, code);
  }

  async #bind({ metadata: { namespace, name }, spec }: Pod): Promise<void> {
    const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
    const [node = DEFAULT_NODE] = required?.nodeSelectorTerms[0]?.matchFields?.[0]?.values ?? [];
    const target = { apiVersion: 'v1', kind: 'Node', name: node };
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { namespace, name }, target };
    await this.#client.create(PODS, binding as KubeObject, { subresource: 'binding' });
  }

  #run(pod: Pod): Promise<void> {
    const podIP = this.#addressOf(pod);
    const isReady = pod.spec.containers.every(({ image }) => image !== BROKEN_IMAGE) ? 'True' : 'False';
    const started = { podIP, podIPs: [{ ip: podIP }], startTime: formatTime(Date.now()) };
    return this.#report(pod, { phase: 'Running', ...started, conditions: readiness(isReady) });
  }

  #addressOf({ metadata: { uid = '' } }: Pod): string {
    const number = this.#addresses.size;
    const address = this.#addresses.get(uid) ?? `10.9.${Math.floor(number / 250)}.${(number % 250) + 1}`;
    this.#addresses.set(uid, address);
    return address;
  }

  #end(pod: Pod, code: number): Promise<void> {
    const finishedAt = formatTime(Date.now());
    const terminated = { exitCode: code, finishedAt, reason: code === 0 ? 'Completed' : 'Error' };
    const { name, image } = pod.spec.containers[0]!;
    const fixed = { image, imageID: '', ready: false, restartCount: 0, lastState: {} };
    const containerStatuses = [{ name, state: { terminated }, ...fixed }];
    const phase = code === 0 ? 'Succeeded' : 'Failed';
    return this.#report(pod, { phase, conditions: readiness('False'), containerStatuses });
  }

  async #report({ metadata: { namespace, name } }: Pod, status: object): Promise<void> {
    const patch = { type: 'strategic' as const, body: { status }, subresource: 'status' };
    await this.#client.patch(PODS, { namespace, name }, patch);
  }
}

/** Creates a node without taints, so that it accepts pods. */
export async function addNode(client: KubeClient, name: string): Promise<void> {
  await client.create(NODES, { metadata: { name } });
  await client.patch(NODES, { name }, { type: 'merge', body: { spec: { taints: null } } });
}

function readiness(status: 'True' | 'False'): object[] {
  return ['Ready', 'ContainersReady'].map((type) => ({ type, status, lastTransitionTime: formatTime(Date.now()) }));
}

function exitCode({ metadata, spec }: Pod): number | undefined {
  const index = Number(metadata.annotations?.['batch.kubernetes.io/job-completion-index'] ?? 0);
  const code = spec.containers[0]!.command?.[0]?.split(',')[index];
  return code !== undefined && /^\d+$/.test(code) ? Number(code) : undefined;
}
