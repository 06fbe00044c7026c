/** `podwright dashboard` with a kubeconfig: the page has the permissions of the kubeconfig's user. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { DashboardPlace } from './dashboard-place.fixture.ts';
import { configMap, pod, together } from './manifests.fixture.ts';
import { OpenedDashboard } from './opened-dashboard.fixture.ts';

const VIEWER = `apiVersion: v1
kind: ServiceAccount
metadata: {name: viewer}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: viewer}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: ServiceAccount, name: viewer, namespace: default}]
`;

let place: DashboardPlace;
let dashboard: OpenedDashboard;
before(async () => {
  const manifests = together(
    pod({ name: 'crash', script: 'echo no database >&2; exit 3' }),
    pod({ name: 'steady' }),
    configMap('settings', '{colour: blue}'),
    VIEWER,
  );
  place = await DashboardPlace.start('10.172.246.0/24', manifests);
  dashboard = await OpenedDashboard.start(place.node, '--kubeconfig', await kubeconfig());
});
after(async () => {
  await dashboard.stop();
  await place.stop();
});

/** Writes a kubeconfig with a token for the service account `viewer`. Returns its path. */
async function kubeconfig(): Promise<string> {
  const path = '/api/v1/namespaces/default/serviceaccounts/viewer/token';
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
  const { status } = (await place.send('POST', path, request)) as unknown as { status: { token: string } };
  const admin = readFileSync(place.node.path('state/admin.kubeconfig'), 'utf8');
  const server = /server: (\S+)/.exec(admin)![1];
  const authority = /certificate-authority-data: (\S+)/.exec(admin)![1];
  const cluster = { server, 'certificate-authority-data': authority };
  const file = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c' },
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user: { token: status.token } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  };
  return place.node.file('viewer.kubeconfig', JSON.stringify(file));
}

test('a user with the ClusterRole view sees the reason for a failure, but no Secrets and no terminal', async () => {
  const page = await place.open({}, dashboard);
  const { tab } = page;
  await tab.getByText('system:serviceaccount:default:viewer (read-only)').waitFor();
  await tab
    .getByText(/container main fails \(exit code 3\)/i)
    .first()
    .waitFor();
  await page.show('/list/v1/secrets');
  await tab.getByText(/secrets cannot be listed/).waitFor();
  await page.show('/pods/default/steady/terminal');
  await tab.getByText(/may not run programs in pods/).waitFor();
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('the API server rejects what the user is not permitted to do', async () => {
  const page = await place.open({}, dashboard);
  const send = (method: string, path: string) =>
    page.tab.evaluate(
      `fetch(${JSON.stringify(path)}, { method: '${method}', headers: { 'X-Podwright-Key': localStorage.getItem('podwright-key') } }).then((a) => a.status)`,
    );
  assert.equal(await send('GET', 'api/v1/namespaces/default/pods/steady'), 200);
  assert.equal(await send('DELETE', 'api/v1/namespaces/default/pods/steady'), 403);
  assert.equal(await send('GET', 'api/v1/secrets'), 403);
  assert.equal(await send('GET', 'podwright/v1/node'), 404);
  await page.close();
});

test('the command fails if there is no node', async () => {
  const { code, err } = await place.node.call('--state', place.node.path('none'), 'dashboard');
  assert.equal(code, 1);
  assert.match(err, /node/);
});
