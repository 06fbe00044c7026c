/** A registry that sends its responses byte by byte: memory use depends only on the number of bytes, and small responses time out. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { sha256Digest } from '../../packages/images/src/content/digest.ts';
import type { ImageServiceOptions } from '../../packages/images/src/images.ts';
import { mediaTypes } from '../../packages/images/src/spec/media-types.ts';
import { openRoomWithRegistry } from '../images/image-room.ts';
import { addImage, makeLayer } from '../images/made-image.ts';
import { rejects } from '../images/rejects.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

async function start(t: TestContext, options: Partial<ImageServiceOptions> = {}) {
  const { registry, room } = await openRoomWithRegistry(t, options);
  const pull = () => room.images.pull(`${registry.host}/room/app:1`, { signal: AbortSignal.timeout(120_000) });
  return { registry, pull };
}

/** Sends a body byte by byte, one per turn of the event loop, so that the reader gets a separate buffer for each byte. */
function sendBytes(response: ServerResponse, body: Buffer, contentType: string): true {
  response.writeHead(200, { 'content-type': contentType, 'content-length': body.length });
  response.socket?.setNoDelay(true);
  let sent = 0;
  const next = () => {
    if (sent < body.length) response.write(body.subarray(sent, ++sent), () => setImmediate(next));
    else response.end();
  };
  next();
  return true;
}

/** Returns the peak growth of memory in use during the work, excluding garbage. */
async function bytesTaken(work: () => Promise<unknown>): Promise<number> {
  const inUse = () => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = inUse();
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, inUse() - before);
  }, 200);
  await work();
  clearInterval(timer);
  return most;
}

/** Number of response bytes that are sent one at a time. They take more than 10 MB if each is kept in its own buffer. */
const pieces = 60_000;

test('a manifest in a huge number of chunks uses only as much memory as its size', async (t) => {
  const { registry, pull } = await start(t);
  const body = Buffer.from(`{${' '.repeat(pieces)}}`);
  registry.faults = [
    ({ method }, response) => {
      if (method === 'HEAD') return Boolean(response.writeHead(405).end());
      return sendBytes(response, body, mediaTypes.ociManifest);
    },
  ];
  const taken = await bytesTaken(() => rejects(pull(), 'invalid_argument', /neither an image manifest nor an index/));
  assert.ok(taken < 6e6, `${taken} bytes`);
});

test('a layer in a huge number of chunks uses only as much memory as its size', async (t) => {
  const { registry, pull } = await start(t);
  const layer = makeLayer({ a: randomBytes(pieces / 2).toString('hex') }, 'tar');
  addImage(registry, { tag: '1', layers: [layer] });
  registry.faults = [
    ({ path }, response) =>
      path.endsWith(sha256Digest(layer.data)) && sendBytes(response, layer.data, 'application/octet-stream'),
  ];
  const taken = await bytesTaken(pull);
  assert.ok(taken < 6e6, `${taken} bytes`);
});

/** Responds with an endless trickle of spaces; HEAD requests are answered normally. */
function drip(response: ServerResponse, status: number): true {
  response.writeHead(status, { 'content-type': 'application/json' });
  if (response.req.method === 'HEAD') response.end();
  const timer = setInterval(() => response.writable && response.write(' '), 20);
  response.on('close', () => clearInterval(timer));
  return true;
}

const impatient = { stallTimeoutMs: 30_000, documentTimeoutMs: 200 };

test('a manifest that never completes times out, even if bytes keep arriving', async (t) => {
  const { registry, pull } = await start(t, impatient);
  registry.faults = [(_request, response) => drip(response, 200)];
  await rejects(pull(), 'deadline_exceeded', /its manifest: not complete after 200 ms/);
});

test('a token that never completes times out', async (t) => {
  const { registry, pull } = await start(t, impatient);
  registry.faults = [
    ({ path }, response) => {
      if (path === '/token') return drip(response, 200);
      const header = { 'www-authenticate': `Bearer realm="http://${registry.host}/token"` };
      return Boolean(response.writeHead(401, header).end());
    },
  ];
  await rejects(pull(), 'deadline_exceeded', /get a token from .*: not complete after 200 ms/);
});

test('a registry’s error message that never completes times out, for an image and for a layer', async (t) => {
  const { registry, pull } = await start(t, impatient);
  registry.faults = [(_request, response) => drip(response, 404)];
  await rejects(pull(), 'not_found', /answered 404/);
  addImage(registry, { tag: '1', layers: [makeLayer({ a: 'a' })] });
  registry.faults = [({ path }, response) => path.includes('/blobs/') && drip(response, 403)];
  await rejects(pull(), 'permission_denied', /answered 403/);
});

test('a registry that sends endless informational responses times out', async (t) => {
  const { registry, pull } = await start(t);
  const sent: number[] = [];
  registry.faults = [
    (_request, response) => {
      const at = sent.push(0) - 1;
      const timer = setInterval(() => {
        sent[at]!++;
        response.writeEarlyHints({ link: '</x>; rel=preload' });
      }, 5);
      response.on('close', () => clearInterval(timer));
      return true;
    },
  ];
  await rejects(pull(), 'unavailable', /more than 10 interim responses/);
  assert.ok(Math.max(...sent) < 1000, `${sent}`);
});
