/** Devices of a DRA driver in a cluster. If the cluster has no controllers and no scheduler, does their work on claims. */
import assert from 'node:assert/strict';
import { type ApiObject, type Cluster, pathOf } from './cluster.fixture.ts';

const RESOURCE = 'resource.k8s.io/v1';
const DEVICES = ['dev0', 'dev1', 'dev2', 'dev3'];

type Place = { cluster: Cluster; driver: string; node: string };

export const claimNamed = (name: string) => ({
  ...{ apiVersion: RESOURCE, kind: 'ResourceClaim' },
  metadata: { name, namespace: 'default' },
});

export const podNamed = (name: string) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' } });

export class ClaimedDevices {
  readonly #place: Place;
  readonly slice: ApiObject;

  constructor(place: Place) {
    this.#place = place;
    this.slice = {
      ...{ apiVersion: RESOURCE, kind: 'ResourceSlice', metadata: { name: `${place.node}-slice` } },
      spec: {
        ...{ driver: place.driver, nodeName: place.node },
        pool: { name: 'pool', generation: 1, resourceSliceCount: 1 },
        devices: DEVICES.map((name) => ({ name })),
      },
    };
  }

  /** Publishes the devices. `extendedResource`: the resource name by which containers can request them without a claim. */
  async offer(extendedResource: string): Promise<void> {
    const { cluster, driver } = this.#place;
    const selectors = [{ cel: { expression: `device.driver == "${driver}"` } }];
    await cluster.apply(this.slice, {
      ...{ apiVersion: RESOURCE, kind: 'DeviceClass', metadata: { name: driver } },
      spec: { selectors, extendedResourceName: extendedResource },
    });
    await cluster.apply({
      ...{ apiVersion: RESOURCE, kind: 'ResourceClaimTemplate', metadata: { name: 'gpu', namespace: 'default' } },
      spec: { spec: this.#claimSpec },
    });
  }

  /** Creates a claim that pods can share. */
  async claim(name: string): Promise<void> {
    await this.#place.cluster.apply({ ...claimNamed(name), spec: this.#claimSpec } as ApiObject);
  }

  /** Creates a pod with the named claim or, if no name is given, with a claim generated from the template. */
  async create(pod: ApiObject, claimName?: string): Promise<ApiObject> {
    const { cluster } = this.#place;
    const source = claimName === undefined ? { resourceClaimTemplateName: 'gpu' } : { resourceClaimName: claimName };
    const spec = { ...pod.spec, resourceClaims: [{ name: 'gpu', ...source }] };
    const created = (await cluster.apply({ ...pod, spec }))[0]!;
    if (cluster.own === undefined) return created;
    if (claimName !== undefined) await this.allocate(claimName, created);
    else await this.#makeClaim(created);
    await this.#bind(created);
    return created;
  }

  async createExtended(pod: ApiObject, resourceName: string): Promise<ApiObject> {
    const { cluster } = this.#place;
    const created = (await cluster.apply(pod))[0]!;
    if (cluster.own === undefined) return created;
    const resourceClaimName = `${pod.metadata.name}-extended`;
    await this.claim(resourceClaimName);
    await this.allocate(resourceClaimName, created);
    const requestMappings = [{ containerName: 'main', resourceName, requestName: 'gpu' }];
    await this.#setStatus(created, { extendedResourceClaimStatus: { resourceClaimName, requestMappings } });
    await this.#bind(created);
    return created;
  }

  /** Allocates the device to the claim and reserves it for the pod, like the scheduler. */
  async allocate(claimName: string, { metadata: { name, uid } }: ApiObject): Promise<void> {
    const { cluster, driver } = this.#place;
    const claim = (await cluster.find(claimNamed(claimName)))!;
    const { reservedFor = [] } = (claim.status ?? {}) as { reservedFor?: object[] };
    const results = [{ request: 'gpu', driver, pool: 'pool', device: 'dev0' }];
    await this.#setStatus(claim, {
      allocation: { devices: { results } },
      reservedFor: [...reservedFor, { resource: 'pods', name, uid }],
    });
  }

  /** Deletes the pod, waits until it is gone, and deletes the claims generated for it. */
  async deletePod(name: string): Promise<void> {
    const { cluster } = this.#place;
    await cluster.delete(podNamed(name));
    await cluster.untilGone(podNamed(name));
    if (cluster.own !== undefined)
      for (const claim of [`${name}-gpu`, `${name}-extended`]) await cluster.delete(claimNamed(claim));
  }

  async #makeClaim({ metadata: { name = '', uid } }: ApiObject): Promise<void> {
    const { cluster } = this.#place;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name, uid, controller: true }];
    const { metadata, ...claim } = claimNamed(`${name}-gpu`);
    const [made] = await cluster.apply({
      ...{ ...claim, metadata: { ...metadata, ownerReferences } },
      spec: this.#claimSpec,
    } as unknown as ApiObject);
    const pod = (await cluster.find(podNamed(name)))!;
    await this.allocate(made!.metadata.name!, pod);
    await this.#setStatus(pod, { resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: made!.metadata.name }] });
  }

  get #claimSpec() {
    const exactly = { deviceClassName: this.#place.driver, allocationMode: 'ExactCount', count: 1 };
    return { devices: { requests: [{ name: 'gpu', exactly }] } };
  }

  async #bind(pod: ApiObject): Promise<void> {
    const { name, namespace, uid } = pod.metadata;
    const target = { apiVersion: 'v1', kind: 'Node', name: this.#place.node };
    const answer = await this.#place.cluster.admin.create(`${pathOf(pod)}/binding`, {
      metadata: { name, namespace, uid },
      target,
    });
    assert.ok(answer.status < 300, answer.text);
  }

  async #setStatus(object: ApiObject, status: object): Promise<void> {
    const answer = await this.#place.cluster.admin.patch(`${pathOf(object)}/status`, 'merge', { status });
    assert.ok(answer.status < 300, answer.text);
  }
}
