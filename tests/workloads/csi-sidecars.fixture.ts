/**
 * Does the work of a CSI driver's external-provisioner and external-attacher, by polling the node's Kubernetes API over its Unix socket.
 */
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

export type StoredObject = {
  metadata: {
    name: string;
    namespace?: string;
    uid: string;
    annotations?: Record<string, string>;
    finalizers?: string[];
  } & Record<string, unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: fields of any kind
} & Record<'spec' | 'status', any>;

/** Calls the node's Kubernetes API. Rejects unless the status is 2xx or 404; returns undefined for 404. */
export class NodeApi {
  readonly #socketPath: string;

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  get<T = StoredObject>(path: string): Promise<T | undefined> {
    return this.call('GET', path);
  }

  async list(path: string): Promise<StoredObject[]> {
    return (await this.get<{ items: StoredObject[] }>(path))?.items ?? [];
  }

  patch(path: string, body: object): Promise<StoredObject | undefined> {
    return this.call('PATCH', path, body);
  }

  async call<T = StoredObject>(method: string, path: string, body?: object): Promise<T | undefined> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
    const headers = body === undefined ? {} : { 'content-type': type };
    const sent = request({ socketPath: this.#socketPath, method, path, headers }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve({ status: response.statusCode ?? 0, text });
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    const { status, text } = await promise;
    if (status === 404) return undefined;
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
    return JSON.parse(text) as T;
  }
}

const VOLUMES = '/api/v1/persistentvolumes';
const ATTACHMENTS = '/apis/storage.k8s.io/v1/volumeattachments';

export class CsiSidecars {
  readonly #api: NodeApi;
  readonly #driver: string;
  readonly #stopping = new AbortController();
  readonly #ended: Promise<void>;
  /** The calls that the attacher has completed, in order: `attach` or `detach`. */
  readonly done: string[] = [];
  /** Whether the attacher attaches volumes, or leaves them pending. */
  attaches = false;

  constructor(api: NodeApi, driver: string) {
    this.#api = api;
    this.#driver = driver;
    this.#ended = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await this.#provision();
      await this.#attach();
      await sleep(50);
    }
  }

  async #provision(): Promise<void> {
    for (const { metadata, spec } of await this.#api.list('/api/v1/persistentvolumeclaims')) {
      if (metadata.annotations?.['volume.kubernetes.io/storage-provisioner'] !== this.#driver || spec.volumeName)
        continue;
      const name = `pvc-${metadata.uid}`;
      if ((await this.#api.get(`${VOLUMES}/${name}`)) !== undefined) continue;
      await this.#api.call('POST', VOLUMES, {
        ...{ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name } },
        spec: {
          ...{
            accessModes: spec.accessModes,
            storageClassName: spec.storageClassName,
            capacity: spec.resources.requests,
          },
          claimRef: { namespace: metadata.namespace, name: metadata.name, uid: metadata.uid },
          csi: { driver: this.#driver, volumeHandle: metadata.name },
          persistentVolumeReclaimPolicy: 'Retain',
        },
      });
    }
  }

  /** Attaches and detaches volumes, like the external-attacher: adds a finalizer before attaching, and removes it after detaching. */
  async #attach(): Promise<void> {
    for (const { metadata, spec, status } of await this.#api.list(ATTACHMENTS)) {
      const path = `${ATTACHMENTS}/${metadata.name}`;
      if (metadata.deletionTimestamp !== undefined) {
        this.done.push('detach');
        await this.#api.patch(path, { metadata: { finalizers: null } });
      } else if (spec.attacher === this.#driver && this.attaches && status?.attached !== true) {
        await this.#api.patch(path, {
          metadata: { finalizers: [`external-attacher/${this.#driver.replace('.', '-')}`] },
        });
        this.done.push('attach');
        await this.#api.patch(`${path}/status`, {
          status: { attached: true, attachmentMetadata: { device: '/dev/disk' } },
        });
      }
    }
  }
}
