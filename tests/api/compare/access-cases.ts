/** Access control: access reviews, denials, privilege escalation, impersonation, certificates. */
import type { Case } from './cases.ts';
import type { Json } from './json.ts';
import type { Transcript } from './transcript.ts';
import { NAMESPACE } from './valid-objects.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const AUTHORIZATION = '/apis/authorization.k8s.io/v1';
const group = 'rbac.authorization.k8s.io';

async function reviews(api: Transcript): Promise<void> {
  const review = (body: Json) => api.post(`${AUTHORIZATION}/subjectaccessreviews`, body);
  const attributes = { verb: 'get', resource: 'pods', namespace: NAMESPACE };
  await review({ spec: { user: 'ann', resourceAttributes: attributes } });
  await review({ spec: { user: 'ann', groups: ['system:masters'], resourceAttributes: attributes } });
  await review({ spec: { user: 'system:kube-scheduler', resourceAttributes: attributes } });
  await review({
    spec: { user: 'ann', groups: ['system:authenticated'], nonResourceAttributes: { path: '/version', verb: 'get' } },
  });
  await review({
    spec: {
      user: 'system:node:x',
      groups: ['system:nodes'],
      resourceAttributes: { ...attributes, resource: 'secrets', name: 's' },
    },
  });
  await review({ spec: { user: 'ann' } });
  await review({
    spec: { user: 'ann', resourceAttributes: attributes, nonResourceAttributes: { path: '/', verb: 'get' } },
  });
  await review({ spec: { resourceAttributes: attributes } });
  await review({ metadata: { name: 'x' }, spec: { user: 'ann', resourceAttributes: attributes } });
  await review({ spec: { user: 'ann', resourceAttributes: { ...attributes, labelSelector: { rawSelector: 'a b' } } } });
  await review({
    spec: {
      user: 'ann',
      resourceAttributes: { ...attributes, fieldSelector: { requirements: [{ key: 'a', operator: 'Wrong' }] } },
    },
  });
  await review({});
  await api.post(`${AUTHORIZATION}/selfsubjectaccessreviews`, { spec: { resourceAttributes: attributes } });
  await api.post(`${AUTHORIZATION}/selfsubjectaccessreviews`, { spec: {} });
  await api.post(`${AUTHORIZATION}/namespaces/${NAMESPACE}/localsubjectaccessreviews`, {
    metadata: { namespace: NAMESPACE },
    spec: { user: 'ann', resourceAttributes: attributes },
  });
  await api.post(`${AUTHORIZATION}/namespaces/${NAMESPACE}/localsubjectaccessreviews`, {
    metadata: { namespace: NAMESPACE },
    spec: { user: 'ann', resourceAttributes: { ...attributes, namespace: 'other' } },
  });
  await api.post(`${AUTHORIZATION}/selfsubjectrulesreviews`, { spec: {} });
  await api.post(`${AUTHORIZATION}/selfsubjectrulesreviews`, { spec: { namespace: NAMESPACE } });
  await api
    .as('ann', 'system:authenticated')
    .post(`${AUTHORIZATION}/selfsubjectrulesreviews`, { spec: { namespace: NAMESPACE } });
  await api.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {});
  await api.post('/apis/authentication.k8s.io/v1/selfsubjectreviews?dryRun=All', { metadata: { name: 'x' } });
  await api.as('ann', 'a', 'b').post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {});
  await api.as('ann', 'system:masters').post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {});
  await api.post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'x' } });
  await api.post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: {} });
  await api.post('/apis/authentication.k8s.io/v1/tokenreviews', {});
  const { body } = await api.send(
    'POST',
    `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/default/token`,
    { spec: {} },
    { quiet: true },
  );
  await api.post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: body.status?.token } });
  await api.post('/apis/authentication.k8s.io/v1/tokenreviews', {
    spec: { token: body.status?.token, audiences: ['other'] },
  });
}

async function refusals(api: Transcript): Promise<void> {
  const ann = api.as('ann');
  const sally = api.as('sally', 'system:authenticated');
  for (const user of [
    ann,
    sally,
    api.as('system:node:x', 'system:nodes'),
    api.as('system:serviceaccount:default:default'),
  ]) {
    await user.get(`/api/v1/namespaces/${NAMESPACE}/pods`);
    await user.get('/api/v1/pods?watch=1&timeoutSeconds=1');
    await user.get('/api/v1/nodes/x');
    await user.get('/apis/apps/v1/namespaces/a/deployments/b/status');
    await user.post(`/api/v1/namespaces/${NAMESPACE}/pods`, {
      metadata: { name: 'x' },
      spec: { containers: [{ name: 'a', image: 'b' }] },
    });
    await user.delete(`/api/v1/namespaces/${NAMESPACE}/secrets`);
    await user.patch('/api/v1/namespaces/a', 'merge', {});
    await user.get('/api');
    await user.get('/version');
    await user.get('/metrics');
    await user.get('/apis/none.example.com/v1/things/a');
    await user.get('/nothing');
    await user.post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
    });
    await user.send('GET', '/api', undefined, { headers: { 'impersonate-user': 'other' } });
  }
  await api.send('GET', '/api', undefined, { headers: { 'impersonate-group': 'a' } });
  await api.send('GET', '/api', undefined, { headers: { 'impersonate-extra-a': 'b' } });
  await api.send(
    'POST',
    '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    {},
    { headers: { 'impersonate-user': 'a', 'impersonate-uid': 'u', 'impersonate-extra-a%2fb': 'c' } },
  );
  await api.send('GET', '/api', undefined, { headers: { authorization: 'Bearer wrong' } });
}

async function escalation(api: Transcript): Promise<void> {
  const bind = (name: string, role: string) => ({
    metadata: { name },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'User', apiGroup: group, name: 'eve' }],
  });
  await api.send(
    'POST',
    `${RBAC}/clusterroles`,
    {
      metadata: { name: 'compare-writer' },
      rules: [
        { apiGroups: [group], resources: ['*'], verbs: ['create', 'update', 'patch', 'get', 'delete'] },
        { apiGroups: [''], resources: ['pods'], verbs: ['get'] },
      ],
    },
    { quiet: true },
  );
  await api.send('POST', `${RBAC}/clusterrolebindings`, bind('compare-writer', 'compare-writer'), { quiet: true });
  const eve = api.as('eve');
  const rule = (resources: string[], verbs: string[]) => ({ apiGroups: [''], resources, verbs });
  await eve.post(`${RBAC}/namespaces/${NAMESPACE}/roles?dryRun=All`, {
    metadata: { name: 'a' },
    rules: [rule(['pods'], ['get'])],
  });
  await eve.post(`${RBAC}/namespaces/${NAMESPACE}/roles?dryRun=All`, {
    metadata: { name: 'a' },
    rules: [rule(['pods', 'secrets'], ['get', 'list'])],
  });
  await eve.post(`${RBAC}/clusterroles?dryRun=All`, {
    metadata: { name: 'a' },
    rules: [rule(['secrets'], ['*']), { nonResourceURLs: ['/x'], verbs: ['get'] }],
  });
  await eve.post(`${RBAC}/clusterroles?dryRun=All`, {
    metadata: { name: 'a' },
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
  });
  await eve.post(`${RBAC}/clusterrolebindings?dryRun=All`, bind('a', 'view'));
  await eve.post(`${RBAC}/clusterrolebindings?dryRun=All`, bind('a', 'missing'));
  await eve.post(`${RBAC}/namespaces/${NAMESPACE}/rolebindings?dryRun=All`, bind('a', 'view'));
  await eve.post(`${RBAC}/namespaces/${NAMESPACE}/rolebindings?dryRun=All`, bind('a', 'compare-writer'));
  await eve.patch(`${RBAC}/clusterroles/compare-writer`, 'merge', { rules: [rule(['secrets'], ['get'])] });
  await eve.patch(`${RBAC}/clusterroles/compare-writer?dryRun=All`, 'merge', { metadata: { labels: { a: 'b' } } });
  await api.put(`${RBAC}/clusterrolebindings/compare-writer`, bind('compare-writer', 'view'));
}

async function certificates(api: Transcript): Promise<void> {
  const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  const request = 'bm90IGEgcmVxdWVzdA==';
  const spec = { request, signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'] };
  for (const changes of [
    {},
    { signerName: 'x' },
    { signerName: 'kubernetes.io/legacy-unknown' },
    { usages: [] },
    { usages: ['wrong'] },
    { usages: ['client auth', 'client auth'] },
    { request: '' },
    { expirationSeconds: 5 },
    { username: 'x' },
  ])
    await api.post(`${path}?dryRun=All`, { metadata: { name: 'a' }, spec: { ...spec, ...changes } });
  await api.put(`${path}/missing/approval`, { metadata: { name: 'missing' } });
}

export const ACCESS_CASES: readonly Case[] = [
  { name: 'reviews', run: reviews },
  { name: 'refusals', run: refusals },
  { name: 'escalation', run: escalation },
  { name: 'certificates', run: certificates },
  {
    name: 'roles of the start',
    run: async (api) => {
      for (const [resource, selector] of [
        ['clusterroles', ''],
        ['clusterrolebindings', ''],
        ['namespaces/kube-system/roles', ''],
        ['namespaces/kube-system/rolebindings', ''],
        ['namespaces/kube-public/roles', ''],
      ])
        await api.get(`${RBAC}/${resource}?labelSelector=kubernetes.io%2Fbootstrapping%3Drbac-defaults${selector}`);
      await api.get('/apis/scheduling.k8s.io/v1/priorityclasses');
      await api.get('/api/v1/namespaces/default/services/kubernetes');
      await api.get('/api/v1/namespaces/kube-system');
      await api.get('/api/v1/namespaces/default/endpoints/kubernetes');
      await api.get('/apis/networking.k8s.io/v1/servicecidrs/kubernetes');
    },
  },
];
