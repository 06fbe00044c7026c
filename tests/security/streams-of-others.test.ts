/**
 * A local user tries to use another user's exec URL: by guessing it from other URLs, reusing it, using it concurrently, or modifying it.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { StreamingPod } from '../streaming/streaming-pod.fixture.ts';

const runtime = new RuntimeUnderTest();
let pod: StreamingPod;

before(async () => {
  await runtime.start();
  const { cri, image, place } = runtime;
  pod = await new StreamingPod({ cri, image, logDirectory: place.logs, end: async () => undefined }).start();
});
after(async () => assert.deepEqual(await runtime.end(), []));

/** Returns the status code of the response to an upgrade request. */
async function ask({ port }: URL, path: string): Promise<number> {
  const socket = connect(Number(port), '127.0.0.1');
  socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n`);
  const [answer] = (await once(socket, 'data', { signal: AbortSignal.timeout(20_000) })) as [Buffer];
  socket.destroy();
  return Number(String(answer).split(' ')[1]);
}

const tokenOf = (url: string) => new URL(url).pathname.split('/')[2]!;

test('only one of several simultaneous clients of a URL is served, and no later one', async () => {
  const url = new URL(await pod.exec('true'));
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(url, url.pathname)));
  assert.deepEqual(answers.sort(), [101, ...Array(19).fill(404)]);
  assert.equal(await ask(url, url.pathname), 404);
});

test('a URL modified in any way is unknown', async () => {
  const url = new URL(await pod.exec('true'));
  const token = tokenOf(url.href);
  const flipped = (token.startsWith('A') ? 'B' : 'A') + token.slice(1);
  const changed = ['/exec/', '/exec', `/exec/${flipped}`, `/exec/${token.slice(0, -1)}`, `/exec/${token}x`];
  const others = [`/exec/${token.toLowerCase()}${token.toUpperCase()}`, `/exec//${token}`, `/x/../exec/${token}`];
  for (const path of [...changed, ...others, '/exec/__proto__', '/exec/constructor'])
    assert.equal(await ask(url, path), 404, path);
  assert.equal(await ask(url, url.pathname), 101);
});

test('a URL is valid only for its stream type, and invalid after the attempt', async () => {
  const url = new URL(await pod.exec('true'));
  assert.equal(await ask(url, url.pathname.replace('/exec/', '/attach/')), 404);
  assert.equal(await ask(url, url.pathname), 404);
});

test('tokens have 128 random bits, independent of other URLs', async () => {
  const tokens: Buffer[] = [];
  for (let count = 0; count < 256; count++) tokens.push(Buffer.from(tokenOf(await pod.exec('true')), 'base64url'));
  assert.ok(tokens.every((token) => token.length === 16));
  for (let bit = 0; bit < 128; bit++) {
    const value = (token: Buffer) => (token[bit >> 3]! >> (bit & 7)) & 1;
    const ones = tokens.filter((token) => value(token) === 1).length;
    const changes = tokens.filter((token, index) => index > 0 && value(token) !== value(tokens[index - 1]!)).length;
    // within six standard deviations of one half: fails by chance in less than one in a hundred thousand runs
    for (const count of [ones, changes]) assert.ok(Math.abs(count - 128) < 48, `bit ${bit}: ${count} of 256`);
  }
});
