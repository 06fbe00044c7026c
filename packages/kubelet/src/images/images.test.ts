import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { sleep } from '@podwright/base';
import { parseImageReference, withDefaultTag } from '@podwright/kube-api';
import { decidePull } from './image-manager.ts';
import { entriesFor, parseDockerConfig, readNodeKeyring } from './keyring.ts';
import { PullQueue } from './pull-queue.ts';

test('image names are parsed like Docker does', () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  const table: [string, string, string, string, string][] = [
    ['nginx', 'docker.io', 'library/nginx', '', ''],
    ['nginx:1.27', 'docker.io', 'library/nginx', '1.27', ''],
    ['team/app', 'docker.io', 'team/app', '', ''],
    ['index.docker.io/nginx', 'docker.io', 'library/nginx', '', ''],
    ['localhost/app:1', 'localhost', 'app', '1', ''],
    ['registry.test:5000/a/b/c:v1', 'registry.test:5000', 'a/b/c', 'v1', ''],
    [`registry.k8s.io/pause@${digest}`, 'registry.k8s.io', 'pause', '', digest],
    [`nginx:1@${digest}`, 'docker.io', 'library/nginx', '1', digest],
    ['[2001:db8::1]:5000/a', '[2001:db8::1]:5000', 'a', '', ''],
  ];
  for (const [text, registry, repository, tag, digestPart] of table) {
    assert.deepEqual(parseImageReference(text), { registry, repository, tag, digest: digestPart }, text);
  }
});

test('invalid image names are refused', () => {
  const wrong = [
    '',
    'lower/UPPER',
    'a//b',
    'a:',
    'a:-tag',
    'a@sha256:xyz',
    'a b',
    '/a',
    'a/',
    `${'a'.repeat(300)}`,
    'a@b@c',
    'http://a/b',
  ];
  for (const text of wrong) assert.equal(parseImageReference(text), undefined, text);
});

test('a name without a tag or digest gets the tag latest', () => {
  const complete = (text: string) => withDefaultTag(text, parseImageReference(text)!);
  assert.equal(complete('nginx'), 'nginx:latest');
  assert.equal(complete('localhost:5000/nginx'), 'localhost:5000/nginx:latest');
  assert.equal(complete('nginx:1'), 'nginx:1');
});

test('decidePull follows the pull policy', () => {
  assert.equal(decidePull('Always', true), 'pull');
  assert.equal(decidePull('IfNotPresent', true), 'use');
  assert.equal(decidePull('IfNotPresent', false), 'pull');
  assert.equal(decidePull('Never', true), 'use');
  assert.equal(decidePull('Never', false), 'refuse');
});

function usersFor(image: string, servers: string[]): string[] {
  const auths = Object.fromEntries(servers.map((server) => [server, { auth: btoa(`${server}:secret`) }]));
  const entries = parseDockerConfig(JSON.stringify({ auths }));
  return entriesFor(parseImageReference(image)!, entries).map(({ credential }) => credential.username);
}

test('credentials match by registry, path and host pattern, the most specific first', () => {
  assert.deepEqual(usersFor('nginx', ['https://index.docker.io/v1/', 'other.test']), ['https']); // btoa splits at the first colon
  assert.deepEqual(usersFor('r.test/team/app', ['r.test', 'r.test/team', 'r.test/te', 'r.test/other']), [
    'r.test/team',
    'r.test/te',
    'r.test',
  ]);
  assert.deepEqual(usersFor('r.test/team/app', ['r.test/team/', 'r.test/app', 'r.test/team/appl']), ['r.test/team/']);
  assert.deepEqual(usersFor('a.r.test/x', ['*.r.test', '*.test', 'r.test']), ['*.r.test']);
  assert.deepEqual(usersFor('r.test:5000/x', ['r.test']), []);
  assert.deepEqual(usersFor('a.r.test/x', ['*.r.test', 'a.r.test']), ['a.r.test', '*.r.test']);
  assert.deepEqual(usersFor('r.test/team/app', ['r.test/v2/team', 'r.test/v1/other', 'r.test/v2/']), [
    'r.test/v2/team',
    'r.test/v2/',
  ]);
});

test('a star matches within one label of the host, but never in the port', () => {
  const table: [string, string, boolean][] = [
    ['*', 'registry', true],
    ['r*y', 'registry', true],
    ['*g*s*', 'registry', true],
    ['*gis', 'registry', false],
    ['reg*x', 'registry', false],
    ['regis**try', 'registry', true],
    ['registry*', 'registry', true],
    ['*', 'registry:5000', false],
    ['*:5000', 'registry:5000', true],
    ['re.istry', 'registry', false],
  ];
  for (const [pattern, host, expected] of table) {
    const found = usersFor(`${host.replace(/(:|$)/, '.test$1')}/x`, [pattern.replace(/(:|$)/, '.test$1')]);
    assert.equal(found.length === 1, expected, `${pattern} ${host}`);
  }
});

test('docker configurations with passwords or tokens are decoded, and invalid entries are skipped', () => {
  const text = JSON.stringify({
    auths: { a: { username: 'u', password: 'p' }, b: { identitytoken: 't' }, c: { auth: '' }, d: 'x' },
  });
  const found = parseDockerConfig(text).map(({ pattern, credential }) => [
    pattern,
    credential.username,
    credential.password,
  ]);
  assert.deepEqual(found, [
    ['a', 'u', 'p'],
    ['b', '', ''],
  ]);
  assert.deepEqual(
    parseDockerConfig('{"r.test": {"username": "old", "password": "p"}}')[0]!.credential.username,
    'old',
  );
  assert.throws(() => parseDockerConfig('{'));
});

test('an unreadable docker configuration is reported, and the others are used', async (context) => {
  const scratch = await mkdtemp(join(tmpdir(), 'podwright-keyring-'));
  context.after(() => rm(scratch, { recursive: true }));
  const [good, large, missing] = ['good', 'large', 'missing'].map((name) => join(scratch, name));
  await writeFile(good!, JSON.stringify({ auths: { 'registry.test': { username: 'me', password: 'secret' } } }));
  await writeFile(large!, ' '.repeat((1 << 20) + 1));
  const bad: string[] = [];
  const entries = await readNodeKeyring([scratch, large!, missing!, good!], (path) => void bad.push(path));
  assert.deepEqual(bad, [scratch, large]);
  assert.equal(entries.length, 1);
});

test('pulls are limited in concurrency, and in rate after a burst', async () => {
  const signal = new AbortController().signal;
  let running = 0;
  let most = 0;
  const pull = async () => {
    most = Math.max(most, ++running);
    await new Promise(setImmediate);
    running--;
  };
  const narrow = new PullQueue({ maxParallel: 2, qps: 0, burst: 0 });
  await Promise.all(Array.from({ length: 6 }, () => narrow.run(pull, signal)));
  assert.equal(most, 2);
  const slow = new PullQueue({ maxParallel: 0, qps: 100, burst: 2 });
  const startedAtMs = performance.now();
  await Promise.all(Array.from({ length: 5 }, () => slow.run(pull, signal)));
  assert.ok(performance.now() - startedAtMs >= 25, 'three of five wait 10 ms more each');
});

test('an aborted pull leaves the queue at once, and the next one proceeds', async () => {
  const queue = new PullQueue({ maxParallel: 1, qps: 0, burst: 0 });
  const first = Promise.withResolvers<string>();
  const never = AbortSignal.timeout(60_000);
  const running = queue.run(() => first.promise, never);
  const stop = new AbortController();
  const left = assert.rejects(
    queue.run(async () => assert.fail('pulled'), stop.signal),
    { message: 'the pod ends' },
  );
  const last = queue.run(async () => 'last', never);
  stop.abort(new Error('the pod ends'));
  await Promise.race([left, sleep(3000).then(() => assert.fail('it waited for the pull before it'))]);
  first.resolve('first');
  assert.deepEqual(await Promise.all([running, last]), ['first', 'last']);
});
