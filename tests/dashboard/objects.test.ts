/** What the page of `podwright dashboard` shows about objects: rollouts, owners, endpoints, probes, files in volumes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { exampleImage, forever } from '../pods/node.fixture.ts';
import { DashboardPlace } from './dashboard-place.fixture.ts';
import { pod, service, together } from './manifests.fixture.ts';

/** A Deployment whose pods only become ready if the mode is `good`. */
const deployment = (mode: string) =>
  'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: shop}\n' +
  'spec: {replicas: 2, selector: {matchLabels: {app: shop}}, template: {metadata: {labels: {app: shop}}, ' +
  `spec: {terminationGracePeriodSeconds: 0, containers: [{name: main, image: "${exampleImage}", ` +
  `command: [sh, -c, ${JSON.stringify(forever)}], env: [{name: MODE, value: ${mode}}], ` +
  `readinessProbe: {periodSeconds: 1, exec: {command: [sh, -c, '[ "$MODE" = good ]']}}}]}}}\n`;

let place: DashboardPlace;
before(async () => {
  const probe = 'readinessProbe: {periodSeconds: 1, exec: {command: [sh, -c, "echo database is away; exit 1"]}}';
  const files = pod({
    name: 'files',
    script: 'echo x > /data/hello.txt; while :; do sleep 1000; done',
    container: 'volumeMounts: [{name: v, mountPath: /data}]',
    spec: 'volumes: [{name: v, emptyDir: {}}]',
  });
  const manifests = together(
    deployment('good'),
    service('shop', 'shop'),
    service('lost', 'nothing'),
    files,
    pod({ name: 'unready', container: probe }),
  );
  place = await DashboardPlace.start('10.172.251.0/24', manifests);
  await place.node.ok('rollout', 'status', 'deploy/shop', '--timeout', '60s');
});
after(() => place.stop());

test('a Service shows the current endpoints, with their pods', async () => {
  const page = await place.open();
  const { tab } = page;
  await page.show('/object/v1/services/default/shop');
  const endpoints = tab.getByRole('region', { name: 'Endpoints' });
  await endpoints.getByText('2 ready endpoints').waitFor();
  assert.equal(await endpoints.getByRole('link', { name: /^shop-/ }).count(), 2);
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('the list of Services marks those whose pods cannot answer', async () => {
  const page = await place.open();
  const { tab } = page;
  await page.show('/services');
  const row = (name: string) => tab.getByRole('row').filter({ has: tab.getByRole('link', { name, exact: true }) });
  await row('lost').getByText('no pods').waitFor();
  await row('shop').getByText('2 of 2 ready').waitFor();
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('a pod shows its owners, and a Deployment shows what it owns', async () => {
  const page = await place.open();
  const { tab } = page;
  await page.show('/object/apps/v1/deployments/default/shop');
  const map = tab.getByRole('region', { name: 'Belongs to' });
  await map.getByRole('link', { name: /^ReplicaSet shop-/ }).waitFor();
  await map
    .getByRole('link', { name: /^Pod shop-/ })
    .first()
    .click();
  await map.getByRole('link', { name: 'Deployment shop' }).waitFor();
  await map.getByRole('link', { name: 'Service shop' }).waitFor();
  assert.deepEqual(page.problems, []);
  await page.close();
});

test("probe failures are shown as ticks, with the probe's response", async () => {
  const page = await place.open();
  const { tab } = page;
  await page.show('/pods/default/unready');
  const probes = tab.getByRole('region', { name: 'Probes' });
  // failures with other messages, such as a timeout on a busy host, have ticks of their own
  const failures = probes.locator('div', { hasText: 'database is away', has: tab.locator('.ticks') }).last();
  await failures.getByText(/([2-9]|\d\d) failures/).waitFor();
  assert.match((await failures.locator('.ticks').textContent()) ?? '', /^▮{2,}/);
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('the files of a volume are listed', async () => {
  const page = await place.open();
  const { tab } = page;
  await page.show('/pods/default/files');
  await tab.getByRole('button', { name: 'List the files of /data' }).click();
  await tab.getByRole('region', { name: 'Volumes' }).getByText('hello.txt').waitFor();
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('a stalled rollout is shown as such', async () => {
  await place.node.ok('apply', place.node.file('next.yaml', deployment('bad')));
  const page = await place.open();
  const { tab } = page;
  const rollouts = tab.getByRole('region', { name: 'Needs attention' });
  await rollouts.getByRole('link', { name: 'Deployment shop' }).waitFor();
  await rollouts.getByText(/1 of 2 pods updated, 2 available, 2 old pods not yet removed/).waitFor();
  await page.show('/object/apps/v1/deployments/default/shop');
  await tab.getByRole('region', { name: 'Rollout is stuck' }).waitFor();
  await tab.getByText(/revision 2, of \S+, changed the variable MODE of container main/).waitFor();
  assert.deepEqual(page.problems, []);
  await page.close();
});
