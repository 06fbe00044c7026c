import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { CALL_TIMEOUT_MS } from '../limits.ts';
import { connectEngine, type Engine } from './engine.ts';
import { type FakeEngine, startFakeEngine } from './fake-engine.fixture.ts';

let fake: FakeEngine;
let engine: Engine;
let answer: string;
const imports = new EventEmitter();
before(async () => {
  fake = await startFakeEngine((request, response) => {
    if (request.url?.includes('/images/create')) return void imports.emit('import');
    const isLoad = request.url?.includes('/images/load') === true;
    request.resume().once('end', () => {
      response.end(isLoad ? answer : JSON.stringify({ Version: '20.10.24', ApiVersion: '1.41' }));
    });
  });
  engine = await connectEngine(fake.socket);
});
after(async () => {
  engine?.close();
  await fake?.[Symbol.asyncDispose]();
});

async function load(archive: Iterable<Buffer>): Promise<unknown[]> {
  const lines: unknown[] = [];
  for await (const line of engine.archives.load(Readable.from(archive), AbortSignal.timeout(30_000))) lines.push(line);
  return lines;
}

test('the Engine’s load progress is parsed line by line', async () => {
  answer = '{"stream":"Loaded image: one:1"}\n\n{"error":"no such file"}';
  assert.deepEqual(await load([Buffer.from('tar')]), [{ stream: 'Loaded image: one:1' }, { error: 'no such file' }]);
});

test('a malformed answer is an error', async () => {
  answer = 'busy\n';
  await assert.rejects(load([Buffer.from('tar')]), {
    code: 'internal',
    message: /^load images: the Docker Engine's answer is not as expected: /,
  });
});

test('an error reading the archive is not reported as an unreachable Engine', async () => {
  function* broken() {
    yield Buffer.from('tar');
    throw new Error('the disk is gone');
  }
  await assert.rejects(load(broken()), { code: 'unknown', message: 'load images: read the archive: the disk is gone' });
});

test('importing a small image has the timeout of an ordinary call, not of a load', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const asked = once(imports, 'import');
  const made = engine.archives.import(Readable.from([Buffer.from('tar')]), { name: 'a', tag: 'b', change: '' });
  const refused = assert.rejects(made, { code: 'deadline_exceeded', message: /make image a: no answer within/ });
  await asked;
  t.mock.timers.tick(CALL_TIMEOUT_MS);
  await refused;
});
