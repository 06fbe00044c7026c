/**
 * `podwright dashboard` with kubeconfigs of users who only have rights in one namespace, and startup steps, which it then reads from the
 * kubelet through the API server.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { after, before, test } from 'node:test';
import axe from 'axe-core';
import { DashboardPlace } from './dashboard-place.fixture.ts';
import { configMap, pod, service, together } from './manifests.fixture.ts';
import { OpenedDashboard, type OpenedPage } from './opened-dashboard.fixture.ts';

/** Ada may change the objects in the namespace `shop`. Bob may read them, and may list namespaces. */
const RIGHTS = `apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: ada, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ada}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: bob, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: bob}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: namespaces}
rules: [{apiGroups: [''], resources: [namespaces], verbs: [list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: bob}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: namespaces}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: bob}]
`;

/** The axe-core rules that appearance.test.ts checks for other pages. */
const WCAG = { runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] } };

const inShop = (manifest: string) => manifest.replace(/(metadata: \{name: [\w-]+)/, '$1, namespace: shop');

let place: DashboardPlace;
/** A registry that accepts connections but never responds. */
let registry: Server;
const dashboards: Record<string, OpenedDashboard> = {};
before(async () => {
  registry = createServer((socket) => void socket.on('error', () => undefined));
  await once(registry.listen(0, '127.0.0.1'), 'listening');
  const { port } = registry.address() as { port: number };
  const slow = pod({ name: 'slow' }).replace(/image: "[^"]+"/, `image: "127.0.0.1:${port}/a/b:1"`);
  const manifests = together(
    RIGHTS,
    inShop(pod({ name: 'crash', script: 'echo no database >&2; exit 3' })),
    inShop(pod({ name: 'steady', script: 'while :; do echo hello; sleep 1; done', metadata: 'labels: {app: steady}' })),
    inShop(configMap('settings', '{colour: blue}')),
    inShop(service('steady', 'steady')),
    pod({ name: 'elsewhere' }),
    slow,
  );
  place = await DashboardPlace.start('10.172.248.0/24', manifests);
  dashboards.ada = await open(await kubeconfig('ada', 'shop'));
  dashboards.bob = await open(await kubeconfig('bob', 'default'));
  dashboards.admin = await open(place.node.path('state/admin.kubeconfig'));
});
after(async () => {
  for (const dashboard of Object.values(dashboards)) await dashboard.stop();
  await place.stop();
  registry.close();
});

const open = (path: string) => OpenedDashboard.start(place.node, '--kubeconfig', path);

/** Writes a user's kubeconfig with a namespace in its context. Returns its path. */
async function kubeconfig(user: string, namespace: string): Promise<string> {
  const text = await place.node.ok('kubeconfig', '--user', user);
  const named = text.replace(/(context:\n( +))cluster: /, `$1namespace: ${namespace}\n$2cluster: `);
  return place.node.file(`${user}.kubeconfig`, named);
}

/** Asserts that the page did nothing that a page must not do (`OpenedPage.problems`), and closes it. */
async function close(page: OpenedPage): Promise<void> {
  assert.deepEqual(page.problems, []);
  await page.close();
}

test('a user with permissions in one namespace sees its pods and why one fails', async () => {
  const page = await place.open({}, dashboards.ada);
  const { tab } = page;
  const trouble = tab.getByRole('listitem').filter({ hasText: 'shop/crash' });
  await trouble.getByText(/container main fails \(exit code 3\)/i).waitFor();
  await trouble.getByText('no database').first().waitFor();
  await tab.getByRole('link', { name: 'steady' }).first().waitFor();
  assert.equal(await tab.getByText('elsewhere').count(), 0);
  assert.equal(await tab.getByText('cannot be listed').count(), 0);
  await tab.getByText('ada', { exact: true }).waitFor();
  await close(page);
});

test('a user who may not list namespaces enters one', async () => {
  const page = await place.open({}, dashboards.ada);
  const { tab } = page;
  // a select with the same name is shown until the page knows that namespaces cannot be listed
  const field = tab.locator('input').and(tab.getByRole('combobox', { name: 'Namespace' }));
  await place.node.until(async () => (await field.inputValue()) === 'shop'); // it is known with the session
  await field.fill('default');
  await field.press('Enter');
  await tab.getByText(/Pods cannot be listed: .*User "ada" cannot list resource "pods"/).waitFor();
  await field.fill('shop');
  await field.press('Enter');
  await tab.getByRole('link', { name: 'shop/crash' }).waitFor();
  await tab.evaluate(axe.source);
  const { violations } = (await tab.evaluate(`axe.run(${JSON.stringify(WCAG)})`)) as axe.AxeResults;
  assert.deepEqual(
    violations.map(({ id }) => id),
    [],
  );
  await tab.setViewportSize({ width: 360, height: 740 });
  assert.ok(Number(await tab.evaluate('document.scrollingElement.scrollWidth')) <= 360);
  await close(page);
});

test('lists, events and search are limited to the namespace', async () => {
  const page = await place.open({}, dashboards.ada);
  const { tab } = page;
  await page.show('/list/v1/configmaps');
  await tab.getByRole('link', { name: 'settings' }).waitFor();
  await page.show('/services');
  await tab.getByRole('link', { name: 'steady' }).waitFor();
  await page.show('/events');
  await tab.getByText('BackOff').first().waitFor();
  await tab.keyboard.press('/');
  await tab.keyboard.type('settings');
  const found = tab.getByRole('dialog').getByRole('option').filter({ hasText: 'ConfigMap' });
  await found.filter({ hasText: 'shop' }).waitFor();
  await tab.keyboard.press('Enter');
  await tab.getByRole('heading', { name: /settings/ }).waitFor();
  await close(page);
});

test('logs, a terminal and an edit work in the namespace', async () => {
  const page = await place.open({}, dashboards.ada);
  const { tab } = page;
  await page.show('/pods/shop/steady/logs');
  await tab.getByRole('log').getByText('hello').first().waitFor();
  await page.show('/pods/shop/steady/terminal');
  const screen = tab.locator('.xterm-rows');
  await screen.getByText(/[#$]/).first().waitFor();
  await tab.keyboard.type('echo $((6 * 7))x\n');
  await screen.getByText('42x', { exact: true }).waitFor();
  await page.show('/object/v1/configmaps/shop/settings/yaml');
  const editor = tab.getByRole('textbox', { name: 'YAML of settings' });
  await editor.getByText('blue').click();
  await tab.keyboard.press('End');
  await tab.keyboard.type('-green');
  await tab.getByRole('button', { name: 'Review changes' }).click();
  await tab.getByRole('button', { name: 'Apply' }).click();
  await tab.getByText('Applied.').waitFor();
  const { data } = await place.node.api<{ data: object }>('/api/v1/namespaces/shop/configmaps/settings');
  assert.deepEqual(data, { colour: 'blue-green' });
  await close(page);
});

test('a user with read-only access who can list namespaces is offered those whose pods are visible', async () => {
  const page = await place.open({}, dashboards.bob);
  const { tab } = page;
  await tab.getByRole('link', { name: 'shop/crash' }).waitFor();
  const choice = tab.getByRole('combobox', { name: 'Namespace' });
  assert.deepEqual(await choice.getByRole('option').allTextContents(), ['shop']);
  await tab.getByText('bob (read-only)').waitFor();
  await page.show('/pods/shop/steady');
  await tab.getByText('only with the right to get nodes/proxy').waitFor();
  await page.show('/pods/shop/steady/terminal');
  await tab.getByText(/may not run programs in pods/).waitFor();
  await close(page);
});

test('the steps of a start are shown with only a kubeconfig, even while it is in progress', async () => {
  assert.ok(readFileSync(place.node.path('state/admin.kubeconfig'), 'utf8').includes('server: https://127.0.0.1:'));
  const page = await place.open({}, dashboards.admin);
  const { tab } = page;
  await page.show('/pods/default/elsewhere');
  await tab
    .getByRole('table', { name: /Steps of the start/ })
    .getByText('RunPodSandbox')
    .first()
    .waitFor();
  await page.show('/pods/default/slow');
  const pull = tab.getByRole('row').filter({ hasText: /pull/i }).filter({ hasText: 'under way' });
  await pull.first().waitFor();
  await close(page);
});
