import { errorCode, isNotFound } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import { isWorkload, type Workload, type WorkloadState, workloadState } from '@podwright/kube-view';
import type { ApplyResult } from '@podwright/node-api';
import type { LocatedObject } from '../client/api-path.ts';
import type { NodeClient } from '../client/node-client.ts';
import { isLostConnection } from '../client/unix-http.ts';

type AppliedObject = ApplyResult['objects'][number];
type Reader = Pick<NodeClient, 'locate' | 'readObject' | 'watchObject'>;
type Followed = AppliedObject & { apiVersion: string; uid: string };

/** Kinds between a workload and its pods: ReplicaSets for a Deployment, Jobs for a CronJob. */
const BETWEEN: ReadonlySet<string> = new Set(['ReplicaSet', 'Job']);

/** The workloads applied by a `podwright run` command: their states, and the pods that they create. */
export class RunWorkloads {
  readonly objects: readonly Followed[];
  readonly #client: Reader;
  readonly #states = new Map<string, WorkloadState>();
  readonly #removed = new Set<string>();
  /** For each ReplicaSet and Job, by UID, the UID of the workload that owns it; '' if it is owned by none of this command's workloads. */
  readonly #above = new Map<string, string>();

  constructor(client: Reader, applied: readonly AppliedObject[]) {
    this.#client = client;
    this.objects = applied.filter(
      (object): object is Followed => object.apiVersion !== undefined && object.uid !== undefined && isWorkload(object),
    );
  }

  /** Returns a workload's state; undefined until it has been read. */
  stateOf(uid: string): WorkloadState | undefined {
    return this.#states.get(uid);
  }

  isRemoved(uid: string): boolean {
    return this.#removed.has(uid);
  }

  /** Whether another client removed a workload before it had finished. */
  isLost(uid: string): boolean {
    return this.#removed.has(uid) && this.#states.get(uid)?.isOver !== true;
  }

  isJob(uid: string): boolean {
    return this.objects.some((object) => object.uid === uid && object.kind === 'Job');
  }

  /** Returns the UID of the workload that created a pod; undefined if it is not one of this command's workloads. */
  async ownerOf(pod: Pod): Promise<string | undefined> {
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller === true);
    if (owner === undefined || this.objects.length === 0) return undefined;
    if (this.#has(owner.uid)) return owner.uid;
    if (!BETWEEN.has(owner.kind)) return undefined;
    const known = this.#above.get(owner.uid) ?? (await this.#readAbove(owner, pod.metadata.namespace));
    return known === '' ? undefined : known;
  }

  /** Keeps the states up to date until the signal aborts. Reconnects if the connection is lost; rejects with the client's other errors. */
  async watch(signal: AbortSignal, changed: () => void): Promise<void> {
    if (this.objects.length === 0) return;
    const located = await this.#client.locate(this.objects);
    const uidOf = ({ kind, name, namespace }: LocatedObject) =>
      this.objects.find((one) => one.kind === kind && one.name === name && one.namespace === namespace)!.uid;
    await Promise.all(located.map((object) => this.#watchOne(object, uidOf(object), { signal, changed })));
  }

  async #watchOne(
    object: LocatedObject,
    uid: string,
    { signal, changed }: { signal: AbortSignal; changed: () => void },
  ): Promise<void> {
    while (!signal.aborted) {
      let exists = false;
      try {
        for await (const change of this.#client.watchObject(object.path, signal)) {
          if (change.type === 'listed') {
            if (!exists) this.#removed.add(uid); // before the watch began
          } else if (change.object.metadata.uid === uid && change.type !== 'DELETED') {
            exists = true;
            this.#states.set(uid, workloadState({ ...change.object, kind: object.kind } as Workload));
          } else this.#removed.add(uid);
          changed();
        }
      } catch (error) {
        if (signal.aborted) return;
        if (!isLostConnection(error)) throw error;
      }
    }
  }

  #has(uid: string): boolean {
    return this.objects.some((object) => object.uid === uid);
  }

  async #readAbove(
    { apiVersion, kind, name, uid }: { apiVersion: string; kind: string; name: string; uid: string },
    namespace: string,
  ): Promise<string> {
    const [located] = await this.#client.locate([{ apiVersion, kind, namespace, name }]);
    const object = await this.#client.readObject(located!.path).catch((error: unknown) => {
      if (isNotFound(error) || errorCode(error) === 'invalid_argument') return undefined;
      throw error;
    });
    const owner = object?.metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid ?? '';
    const workload = object?.metadata.uid === uid && this.#has(owner) ? owner : '';
    this.#above.set(uid, workload);
    return workload;
  }
}
