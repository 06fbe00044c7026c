import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OtherObject } from '@podwright/kube-api';
import { unreachableApi } from './unreachable-api.ts';

const binding = (kind: string, subject: string): OtherObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind,
  metadata: { name: 'operator' },
  subjects: [{ kind: subject, name: 'operator', namespace: 'default' }],
});
const slice = { apiVersion: 'v1', kind: 'EndpointSlice', metadata: { name: 'kubernetes' } };

test('pod permissions for an unreachable API result in a warning', async () => {
  const warn = (objects: OtherObject[], isReachable = false) =>
    unreachableApi(objects, async () => (isReachable ? slice : undefined));
  assert.match(
    (await warn([binding('ClusterRoleBinding', 'ServiceAccount')]))[0] ?? '',
    /^ClusterRoleBinding operator is for pods that use the Kubernetes API, which pods cannot reach: set service_cidr /,
  );
  assert.deepEqual(await warn([binding('RoleBinding', 'ServiceAccount')], true), []);
  assert.deepEqual(await warn([binding('RoleBinding', 'User')]), []);
  assert.deepEqual(await warn([binding('Deployment', 'ServiceAccount')]), []);
});
