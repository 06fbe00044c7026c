import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimStatusesOf, type Pod } from '@podwright/kube-api';
import { PODS, RESOURCE_CLAIMS } from '@podwright/kube-client';
import { RESOURCE_CLAIM_TEMPLATES, type StoredClaim } from '../objects/resource-claim.ts';
import { type TestPod, testPod } from '../pods/test-pod.fixture.ts';
import { TestPlace } from '../test-place.fixture.ts';
import { resourceClaimController } from './resource-claim-controller.ts';

class Place extends TestPlace {
  constructor() {
    super(resourceClaimController);
  }

  pod(state: TestPod = {}): Pod {
    const built = testPod({ name: 'web', ...state });
    const resourceClaims = [{ name: 'gpu', resourceClaimTemplateName: 'gpus' }];
    const known = this.client.stored<Pod>(PODS, { namespace: 'shop', name: 'web' });
    const { resourceClaimStatuses } = known === undefined ? {} : claimStatusesOf(known);
    const status = { ...built.status!, resourceClaimStatuses };
    return this.client.put(PODS, { ...built, spec: { ...built.spec, resourceClaims }, status });
  }

  template(): void {
    const metadata = { namespace: 'shop', name: 'gpus' };
    this.client.put(RESOURCE_CLAIM_TEMPLATES, { metadata, spec: { spec: { devices: {} } } } as never);
  }

  async claims(): Promise<StoredClaim[]> {
    return (await this.client.list<StoredClaim>(RESOURCE_CLAIMS, {})).items;
  }

  /** The claim's name as recorded in the pod's status. */
  get named(): string | undefined {
    const pod = this.client.stored<Pod>(PODS, { namespace: 'shop', name: 'web' });
    return pod === undefined ? undefined : claimStatusesOf(pod).resourceClaimStatuses?.[0]?.resourceClaimName;
  }
}

test('a claim is created once its template exists, and named in the pod’s status', async () => {
  await using place = new Place();
  place.pod();
  await place.until(() => place.events('FailedResourceClaimCreation').length > 0);
  place.template();
  await place.until(() => place.named !== undefined);
  const claims = await place.claims();
  assert.deepEqual(
    claims.map(({ metadata }) => metadata.name),
    [place.named],
  );
});

test('a claim created before the process exited is named, not created again', async () => {
  await using place = new Place();
  place.template();
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'uid-web', controller: true };
  const annotations = { 'resource.kubernetes.io/pod-claim-name': 'gpu' };
  const metadata = { namespace: 'shop', name: 'made', ownerReferences: [owner], annotations };
  place.client.put(RESOURCE_CLAIMS, { metadata });
  place.pod();
  await place.until(() => place.named === 'made');
  assert.equal((await place.claims()).length, 1);
});

test('an allocated claim is reserved for a scheduled pod, and released and deleted once the pod has ended', async () => {
  await using place = new Place();
  place.template();
  place.pod();
  await place.until(() => place.named !== undefined);
  const key = { namespace: 'shop', name: place.named! };
  const claim = place.client.stored<StoredClaim>(RESOURCE_CLAIMS, key)!;
  const finalizers = ['resource.kubernetes.io/delete-protection'];
  place.client.put(RESOURCE_CLAIMS, {
    ...claim,
    metadata: { ...claim.metadata, finalizers },
    status: { allocation: {} },
  });
  const stored = () => place.client.stored<StoredClaim>(RESOURCE_CLAIMS, key);
  await place.until(() => stored()?.status?.reservedFor?.[0]?.name === 'web');
  place.pod({ phase: 'Succeeded' });
  await place.until(() => stored() === undefined);
});
