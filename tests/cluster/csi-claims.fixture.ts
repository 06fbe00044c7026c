/** Claims and volumes of a CSI driver, in the state that a cluster's controllers leave them in. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type ApiObject, type Cluster, pathOf } from './cluster.fixture.ts';

type ClaimOptions = { owner?: ApiObject; volumeMode?: 'Filesystem' | 'Block' };

export class CsiClaims {
  readonly #cluster: Cluster;
  readonly #driver: string;
  readonly #node: string;
  readonly #attached = new Set<string>();

  constructor(cluster: Cluster, { driver, node }: { driver: string; node: string }) {
    this.#cluster = cluster;
    this.#driver = driver;
    this.#node = node;
  }

  /** Creates the CSIDriver object. */
  async register(): Promise<void> {
    await this.#cluster.apply({
      ...{ apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name: this.#driver } },
      spec: { attachRequired: true, podInfoOnMount: true, fsGroupPolicy: 'File', volumeLifecycleModes: ['Persistent'] },
    });
  }

  /** Sets an object's status, as a controller would. Creates the object if it does not exist. */
  async setStatus(object: ApiObject, status: object): Promise<void> {
    if ((await this.#cluster.find(object)) === undefined) await this.#cluster.apply(object);
    const answer = await this.#cluster.admin.patch(`${pathOf(object)}/status`, 'merge', { status });
    assert.ok(answer.status < 300, answer.text);
  }

  /** Creates a claim and its volume `pv-CLAIM`, bound as by the PV controller. */
  async bound(claim: string, { owner, volumeMode = 'Filesystem' }: ClaimOptions = {}): Promise<void> {
    const spec = { accessModes: ['ReadWriteOnce'], volumeMode };
    const metadata = {
      name: claim,
      namespace: 'default',
      ownerReferences: owner && [
        { apiVersion: 'v1', kind: 'Pod', name: owner.metadata.name, uid: owner.metadata.uid, controller: true },
      ],
    };
    const request = { resources: { requests: { storage: '1Gi' } }, storageClassName: '', volumeName: `pv-${claim}` };
    const volumeClaim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec: { ...spec, ...request } };
    const wanted = volumeClaim as unknown as ApiObject;
    const isMadeForUs = this.#cluster.own === undefined && owner !== undefined;
    const stored = isMadeForUs ? await this.#cluster.until(wanted, () => true) : (await this.#cluster.apply(wanted))[0];
    const volume = {
      ...{ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: `pv-${claim}` } },
      spec: {
        ...{ ...spec, capacity: { storage: '1Gi' }, persistentVolumeReclaimPolicy: 'Retain' },
        claimRef: { namespace: 'default', name: claim, uid: stored!.metadata.uid },
        csi: { driver: this.#driver, volumeHandle: claim, volumeAttributes: { tier: 'fast' } },
      },
    };
    await this.setStatus(volume as unknown as ApiObject, { phase: 'Bound' });
    await this.setStatus(wanted, {
      phase: 'Bound',
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
    });
  }

  /** Creates a claim's VolumeAttachment, like the attach/detach controller. */
  async attach(claim: string): Promise<void> {
    await this.setStatus(
      {
        ...this.#attachmentOf(claim),
        spec: { attacher: this.#driver, nodeName: this.#node, source: { persistentVolumeName: `pv-${claim}` } },
      } as unknown as ApiObject,
      { attached: true, attachmentMetadata: { device: '/dev/disk' } },
    );
    if (this.#cluster.own === undefined) return; // a real controller updates the node's status itself
    this.#attached.add(this.#nameOf(claim));
    await this.#reportAttached();
  }

  /**
   * Removes the volume from the node's status, then deletes the VolumeAttachment, like the attach/detach controller. Not for use with a
   * real control plane.
   */
  async detach(claim: string): Promise<void> {
    this.#attached.delete(this.#nameOf(claim));
    await this.#reportAttached();
    await this.#cluster.delete(this.#attachmentOf(claim));
  }

  #nameOf(claim: string): string {
    return `kubernetes.io/csi/${this.#driver}^${claim}`;
  }

  #attachmentOf(claim: string) {
    const id = createHash('sha256').update(`${claim}${this.#driver}${this.#node}`).digest('hex');
    return { apiVersion: 'storage.k8s.io/v1', kind: 'VolumeAttachment', metadata: { name: `csi-${id}` } };
  }

  async #reportAttached(): Promise<void> {
    const volumesAttached = [...this.#attached].map((name) => ({ name, devicePath: '' }));
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: this.#node } };
    await this.setStatus(node, { volumesAttached });
  }
}
