/** Attacks on `podwright dashboard` in a real browser, from other pages and through text in objects, logs and program output. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { after, before, test } from 'node:test';
import type { Request } from 'playwright-core';
import { DashboardPlace } from './dashboard-place.fixture.ts';
import { configMap, pod, together } from './manifests.fixture.ts';
import { OpenedPage } from './opened-dashboard.fixture.ts';

const HTML = '<img src=x onerror=alert(1)><script>alert(2)</script><a href=javascript:alert(3)>x</a>';
/** Escape sequences that set the title and the clipboard, clear the screen, and move to the start of the line. */
const ESCAPES = `\\033]0;owned\\007\\033]52;c;b3duZWQ=\\007\\033[2J\\033[H\\r`;
const LINK = '\\033]8;;http://link.attacker.example/\\007link\\033]8;;\\007';

let place: DashboardPlace;
/** The attacker's server, on a different port of this host. Names under `attacker.example` also resolve to it. */
let attacker: Server;
let attackerPort: number;
/** The HTML documents on the attacker's server, by URL path. */
const pages = new Map<string, string>();
const received: { url: string; headers: NodeJS.Dict<string | string[]> }[] = [];

before(async () => {
  const print = `printf '${HTML}\\n${ESCAPES}visible \\342\\200\\256reversed\\n'`;
  const annotations = JSON.stringify({ note: HTML, 'example.com/x': '\u001b[2J\u202ereversed' });
  place = await DashboardPlace.start(
    '10.172.245.0/24',
    together(
      pod({
        name: 'hostile',
        script: `${print}; while :; do sleep 1000; done`,
        metadata: `annotations: ${annotations}`,
        container: `env: [{name: A, value: ${JSON.stringify(HTML)}}]`,
      }),
      pod({ name: 'fails', script: `${print}; printf '${HTML}' > /dev/termination-log; exit 1` }),
      configMap('hostile', JSON.stringify({ html: HTML, script: '</script><script>alert(4)</script>' })),
    ),
  );
  attacker = createServer((request, response) => {
    const url = request.url ?? '/';
    received.push({ url, headers: request.headers });
    response.setHeader('content-type', 'text/html').end(pages.get(url) ?? '');
  });
  await once(attacker.listen(0, '127.0.0.1'), 'listening');
  attackerPort = (attacker.address() as { port: number }).port;
});
after(async () => {
  attacker.closeAllConnections();
  attacker.close();
  await place.stop();
});

/** Opens the dashboard, then an attacker's page in the same browser profile. Returns the result of the attacker's script. */
async function attack(host: string, script: string): Promise<unknown> {
  const page = await place.open();
  const tab = await page.tab.context().newPage();
  pages.set('/attack', '<!doctype html><title>attack</title>');
  await tab.goto(`http://${host}:${attackerPort}/attack`);
  const result = await tab.evaluate(`(async (target) => { ${script} })(${JSON.stringify(place.dashboard.origin)})`);
  await page.tab.context().close();
  return result;
}

const HOSTS = ['127.0.0.1', 'localhost', 'www.attacker.example'];

test('HTML in objects, logs and events is shown as text', async () => {
  await place.node.until(async () => (await place.node.ok('get', 'pods')).includes('CrashLoopBackOff'));
  const page = await place.open();
  const { tab } = page;
  for (const where of [
    '/',
    '/pods/default/hostile',
    '/pods/default/fails',
    '/object/v1/configmaps/default/hostile',
    '/events',
  ]) {
    await page.show(where);
    await tab
      .getByRole('main')
      .getByText(/hostile|fails/)
      .first()
      .waitFor();
  }
  await page.show('/pods/default/hostile/yaml');
  await tab.getByRole('textbox', { name: /YAML/ }).getByText('onerror').first().waitFor();
  assert.equal(
    await tab.evaluate('document.querySelectorAll("img, script:not([src]), a[href^=javascript]").length'),
    0,
  );
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('escape sequences in logs change neither the page nor other lines', async () => {
  const page = await place.open();
  const { tab } = page;
  await page.show('/pods/default/hostile/logs');
  const log = tab.getByRole('log');
  await log.getByText('<script>alert(2)</script>').waitFor();
  const text = (await log.textContent()) ?? '';
  assert.match(text, /visible/);
  assert.doesNotMatch(text, /[\u001b\u202e]/);
  assert.doesNotMatch(await tab.title(), /owned/);
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('a program in a terminal changes neither the title nor the clipboard, and its links open nothing', async () => {
  const page = await place.open();
  const { tab } = page;
  await page.show('/pods/default/hostile/terminal');
  const screen = tab.locator('.xterm-rows');
  await screen.getByText('#').first().waitFor();
  await tab.keyboard.type(`printf '${ESCAPES}${LINK} shown\\n'\n`);
  await screen.getByText('link shown', { exact: true }).waitFor();
  await screen.getByText('link', { exact: true }).click({ force: true });
  assert.doesNotMatch(await tab.title(), /owned/);
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('requests with a rebound host name are rejected', async () => {
  const tab = await place.browser.newPage();
  const { port } = new URL(place.dashboard.origin);
  for (const path of ['/', '/dashboard/session', '/api/v1/secrets']) {
    const answer = await tab.goto(`http://rebound.attacker.example:${port}${path}`);
    assert.equal(answer!.status(), 403, path);
  }
  await tab.close();
});

test('pages from other origins can neither read responses nor change objects, even if the browser has a session', async () => {
  const script = `
    const results = [];
    const tries = {
      read: () => fetch(target + '/api/v1/secrets', { credentials: 'include' }),
      opaque: () => fetch(target + '/api/v1/secrets', { credentials: 'include', mode: 'no-cors' }).then((a) => a.type === 'opaque' && Promise.reject()),
      write: () => fetch(target + '/api/v1/namespaces/default/pods/hostile', { method: 'DELETE', credentials: 'include' }),
      simple: () => fetch(target + '/api/v1/namespaces', { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{}' }).then(() => Promise.reject()),
      key: () => fetch(target + '/api', { headers: { 'X-Podwright-Key': 'x' }, credentials: 'include' }),
      script: () => new Promise((done, failed) => { const s = document.createElement('script'); s.src = target + '/api/v1/secrets'; s.onload = done; s.onerror = failed; document.head.append(s); }),
      socket: () => new Promise((done, failed) => { const s = new WebSocket(target.replace('http', 'ws') + '/dashboard/stream?path=/api/v1/secrets', ['podwright.stream.v1']); s.onopen = done; s.onerror = failed; }),
    };
    for (const [name, run] of Object.entries(tries)) await run().then(() => results.push(name), () => undefined);
    return results;`;
  for (const host of HOSTS) assert.deepEqual(await attack(host, script), [], host);
  const pods = await place.node.pods();
  assert.ok(pods.some(({ metadata }) => metadata.name === 'hostile' && metadata.deletionTimestamp === undefined));
});

test('the page cannot be shown in a frame', async () => {
  const script = `
    const frame = document.createElement('iframe');
    frame.src = target + '/';
    const loaded = new Promise((done) => { frame.onload = done; });
    document.body.append(frame);
    await loaded;
    try { return frame.contentDocument === null ? 'other origin' : 'readable'; } catch { return 'other origin'; }`;
  for (const host of HOSTS) assert.equal(await attack(host, script), 'other origin', host);
  const tab = await place.browser.newPage();
  pages.set('/frame', `<!doctype html><iframe src="${place.dashboard.origin}/"></iframe>`);
  await tab.goto(`http://127.0.0.1:${attackerPort}/frame`);
  const [, frame] = tab.frames();
  assert.equal(await frame!.getByRole('main').count(), 0);
  await tab.close();
});

test('a window opened by another page is not accessible to that page', async () => {
  const script = `const w = open(target + '/'); await new Promise((done) => setTimeout(done, 1000)); return w === null || w.closed;`;
  assert.equal(await attack('www.attacker.example', script), true);
});

test('a link works once', async () => {
  const link = await place.dashboard.link();
  const context = await place.browser.newContext();
  const page = new OpenedPage(await context.newPage());
  await page.tab.goto(link);
  await page.tab.getByRole('navigation', { name: 'Pages' }).waitFor();
  const other = await (await place.browser.newContext()).newPage();
  await other.goto(link);
  await other.getByText('This page needs a new link').waitFor();
  assert.deepEqual(page.problems, []);
  await Promise.all([context.close(), other.context().close()]);
});

test('no request has a Referer or a token in its URL, and scripts cannot read the cookie', async () => {
  const context = await place.browser.newContext();
  const tab = await context.newPage();
  const requests: Request[] = [];
  tab.on('request', (request) => requests.push(request));
  await tab.goto(await place.dashboard.link());
  await tab.getByRole('navigation', { name: 'Pages' }).waitFor();
  const ended = requests.filter((request) => request.resourceType() !== 'websocket');
  const referers = await Promise.all(ended.map(async (request) => (await request.allHeaders()).referer));
  assert.ok(referers.length > 3);
  assert.ok(referers.every((referer) => referer === undefined || referer === ''));
  assert.ok(ended.every((request) => !new URL(request.url()).search.includes('token')));
  assert.equal(await tab.evaluate('document.cookie'), '');
  const [cookie] = await context.cookies();
  assert.deepEqual([cookie!.httpOnly, cookie!.sameSite], [true, 'Strict']);
  await context.close();
});
