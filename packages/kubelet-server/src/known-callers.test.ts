import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { runChecked } from '@podwright/host';
import { KnownCallers } from './known-callers.ts';
import { FORMER_CALLER_MS, KNOWN_CALLER_MS, MAX_CALLERS, MAX_CALLERS_FILE_BYTES, SAVED_CALLER_MS } from './limits.ts';

const SOME_MS = 60_000;

function fileIn(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'pwk-callers-'));
  t.after(() => rmSync(directory, { recursive: true }));
  return join(directory, 'new', 'callers.json');
}

async function opened(path: string, now?: () => number): Promise<KnownCallers> {
  const callers = new KnownCallers({ path, now });
  await callers.load();
  return callers;
}

test('a caller is still known to the next process, depending on the time elapsed', async (t) => {
  const path = fileIn(t);
  const first = await opened(path);
  first.add('192.0.2.1');
  first.add('user 1000');
  await first.close();
  assert.equal(statSync(path).mode & 0o777, 0o600);
  let nowMs = 0;
  const next = await opened(path, () => nowMs);
  const all = () => ['192.0.2.1', 'user 1000', '192.0.2.2'].map((caller) => next.acquaintance(caller));
  assert.deepEqual(all(), ['known', 'known', undefined]);
  nowMs = KNOWN_CALLER_MS;
  assert.deepEqual(all(), ['former', 'former', undefined]);
  nowMs = FORMER_CALLER_MS;
  assert.deepEqual(all(), [undefined, undefined, undefined]);
});

test('a future time in the file counts as now', async (t) => {
  const path = fileIn(t);
  mkdirSync(join(path, '..'));
  writeFileSync(path, JSON.stringify([['192.0.2.1', Date.now() + FORMER_CALLER_MS]]));
  let nowMs = 0;
  const callers = await opened(path, () => nowMs);
  nowMs = KNOWN_CALLER_MS;
  assert.equal(callers.acquaintance('192.0.2.1'), 'former');
});

test('a returning caller is saved again only after some time', async (t) => {
  const path = fileIn(t);
  const first = await opened(path);
  first.add('192.0.2.1');
  await first.close();
  let nowMs = 0;
  const next = await opened(path, () => nowMs);
  rmSync(path);
  nowMs = SAVED_CALLER_MS - SOME_MS;
  next.add('192.0.2.1');
  await next.close();
  assert.throws(() => statSync(path), 'nothing was written');
  const last = await opened(path, () => nowMs);
  last.add('192.0.2.1');
  await last.close();
  assert.equal(JSON.parse(readFileSync(path, 'utf8')).length, 1);
});

test('the number of saved callers is limited to the most recent ones', async (t) => {
  const path = fileIn(t);
  const first = await opened(path);
  for (let host = 0; host <= MAX_CALLERS; host++) first.add(`host-${host}`);
  await first.close();
  const next = await opened(path);
  assert.deepEqual([next.acquaintance('host-0'), next.acquaintance('host-1')], [undefined, 'known']);
});

test('an unreadable file or an unwritable directory is not an error', { timeout: 10_000 }, async (t) => {
  for (const content of ['', '{', '{}', '[["192.0.2.1"]]', '[[1, 2]]', ' '.repeat(MAX_CALLERS_FILE_BYTES + 1)]) {
    const path = fileIn(t);
    mkdirSync(join(path, '..'));
    writeFileSync(path, content);
    const callers = await opened(path);
    callers.add('192.0.2.1');
    await callers.close();
    assert.equal((await opened(path)).acquaintance('192.0.2.1'), 'known', JSON.stringify(content.slice(0, 20)));
  }
  const fifo = fileIn(t);
  mkdirSync(join(fifo, '..'));
  await runChecked('mkfifo', [fifo]);
  assert.equal((await opened(fifo)).acquaintance('192.0.2.1'), undefined);
  const path = fileIn(t);
  writeFileSync(join(path, '..'), 'a file where the directory would be');
  const callers = await opened(path);
  callers.add('192.0.2.1');
  await callers.close();
  assert.equal(callers.acquaintance('192.0.2.1'), 'known');
});
