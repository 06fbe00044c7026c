import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ObjectKey } from '@podwright/api-machinery';
import type { ApiObject, UserInfo } from '@podwright/kube-kinds';
import { MemoryStore } from '../../../../api-machinery/src/store/memory-store.ts';
import { bootstrapPolicy } from '../bootstrap/bootstrap-policy.ts';
import { request } from '../test-rbac.fixture.ts';
import { requiresField } from './field-requirements.ts';
import { NodeAuthorizer } from './node-authorizer.ts';
import { NODE_INDEXES } from './node-relations.ts';

const N1: UserInfo = { username: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] };
const UNRELATED = "no relationship found between node 'n1' and this object";

const store = new MemoryStore({ indexes: NODE_INDEXES });
const { rules } = bootstrapPolicy().clusterRoles.find(({ metadata }) => metadata.name === 'system:node')!;
const authorizer = new NodeAuthorizer({ store, rules: rules! });

/** Creates or replaces an object in the store, given as `RESOURCE [NAMESPACE/]NAME`. */
function put(path: string, fields: Record<string, unknown>, metadata: Record<string, unknown> = {}): ObjectKey {
  const [resource = '', location = ''] = path.split(' ');
  const [name = '', namespace = ''] = location.split('/').reverse();
  const object: ApiObject = { metadata: { name, namespace, ...metadata }, ...fields };
  const key = { resource, namespace, name };
  const existing = store.get(key);
  if (existing === undefined) store.create(key, object);
  else store.update(key, object, existing.revision);
  return key;
}

const secretRef = (name: string) => ({ secretRef: { name } });

const CONTAINER = {
  envFrom: [secretRef('env-from'), { configMapRef: { name: 'env-from' } }],
  env: [
    { name: 'a', valueFrom: { secretKeyRef: { name: 'env', key: 'k' } } },
    { name: 'b', valueFrom: { configMapKeyRef: { name: 'env', key: 'k' } } },
    { name: 'c', value: 'hidden' },
  ],
};

const WEB = {
  spec: {
    nodeName: 'n1',
    serviceAccountName: 'app',
    imagePullSecrets: [{ name: 'pull' }],
    containers: [CONTAINER],
    initContainers: [{ envFrom: [secretRef('init')] }],
    ephemeralContainers: [{ envFrom: [secretRef('debug')] }],
    volumes: [
      { name: 'a', secret: { secretName: 'volume' } },
      { name: 'b', configMap: { name: 'volume' } },
      { name: 'c', projected: { sources: [{ secret: { name: 'projected' } }, { configMap: { name: 'projected' } }] } },
      { name: 'd', csi: { nodePublishSecretRef: { name: 'csi' } } },
      { name: 'e', iscsi: secretRef('iscsi') },
      { name: 'f', persistentVolumeClaim: { claimName: 'data' } },
      { name: 'scratch', ephemeral: {} },
      { name: 'g', azureFile: { secretName: 'azure' } },
      { name: 'h', emptyDir: {} },
    ],
    resourceClaims: [
      { name: 'gpu', resourceClaimName: 'gpu' },
      { name: 'nic', resourceClaimTemplateName: 'nic' },
    ],
  },
  status: {
    resourceClaimStatuses: [
      { name: 'nic', resourceClaimName: 'web-nic-x' },
      { name: 'gone', resourceClaimName: 'other' },
    ],
    extendedResourceClaimStatus: { resourceClaimName: 'web-extended' },
  },
};

const volume = (claim: string, source: Record<string, unknown>) => {
  const [namespace, name] = claim.split('/');
  return { spec: { claimRef: { namespace, name }, ...source } };
};

put('pods shop/web', WEB);
put('pods shop/other', { spec: { nodeName: 'n2', volumes: [{ secret: { secretName: 'other' } }] } });
put('pods shop/pending', { spec: { volumes: [{ secret: { secretName: 'pending' } }] } });
put(
  'pods shop/mirror',
  { spec: { nodeName: 'n1', volumes: [{ secret: { secretName: 'mirror' } }], serviceAccountName: 'mirror' } },
  { annotations: { 'kubernetes.io/config.mirror': 'x' } },
);
put(
  'persistentvolumes pv',
  volume('shop/data', {
    csi: {
      nodeStageSecretRef: { namespace: 'store', name: 'stage' },
      controllerPublishSecretRef: { namespace: 'store', name: 'controller' },
    },
  }),
);
put('persistentvolumes rbd', volume('shop/data', { rbd: { secretRef: { name: 'rbd' } } }));
put('persistentvolumes other', volume('shop/unused', { rbd: { secretRef: { name: 'unused' } } }));
put('persistentvolumes free', { spec: { rbd: { secretRef: { name: 'free' } } } });
put('volumeattachments.storage.k8s.io mine', { spec: { nodeName: 'n1' } });
put('volumeattachments.storage.k8s.io other', { spec: { nodeName: 'n2' } });
put('resourceslices.resource.k8s.io mine', { spec: { nodeName: 'n1' } });
put('resourceslices.resource.k8s.io all', { spec: {} });

/**
 * Returns why a request is refused, or `undefined` if it is allowed. `line`: the request as for `request`, optionally followed by `
 * ?FIELD-SELECTOR`.
 */
function reasonOf(line: string, user = N1): string | undefined {
  const [attributes = '', fieldSelector = ''] = line.split(' ?');
  const { decision, reason } = authorizer.authorize({ ...request(attributes, user), fieldSelector });
  assert.notEqual(decision, 'deny');
  return decision === 'allow' ? undefined : reason;
}
const allowed = (...lines: string[]) => {
  for (const line of lines) assert.equal(reasonOf(line), undefined, line);
};
const refused = (reason: string, ...lines: string[]) => {
  for (const line of lines) assert.equal(reasonOf(line), reason, line);
};
const each = (prefix: string, names: string) => names.split(' ').map((name) => `${prefix}${name}`);

test('a node can read the Secrets and ConfigMaps of its pods, one at a time', () => {
  allowed(...each('get core secrets shop/', 'pull env-from env init debug volume projected csi iscsi azure'));
  allowed(...each('watch core configmaps shop/', 'env-from env volume projected'));
  allowed('list core secrets shop/volume', 'watch core secrets shop/volume');
  refused(
    UNRELATED,
    ...each('get core secrets shop/', 'hidden other pending mirror volume2'),
    'get core secrets store/volume',
  );
  refused('No Object name found', 'list core secrets shop/', 'watch core configmaps shop/');
  refused('can only read namespaced object of this type', 'get core secrets /volume');
  refused(
    'can only read resources of this type',
    'delete core secrets shop/volume',
    'create core configmaps shop/volume',
  );
  refused('cannot read subresource', 'get core secrets/x shop/volume');
});

test('a node can read the claims and volumes of its pods, and the volumes’ Secrets', () => {
  allowed(...each('get core persistentvolumeclaims shop/', 'data web-scratch'));
  allowed('get core persistentvolumes /pv', 'get core persistentvolumes /rbd');
  allowed('get core secrets store/stage', 'get core secrets shop/rbd');
  allowed('update core persistentvolumeclaims/status shop/data', 'patch core persistentvolumeclaims/status shop/data');
  refused(
    UNRELATED,
    'get core persistentvolumeclaims shop/unused',
    'patch core persistentvolumeclaims/status shop/unused',
  );
  refused(UNRELATED, ...each('get core persistentvolumes /', 'other free none'));
  refused(
    UNRELATED,
    'get core secrets store/controller',
    'get core secrets shop/unused',
    'get core secrets shop/stage',
  );
  refused(
    'can only get individual resources of this type',
    'list core persistentvolumes',
    'update core persistentvolumeclaims shop/data',
  );
  refused('can only get/update/patch this type', 'get core persistentvolumeclaims/status shop/data');
});

test('a node can read the resource claims of its pods', () => {
  allowed(...each('get resource.k8s.io resourceclaims shop/', 'gpu web-nic-x web-extended'));
  refused(UNRELATED, ...each('get resource.k8s.io resourceclaims shop/', 'nic other'));
  refused('cannot get subresource', 'get resource.k8s.io resourceclaims/status shop/gpu');
});

test('a node can create tokens for the service accounts of its pods', () => {
  allowed('create core serviceaccounts/token shop/app', 'get core serviceaccounts shop/app');
  refused(UNRELATED, 'create core serviceaccounts/token shop/mirror', 'create core serviceaccounts/token store/app');
  refused('can only create token subresource of serviceaccount', 'create core serviceaccounts shop/app');
  refused(
    'can only create tokens for individual service accounts',
    'list core serviceaccounts shop/app',
    'create core serviceaccounts/token shop/',
    'update core serviceaccounts/token shop/app',
  );
});

test('a node can see its own pods', () => {
  allowed('get core pods shop/web', 'get core pods shop/mirror', 'watch core pods shop/web');
  allowed('list core pods ?spec.nodeName=n1', 'watch core pods shop/ ?spec.nodeName==n1,status.phase!=Failed');
  allowed(
    'create core pods shop/',
    'delete core pods shop/other',
    'patch core pods/status shop/other',
    'create core pods/eviction shop/web',
  );
  refused(UNRELATED, ...each('get core pods shop/', 'other pending none'));
  refused(
    'can only list/watch pods with spec.nodeName field selector',
    'list core pods',
    'list core pods ?spec.nodeName!=n1',
    'list core pods ?spec.nodeName=n2',
  );
  refused(
    '',
    'update core pods shop/web',
    'get core pods/status shop/web',
    'create core pods/exec shop/web',
    'deletecollection core pods shop/',
  );
});

test('a node can see its own Node, even before it exists', () => {
  allowed(
    'get core nodes /n1',
    'watch core nodes /n1',
    'create core nodes',
    'update core nodes /n1',
    'patch core nodes/status /n2',
  );
  refused("node 'n1' cannot read 'n2', only its own Node object", 'get core nodes /n2');
  refused("node 'n1' cannot read all nodes, only its own Node object", 'list core nodes');
  refused('', 'delete core nodes /n1', 'get core nodes/proxy /n1', 'get core nodes/status /n1');
});

test('a node can access its own lease, CSINode, attachments and slices', () => {
  allowed(
    ...['get', 'update', 'patch', 'delete'].map((verb) => `${verb} coordination.k8s.io leases kube-node-lease/n1`),
  );
  allowed(
    'create coordination.k8s.io leases kube-node-lease/',
    'create storage.k8s.io csinodes',
    'patch storage.k8s.io csinodes /n1',
  );
  allowed('get storage.k8s.io volumeattachments /mine');
  allowed(
    'create resource.k8s.io resourceslices',
    'update resource.k8s.io resourceslices /mine',
    'deletecollection resource.k8s.io resourceslices ?spec.nodeName=n1',
  );
  refused(
    'can only access node lease with the same name as the requesting node',
    'get coordination.k8s.io leases kube-node-lease/n2',
  );
  refused(
    'can only access leases in the "kube-node-lease" system namespace',
    'get coordination.k8s.io leases shop/n1',
    'create coordination.k8s.io leases kube-system/',
  );
  refused(
    'can only get, create, update, patch, or delete a node lease',
    'list coordination.k8s.io leases kube-node-lease/n1',
  );
  refused('can only access CSINode with the same name as the requesting node', 'get storage.k8s.io csinodes /n2');
  refused('can only get, create, update, patch, or delete a CSINode', 'list storage.k8s.io csinodes');
  refused('cannot authorize CSINode subresources', 'get storage.k8s.io csinodes/x /n1');
  refused(UNRELATED, 'get storage.k8s.io volumeattachments /other', 'delete resource.k8s.io resourceslices /all');
  refused(
    'can only list/watch/deletecollection resourceslices with nodeName field selector',
    'list resource.k8s.io resourceslices',
  );
  refused('cannot authorize ResourceSlice subresources', 'get resource.k8s.io resourceslices/x /mine');
});

test('for other resources, a node has the same permissions as all nodes', () => {
  allowed(
    'list core services',
    'create core events shop/',
    'watch node.k8s.io runtimeclasses',
    'create certificates.k8s.io certificatesigningrequests',
  );
  allowed('create authentication.k8s.io tokenreviews', 'create authorization.k8s.io subjectaccessreviews');
  refused(
    '',
    'create core services shop/x',
    'get apps deployments shop/web',
    'get apps secrets shop/volume',
    'get /metrics',
  );
});

test('other users get no opinion', () => {
  const check = (username: string, groups: string[], reason: string) =>
    assert.equal(reasonOf('get core secrets shop/volume', { username, groups }), reason);
  check('system:node:n1', ['system:masters'], '');
  check('alice', ['system:nodes'], '');
  check('system:node:', ['system:nodes'], 'unknown node for user "system:node:"');
});

test('the rules of a node cannot be enumerated', () => {
  const errors = ['node authorizer does not support user rule resolution'];
  assert.deepEqual(authorizer.rulesFor(N1), { rules: [], isIncomplete: true, errors });
  assert.deepEqual(authorizer.rulesFor({ username: 'a', groups: [] }), { rules: [], isIncomplete: false, errors: [] });
});

test('relations reflect the latest state', () => {
  const check = (expected: string | undefined) => assert.equal(reasonOf('get core secrets shop/late'), expected);
  check(UNRELATED);
  const fields = (nodeName: string) => ({ spec: { nodeName, volumes: [{ secret: { secretName: 'late' } }] } });
  const key = put('pods shop/late', fields(''));
  check(UNRELATED);
  put('pods shop/late', fields('n1'));
  check(undefined);
  put('pods shop/late', { spec: { ...fields('n1').spec, volumes: [] } });
  check(UNRELATED);
  put('pods shop/late', fields('n1'));
  check(undefined);
  store.delete(key, store.get(key)!.revision);
  check(UNRELATED);
});

test('a field selector restricts a value only if it requires equality', () => {
  const check = (selector: string, expected: boolean, value = 'n1') =>
    assert.equal(requiresField(selector, 'spec.nodeName', value), expected, selector);
  check('spec.nodeName=n1', true);
  check('a=b,spec.nodeName==n1', true);
  check('spec.nodeName=n\\,1', true, 'n,1');
  check('', false);
  check('spec.nodeName!=n1', false);
  check('a!=spec.nodeName=n1', false);
  check('x\\,spec.nodeName=n1', false);
  check('a=x\\,spec.nodeName=n1', false);
  check('spec.nodeName=n1,', true);
  check('spec.nodeName=n10', false);
});

test('a node with hundreds of large pods is authorized quickly', () => {
  const large = new MemoryStore({ indexes: NODE_INDEXES });
  const env = Array.from({ length: 2000 }, (_, index) => ({
    name: `e${index}`,
    valueFrom: { secretKeyRef: { name: `s${index}` } },
  }));
  for (let index = 0; index < 200; index++) {
    const key = { resource: 'pods', namespace: 'shop', name: `p${index}` };
    large.create(key, {
      metadata: { name: key.name, namespace: 'shop' },
      spec: { nodeName: 'n1', containers: [{ env }] },
    });
  }
  const checked = new NodeAuthorizer({ store: large, rules: [] });
  const attributes = request('get core secrets shop/none', N1);
  checked.authorize(attributes);
  const before = performance.now();
  for (let count = 0; count < 100; count++) checked.authorize(attributes);
  const averageMs = (performance.now() - before) / 100;
  assert.ok(averageMs < 10, `${averageMs} ms per check`);
});
