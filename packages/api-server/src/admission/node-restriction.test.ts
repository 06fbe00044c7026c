import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import type { UserInfo } from '@podwright/kube-kinds';
import type { AuthorizationAttributes } from '../authorization/authorizer.ts';
import { admissionChain } from './admission-chain.ts';
import { forbiddenLabels } from './node-labels.ts';
import { NodeRestriction } from './node-restriction.ts';
import { admit, attributesOf, object, rejects, storeOf, type Write } from './test-admission.fixture.ts';

const NODE: UserInfo = { username: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] };

const store = storeOf({
  nodes: object('n1', {}, { uid: 'u1' }),
  pods: [
    object(
      'shop/web',
      {
        spec: {
          nodeName: 'n1',
          volumes: [
            {
              projected: {
                sources: [
                  { serviceAccountToken: { path: 'a' } },
                  { serviceAccountToken: { path: 'b', audience: 'vault' } },
                ],
              },
            },
            { csi: { driver: 'inline' } },
            { persistentVolumeClaim: { claimName: 'data' } },
            { name: 'tmp', ephemeral: { volumeClaimTemplate: {} } },
          ],
        },
      },
      { uid: 'uid-web' },
    ),
    object('shop/other', { spec: { nodeName: 'n2' } }, { uid: 'uid-other' }),
  ],
  'csidrivers.storage.k8s.io': [
    object('inline', { spec: { tokenRequests: [{ audience: 'inline-audience' }] } }),
    object('disk', { spec: { tokenRequests: [{ audience: 'disk-audience' }] } }),
  ],
  persistentvolumeclaims: [
    object('shop/data', { spec: { volumeName: 'pv' } }),
    object('shop/web-tmp', { spec: { volumeName: 'none' } }),
  ],
  persistentvolumes: object('pv', { spec: { csi: { driver: 'disk' } } }),
});
const requested: AuthorizationAttributes[] = [];
const authorizer = {
  authorize(request: AuthorizationAttributes) {
    requested.push(request);
    return { decision: request.resource === 'allowed' ? ('allow' as const) : ('no opinion' as const), reason: '' };
  },
};
const plugin = new NodeRestriction({ store, authorizer });
const allows = (write: Write) => admit(plugin, { user: NODE, ...write });
const refuses = (write: Write, message: string) => rejects(plugin, { user: NODE, ...write }, message);

const OWNER = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1', controller: true };
const mirror = (spec: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}) =>
  object(
    'shop/static-n1',
    { spec: { nodeName: 'n1', ...spec } },
    { annotations: { 'kubernetes.io/config.mirror': 'x' }, ownerReferences: [OWNER], ...metadata },
  );
const createPod = (one: ReturnType<typeof mirror>) => ({ to: 'pods', object: one });

test('other users are not restricted', async () => {
  const write = { to: 'pods', object: object('shop/x') };
  for (const user of [
    { username: 'alice', groups: ['system:nodes'] },
    { username: 'system:node:n1', groups: [] },
  ])
    await admit(plugin, { ...write, user });
  await rejects(
    plugin,
    { ...write, user: { username: 'system:node:', groups: ['system:nodes'] } },
    'could not determine node from user "system:node:"',
  );
});

test('a node can create mirror pods for itself', async () => {
  await allows(createPod(mirror({ volumes: [{ hostPath: {} }, { projected: { sources: [{ downwardAPI: {} }] } }] })));
  await refuses(
    createPod(mirror({}, { annotations: {} })),
    'pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods',
  );
  await refuses(
    createPod(mirror({ nodeName: 'n2' })),
    'node "n1" can only create pods with spec.nodeName set to itself',
  );
  await refuses(
    { ...createPod(mirror()), oldObject: mirror() },
    'unexpected operation "UPDATE", node "n1" can only create and delete mirror pods',
  );
});

test('a mirror pod must be owned by its node', async () => {
  const check = (ownerReferences: unknown, message: string) =>
    refuses(createPod(mirror({}, { ownerReferences })), message);
  const none = 'node "n1" can only create pods with an owner reference set to itself';
  await check(undefined, none);
  await check([], none);
  await check([{ ...OWNER, name: 'n2' }], none);
  await check([{ ...OWNER, kind: 'Pod' }], none);
  await check([{ ...OWNER, apiVersion: 'apps/v1' }], none);
  await check([OWNER, OWNER], 'node "n1" can only create pods with a single owner reference set to itself');
  await check(
    [{ ...OWNER, controller: false }],
    'node "n1" can only create pods with a controller owner reference set to itself',
  );
  await check(
    [{ ...OWNER, blockOwnerDeletion: true }],
    'node "n1" must not set blockOwnerDeletion on an owner reference',
  );
  await check([{ ...OWNER, uid: 'u2' }], 'node n1 UID mismatch: expected u2 got u1');
});

test('a mirror pod cannot reference API objects', async () => {
  const check = (spec: Record<string, unknown>, reference: string) =>
    refuses(createPod(mirror(spec)), `node "n1" can not create pods that reference ${reference}`);
  await check({ serviceAccountName: 'app' }, 'serviceaccounts');
  await check({ imagePullSecrets: [{ name: 's' }] }, 'secrets');
  await check({ containers: [{ env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'c' } } }] }] }, 'configmaps');
  await check({ resourceClaims: [{ name: 'a' }] }, 'resourceclaims');
  const volume = (source: Record<string, unknown>, reference: string) =>
    check({ volumes: [{ name: 'v', ...source }] }, reference);
  await volume({ secret: {} }, 'secrets (via secret volumes)');
  await volume({ csi: {} }, 'csidrivers (via CSI volumes)');
  await volume({ persistentVolumeClaim: { claimName: 'data' } }, 'persistentvolumeclaims');
  await volume({ ephemeral: {} }, 'persistentvolumeclaims (via ephemeral volumes)');
  await volume({ projected: { sources: [{ serviceAccountToken: {} }] } }, 'serviceaccounts (via projected volumes)');
  await volume({ projected: { sources: [{ clusterTrustBundle: {} }] } }, 'clustertrustbundles');
});

test('a node can delete and evict only its own pods', async () => {
  const pod = (nodeName: string) => object('shop/web', { spec: { nodeName } });
  await allows({ to: 'pods', oldObject: pod('n1') });
  await refuses(
    { to: 'pods', oldObject: pod('n2') },
    'node "n1" can only delete pods with spec.nodeName set to itself',
  );
  await allows({ to: 'pods/eviction', object: object('shop/web') });
  await refuses(
    { to: 'pods/eviction', object: object('shop/other') },
    'node n1 can only evict pods with spec.nodeName set to itself',
  );
  await refuses({ to: 'pods/eviction', object: object('shop/none') }, 'pods "none" not found');
  await refuses(
    { to: 'pods/ephemeralcontainers', object: pod('n1'), oldObject: pod('n1') },
    `unexpected pod subresource "ephemeralcontainers", only 'status' and 'eviction' are allowed`,
  );
});

test('a node can update the status of its own pods, and nothing else', async () => {
  const pod = (status: Record<string, unknown>, labels = {}, nodeName = 'n1') =>
    object('shop/web', { spec: { nodeName }, status }, { labels });
  const write = (one: ReturnType<typeof pod>, old = pod({})) => ({ to: 'pods/status', object: one, oldObject: old });
  await allows(write(pod({ phase: 'Running' })));
  await refuses(
    write(pod({}, {}, 'n1'), pod({}, {}, 'n2')),
    'node "n1" can only update pod status for pods with spec.nodeName set to itself',
  );
  await refuses(write(pod({}, { a: 'b' })), 'node "n1" cannot update labels through pod status');
  await refuses(
    write(pod({ resourceClaimStatuses: [{ name: 'a', resourceClaimName: 'b' }] })),
    'node "n1" cannot update resource claim statues',
  );
  await refuses(
    write(pod({ extendedResourceClaimStatus: { resourceClaimName: 'b' } })),
    'node "n1" cannot update extended resource claim status',
  );
});

test('a node can write its own Node, except taints, owners and restricted labels', async () => {
  const node = (fields: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}) =>
    object('n1', fields, metadata);
  const update = (one: ReturnType<typeof node>) => ({ to: 'nodes/status', object: one, oldObject: node() });
  await allows({
    to: 'nodes',
    object: node({ spec: { taints: [{ key: 'a' }] } }, { labels: { 'kubernetes.io/os': 'linux', mine: 'x' } }),
  });
  await allows(update(node({ status: { phase: 'x' } }, { labels: { 'topology.kubernetes.io/zone': 'z' } })));
  await refuses({ to: 'nodes', object: object('n2') }, 'node "n1" is not allowed to modify node "n2"');
  await refuses(
    { to: 'nodes', object: node({}, { labels: { 'b.k8s.io/x': '', 'a.kubernetes.io/x': '' } }) },
    'node "n1" is not allowed to set the following labels: a.kubernetes.io/x, b.k8s.io/x',
  );
  await refuses(
    update(node({}, { labels: { 'node-restriction.kubernetes.io/x': '' } })),
    'is not allowed to modify labels: node-restriction.kubernetes.io/x',
  );
  await refuses(update(node({ spec: { taints: [{ key: 'a' }] } })), 'node "n1" is not allowed to modify taints');
  await refuses(update(node({}, { ownerReferences: [OWNER] })), 'node "n1" is not allowed to modify ownerReferences');
  await refuses(
    update(node({ spec: { configSource: {} } })),
    'node "n1" is not allowed to update configSource to a new non-nil configSource',
  );
});

test('labels in reserved domains can be set only by administrators', () => {
  const check = (label: string, isAllowed: boolean) => {
    assert.deepEqual(forbiddenLabels({ [label]: 'x' }, {}), isAllowed ? [] : [label]);
    assert.deepEqual(forbiddenLabels({}, { [label]: 'x' }), isAllowed ? [] : [label]);
    assert.deepEqual(forbiddenLabels({ [label]: 'x' }, { [label]: 'x' }), []);
  };
  for (const label of [
    'mine',
    'acme.com/x',
    'kubernetes.io/hostname',
    'kubelet.kubernetes.io/x',
    'a.node.kubernetes.io/x',
    'xkubernetes.io/a',
  ])
    check(label, true);
  for (const label of [
    'kubernetes.io/x',
    'k8s.io/x',
    'a.k8s.io/x',
    'node-role.kubernetes.io/control-plane',
    'node-restriction.kubernetes.io/x',
    'a.node-restriction.kubernetes.io/x',
    'xnode.kubernetes.io/a',
  ])
    check(label, false);
});

test('a node can report volume expansion', async () => {
  const claim = (status: Record<string, unknown>, metadata = {}) =>
    object('shop/data', { spec: { volumeName: 'pv' }, status }, metadata);
  const write = (one: ReturnType<typeof claim>) => ({
    to: 'persistentvolumeclaims/status',
    object: one,
    oldObject: claim({ phase: 'Bound' }),
  });
  await allows(
    write(
      claim(
        { phase: 'Bound', capacity: { storage: '2Gi' }, conditions: [{}], allocatedResources: {} },
        { resourceVersion: '2', managedFields: [{}] },
      ),
    ),
  );
  const refusal = 'node "n1" is not allowed to update fields other than status.quantity and status.conditions';
  await refuses(write(claim({ phase: 'Lost' })), refusal);
  await refuses(write(claim({ phase: 'Bound' }, { labels: { a: 'b' } })), refusal);
  await refuses({ ...write(claim({})), to: 'persistentvolumeclaims' }, 'may only update PVC status');
});

test('a node can request tokens for its pods and their audiences', async () => {
  const reference = { kind: 'Pod', apiVersion: 'v1', name: 'web', uid: 'uid-web' };
  const token = (boundObjectRef: unknown, audiences?: unknown) => ({
    to: 'serviceaccounts/token',
    object: object('shop/app', { spec: { boundObjectRef, audiences } }),
  });
  for (const audiences of [undefined, null, [], ['vault'], ['inline-audience'], ['disk-audience'], ['allowed']])
    await allows(token(reference, audiences));
  assert.deepEqual(requested.at(-1), {
    user: NODE,
    verb: 'request-serviceaccounts-token-audience',
    isResourceRequest: true,
    apiGroup: '',
    resource: 'allowed',
    subresource: '',
    namespace: 'shop',
    name: 'app',
    path: '',
  });
  await refuses(token(undefined), 'node requested token not bound to a pod');
  await refuses(token({ ...reference, kind: 'Node' }), 'node requested token not bound to a pod');
  await refuses(token({ ...reference, uid: '' }), 'node requested token with a pod binding without a uid');
  await refuses(token({ ...reference, name: 'none' }), 'pods "none" not found');
  await refuses(
    token({ ...reference, name: 'other' }),
    'the UID in the bound object reference (uid-web) does not match the UID in record. The object might have been deleted and then recreated',
  );
  await refuses(
    token({ ...reference, name: 'other', uid: 'uid-other' }),
    'node requested token bound to a pod scheduled on a different node',
  );
  await refuses(token(reference, ['a', 'b']), 'node may only request 0 or 1 audiences');
  await refuses(
    token(reference, ['x']),
    'audience "x" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience',
  );
});

test('an audience filled in by the server after admission does not count as requested by the node', async () => {
  const reference = { kind: 'Pod', apiVersion: 'v1', name: 'web', uid: 'uid-web' };
  const completed = object('shop/app', { spec: { boundObjectRef: reference, audiences: ['https://issuer'] } });
  await admissionChain([plugin]).validate(attributesOf({ to: 'serviceaccounts/token', object: completed, user: NODE }));
});

test('a node can write its own lease, CSINode and slices', async () => {
  const leases = 'leases.coordination.k8s.io';
  await allows({ to: leases, object: object('kube-node-lease/n1') });
  await refuses(
    { to: leases, object: object('kube-node-lease/n2') },
    'can only access node lease with the same name as the requesting node',
  );
  await refuses(
    { to: leases, object: object('shop/n1') },
    'can only access leases in the "kube-node-lease" system namespace',
  );
  await refuses(
    { to: leases, oldObject: object('kube-node-lease/n2') },
    'can only access node lease with the same name as the requesting node',
  );
  await allows({ to: 'csinodes.storage.k8s.io', object: object('n1') });
  await refuses(
    { to: 'csinodes.storage.k8s.io', object: object('n2') },
    'can only access CSINode with the same name as the requesting node',
  );
  const slices = 'resourceslices.resource.k8s.io';
  const slice = (nodeName?: string) => object('s', { spec: { nodeName } });
  await allows({ to: slices, object: slice('n1') });
  await allows({ to: slices, oldObject: slice('n1') });
  await refuses(
    { to: slices, object: slice() },
    'can only create ResourceSlice with the same NodeName as the requesting node',
  );
  await refuses(
    { to: slices, oldObject: slice('n2') },
    'can only delete ResourceSlice with the same NodeName as the requesting node',
  );
});

test('a node can request certificates for itself', async () => {
  const write = (signerName: string, subject?: string) => {
    const options = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', '/dev/null'];
    const pem =
      subject === undefined
        ? Buffer.from('x')
        : execFileSync('openssl', ['req', '-new', ...options, '-subj', subject], {
            stdio: ['ignore', 'pipe', 'ignore'],
          });
    return {
      to: 'certificatesigningrequests.certificates.k8s.io',
      object: object('csr', { spec: { signerName, request: pem.toString('base64') } }),
    };
  };
  const refusal = 'can only create a node CSR with CN=system:node:n1';
  await allows(write('kubernetes.io/kubelet-serving', '/O=system:nodes/CN=system:node:n1'));
  await refuses(write('kubernetes.io/kubelet-serving', '/O=system:nodes/CN=system:node:n2'), refusal);
  await refuses(write('kubernetes.io/kube-apiserver-client-kubelet', '/CN=alice'), refusal);
  await refuses(
    write('kubernetes.io/kubelet-serving'),
    'unable to parse csr: PEM block type must be CERTIFICATE REQUEST',
  );
  await allows(write('acme.com/web', '/CN=alice'));
});
