/** The pages of `podwright dashboard` in a real browser, in front of a real node. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { after, before, test } from 'node:test';
import type { Route } from 'playwright-core';
import { DashboardPlace } from './dashboard-place.fixture.ts';
import { configMap, pod, service, together } from './manifests.fixture.ts';
import type { OpenedPage } from './opened-dashboard.fixture.ts';

const LOG_LINES = 1_000_000;
const LINE_BYTES = 100;

let place: DashboardPlace;
before(async () => {
  const line = 'x'.repeat(LINE_BYTES - 1);
  const hungry = "x=$(head -c 60000000 /dev/zero | tr '\\0' a); sleep 1000";
  const log = `yes ${line} | head -n ${LOG_LINES}; echo the last line; while :; do sleep 1000; done`;
  place = await DashboardPlace.start(
    '10.172.243.0/24',
    together(
      pod({ name: 'crash', script: 'echo cannot connect to postgres at db:5432 >&2; exit 3' }),
      pod({ name: 'steady', metadata: 'labels: {app: steady}' }),
      pod({ name: 'talks', script: log }),
      pod({ name: 'hungry', script: hungry, container: 'resources: {limits: {memory: 20Mi}}' }),
      configMap('settings', '{colour: blue, size: "1"}'),
      service('steady', 'steady'),
    ),
  );
});
after(() => place.stop());

const assertNoProblems = ({ problems }: OpenedPage) => assert.deepEqual(problems, []);

test('the overview shows node usage, the pods, and why one does not run', async () => {
  const page = await place.open();
  const { tab } = page;
  await tab.getByRole('link', { name: 'default/crash' }).waitFor();
  const trouble = tab.getByRole('listitem').filter({ hasText: 'default/crash' });
  await trouble.getByText(/container main fails \(exit code 3\)/i).waitFor();
  await trouble.getByText('cannot connect to postgres at db:5432').first().waitFor();
  await tab.getByText(/% of \d+ cores/).waitFor();
  await tab
    .getByRole('link', { name: /steady/ })
    .first()
    .waitFor();
  assert.ok(!tab.url().includes('token'), tab.url());
  await trouble.getByRole('link', { name: 'default/crash' }).click();
  await tab.getByRole('heading', { name: /What is wrong/ }).waitFor();
  await tab
    .getByText(/container main fails \(exit code 3\)/i)
    .first()
    .waitFor();
  assertNoProblems(page);
  await page.close();
});

test('a terminal runs a shell in a container', async () => {
  const page = await place.open();
  await page.show('/pods/default/steady/terminal');
  const screen = page.tab.locator('.xterm-rows');
  await screen.getByText(/[#$]/).first().waitFor();
  await page.tab.keyboard.type('echo $((6 * 7))x; printf "\\033[32mgreen\\033[0m\\n"; stty size\n');
  await screen.getByText('42x', { exact: true }).waitFor();
  await screen.getByText('green', { exact: true }).waitFor();
  await screen
    .getByText(/^\d{2,3} \d{2,3}$/)
    .first()
    .waitFor();
  await page.tab.keyboard.type('exit\n');
  await page.tab.getByText('The shell has ended').waitFor();
  assertNoProblems(page);
  await page.close();
});

test('a 100 MB log can be read to its end and scrolled with bounded memory', async () => {
  await place.node.until(async () => (await place.node.ok('logs', 'talks', '--tail', '1')).includes('the last line'));
  const page = await place.open();
  const { tab } = page;
  await page.show('/pods/default/talks/logs');
  const log = tab.getByRole('log');
  await log.getByText('the last line').waitFor();
  await tab.getByLabel('Whole log').check();
  await tab.getByText(/^1,000,001 lines; the last [\d,]+ are kept$/).waitFor({ timeout: 120_000 });
  await log.getByText('the last line').waitFor();
  await log.focus();
  for (const key of ['PageUp', 'PageUp', 'Home', 'End']) await tab.keyboard.press(key);
  await log.getByText('the last line').waitFor();
  const rows = Number(await tab.evaluate("document.querySelectorAll('.log-row').length"));
  assert.ok(rows < 300, `${rows} rows are drawn`);
  assertNoProblems(page);
  await page.close();
});

test('an edit is reviewed before it is applied, and merged with a change by another user', async () => {
  const page = await place.open();
  const { tab } = page;
  await page.show('/object/v1/configmaps/default/settings/yaml');
  const editor = tab.getByRole('textbox', { name: 'YAML of settings' });
  await editor.getByText('blue').click();
  await tab.keyboard.press('End');
  await tab.keyboard.type('-green');
  const path = '/api/v1/namespaces/default/configmaps/settings';
  await place.send('PATCH', path, { data: { size: '2' } }, 'application/merge-patch+json');
  await tab.getByRole('button', { name: 'Review changes' }).click();
  await tab.getByText('blue-green').first().waitFor();
  await tab.getByRole('button', { name: 'Apply' }).click();
  await tab.getByText('The object has been changed since it was read').waitFor();
  await tab.getByRole('button', { name: 'Merge and review' }).click();
  await tab.getByRole('button', { name: 'Apply' }).click();
  await tab.getByText('Applied.').waitFor();
  const { data } = await place.node.api<{ data: Record<string, string> }>(path);
  assert.deepEqual(data, { colour: 'blue-green', size: '2' });
  assertNoProblems(page);
  await page.close();
});

test('an edit preserves 64-bit integers exactly', async () => {
  const page = await place.open();
  const { tab } = page;
  const stored =
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"large","namespace":"default"},' +
    '"data":{"a":"blue"},"count":9007199254740993}';
  let sent = '';
  // the test responds in place of the API server, which has no such object
  await tab.route('**/api/v1/namespaces/default/configmaps/large', async (route) => {
    const request = route.request();
    if (request.method() === 'PUT') sent = request.postData() ?? '';
    await route.fulfill({ contentType: 'application/json', body: sent || stored });
  });
  await page.show('/object/v1/configmaps/default/large/yaml');
  const editor = tab.getByRole('textbox', { name: 'YAML of large' });
  await editor.getByText('count: 9007199254740993').waitFor();
  await editor.getByText('blue').click();
  await tab.keyboard.press('End');
  await tab.keyboard.type('-green');
  await tab.getByRole('button', { name: 'Review changes' }).click();
  await tab.getByRole('button', { name: 'Apply' }).click();
  await tab.getByText('Applied.').waitFor();
  assert.equal(sent, stored.replace('blue', 'blue-green'));
  assertNoProblems(page);
  await page.close();
});

test('an object can be found and opened using only the keyboard', async () => {
  const page = await place.open();
  const { tab } = page;
  await tab.keyboard.press('/');
  await tab.keyboard.type('settings');
  await tab.getByRole('dialog').getByText('settings').first().waitFor();
  await tab.keyboard.press('Enter');
  await tab.getByRole('heading', { name: /settings/ }).waitFor();
  assertNoProblems(page);
  await page.close();
});

/** A script for the page that presses `/` and returns the name of the field that has the focus before the page is painted again. */
const OPEN_SEARCH = `
  (async () => {
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '/', bubbles: true }));
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    return document.activeElement?.getAttribute('aria-label') ?? '';
  })()`;

test('the search receives letters that are typed at once', async () => {
  const page = await place.open();
  assert.equal(await page.tab.evaluate(OPEN_SEARCH), 'Name, kind or namespace');
  assertNoProblems(page);
  await page.close();
});

test('a Service can be tested: its name resolves, and the connection fails', async () => {
  const page = await place.open();
  const { tab } = page;
  await page.show('/object/v1/services/default/steady');
  await tab.getByRole('button', { name: 'Try port 80' }).click();
  await tab.getByText(/steady\.default\.svc\.cluster\.local: 10\./).waitFor();
  await tab.getByText('not connected').waitFor();
  assertNoProblems(page);
  await page.close();
});

test('the page is reachable through a forwarded port', async () => {
  const { port } = new URL(place.dashboard.origin);
  const relay = createServer((client) => {
    const server = connect(Number(port), '127.0.0.1');
    client.pipe(server).pipe(client);
    client.on('error', () => server.destroy());
    server.on('error', () => client.destroy());
  });
  await once(relay.listen(0, '127.0.0.1'), 'listening');
  const { port: other } = relay.address() as { port: number };
  const context = await place.browser.newContext();
  const tab = await context.newPage();
  await tab.goto((await place.dashboard.link()).replace(place.dashboard.origin, `http://localhost:${other}`));
  await tab.getByRole('link', { name: 'default/crash' }).waitFor();
  await context.close();
  relay.close();
});

test('slow explanations of many pods leave connections of the browser for other requests', async () => {
  const page = await place.open();
  const { tab } = page;
  const crash = await place.node.api<{ metadata: object }>('/api/v1/namespaces/default/pods/crash');
  const items = Array.from({ length: 8 }, (_, index) => ({
    ...crash,
    metadata: { ...crash.metadata, name: `crash-${index}`, uid: `uid-${index}` },
  }));
  // the test responds in place of the API server, and no watch has any events
  await tab.routeWebSocket('**/dashboard/stream?*', () => undefined);
  await tab.route('**/api/v1/pods?*', (route) =>
    route.fulfill({ json: { metadata: { resourceVersion: '1' }, items } }),
  );
  const waiting: Route[] = [];
  const explained = new Set<string>();
  await tab.route('**/dashboard/why?*', (route) => {
    explained.add(route.request().url());
    waiting.push(route);
  });
  await tab.reload();
  await tab.getByRole('link', { name: 'default/crash-7' }).waitFor();
  for (let count = 2; count <= items.length; count++) {
    await place.node.until(() => explained.size === count);
    assert.equal(waiting.length, 2);
    await waiting.shift()!.fulfill({ json: {} });
  }
  await page.close();
});

/** A script for the page that opens each of these fragments before the previous page has been painted. */
const passThrough = (fragments: string[]) => `
  (async () => {
    const { port1, port2 } = new MessageChannel();
    const turn = () => new Promise((resolve) => { port1.onmessage = resolve; port2.postMessage(0); });
    for (const fragment of ${JSON.stringify(fragments)}) {
      const changed = new Promise((resolve) => addEventListener('hashchange', resolve, { once: true }));
      location.hash = fragment;
      await changed;
      await turn();
    }
  })()`;

test('pages that are left before they are painted do not keep their watches open', async () => {
  const page = await place.open();
  const { tab } = page;
  await page.show('/list/v1/services');
  await tab.getByRole('link', { name: 'steady' }).waitFor();
  const started: string[] = [];
  const open = new Set<string>();
  tab.on('websocket', (socket) => {
    const path = new URL(socket.url()).searchParams.get('path')!;
    started.push(path);
    open.add(path);
    socket.on('close', () => open.delete(path));
  });
  const [pods, lists] = [
    ['crash', 'talks', 'hungry'],
    ['secrets', 'configmaps', 'serviceaccounts'],
  ];
  await tab.evaluate(
    passThrough([...pods.map((one) => `#/pods/default/${one}`), ...lists.map((one) => `#/list/v1/${one}`), '#/']),
  );
  await tab.getByRole('link', { name: 'default/crash' }).waitFor();
  const isOf = (path: string, names: string[]) =>
    names.some((one) => path.includes(`${one}?`) || path.includes(`name%3D${one}&`));
  await place.node.until(() => pods.every((one) => started.some((path) => isOf(path, [one]))));
  // a page's objects are kept for 20 seconds
  await place.node.until(() => [...open].every((path) => !isOf(path, [...pods, ...lists])));
  assertNoProblems(page);
  await page.close();
});

/** A script for the page that counts how often the banner about a lost connection is removed. */
const COUNT_REMOVALS = `
  removals = 0;
  new MutationObserver((changes) => {
    for (const { removedNodes } of changes)
      for (const node of removedNodes) if (node.classList?.contains('banner')) removals++;
  }).observe(document.body, { childList: true, subtree: true });`;

test('an OOM-killed container is shown with its limit', async () => {
  const page = await place.open();
  await page.show('/pods/default/hungry');
  const panel = page.tab.getByRole('region', { name: 'Memory' });
  await panel
    .getByText(/\d+ kills?/)
    .first()
    .waitFor();
  await panel.getByRole('img', { name: /Memory of main: .* of 20 MiB, killed \d+ times?/ }).waitFor();
  assertNoProblems(page);
  await page.close();
});

test('an open page reports a lost connection while the node restarts, and then shows new pods', async () => {
  const page = await place.open();
  const { tab } = page;
  await tab.getByRole('link', { name: 'default/crash' }).waitFor();
  await place.stopNode();
  await tab.getByText('Connection lost').waitFor();
  await tab.evaluate(COUNT_REMOVALS);
  let attempts = 0;
  tab.on('websocket', (socket) => {
    if (decodeURIComponent(socket.url()).includes('/api/v1/pods?')) attempts++;
  });
  await place.node.until(() => attempts >= 3);
  assert.equal(await tab.evaluate('removals'), 0);
  await place.startNode();
  await tab.getByText('Connection lost').waitFor({ state: 'detached' });
  await place.node.ok('apply', place.node.file('later.yaml', pod({ name: 'later' })));
  await tab.getByRole('link', { name: /later/ }).first().waitFor();
  assertNoProblems(page);
  await page.close();
});
