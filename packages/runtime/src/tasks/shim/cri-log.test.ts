import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Limiter, raceAbort, silentLogger } from '@podwright/base';
import { CriLog, formatCriLog } from './cri-log.ts';

const directory = mkdtempSync(join(tmpdir(), 'cri-log-'));
after(() => rmSync(directory, { recursive: true }));

test('output is logged by line, and text without a line end as a partial entry', () => {
  const check = (chunk: string, log: string[]) =>
    assert.equal(
      String(formatCriLog('stderr', Buffer.from(chunk), 'T')),
      log.map((line) => `T stderr ${line}\n`).join(''),
    );
  check('', []);
  check('one\n', ['F one']);
  check('one\n\ntwo', ['F one', 'F ', 'P two']);
  check('\n', ['F ']);
  check('part', ['P part']);
  check('ž $& \r\n', ['F ž $& \r']);
});

test('every byte is logged unchanged', () => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, value) => value)).filter((value) => value !== 0x0a);
  const logged = formatCriLog('stdout', Buffer.concat([bytes, Buffer.from('\n')]), 'T');
  assert.deepEqual(logged, Buffer.concat([Buffer.from('T stdout F '), bytes, Buffer.from('\n')]));
});

async function openLog(name: string, { warnings = [] as string[], writers = new Limiter(2) } = {}) {
  const path = join(directory, name);
  const logger = { ...silentLogger, warn: (fields: object) => void warnings.push(JSON.stringify(fields)) };
  const log = new CriLog(path, { logger, writers });
  await log.reopen();
  return { log, path };
}

test('chunks are written in order, to the most recently opened file', async () => {
  const { log, path } = await openLog('turned');
  const writes = Array.from({ length: 100 }, (_, index) => log.write('stdout', Buffer.from(`${index}\n`)));
  await Promise.all(writes);
  renameSync(path, `${path}.1`);
  await log.reopen();
  await log.write('stderr', Buffer.from('after\n'));
  log.close();
  const lines = readFileSync(`${path}.1`, 'utf8').trimEnd().split('\n');
  assert.deepEqual(
    lines.map((line) => line.split(' ')[3]),
    writes.map((_, index) => String(index)),
  );
  assert.match(readFileSync(path, 'utf8'), /^\S+ stderr F after\n$/);
});

test('logs on a hanging disk do not block other file operations, and a failing log is reported once', async () => {
  const writers = new Limiter(2);
  const stalled = [];
  for (let index = 0; index < 6; index++) {
    const name = `stalled-${index}`;
    execFileSync('mkfifo', [join(directory, name)]);
    const reader = openSync(join(directory, name), constants.O_RDONLY | constants.O_NONBLOCK);
    const warnings: string[] = [];
    stalled.push({ reader, warnings, ...(await openLog(name, { warnings, writers })) });
  }
  const chunk = Buffer.alloc(128 * 1024, 'x'); // twice the size of a pipe
  const writes = stalled.flatMap(({ log }) => [log.write('stdout', chunk), log.write('stderr', chunk)]);
  try {
    const soon = AbortSignal.timeout(10_000);
    for (let round = 0; round < 20; round++) {
      await raceAbort(stat(directory), soon);
      await setImmediate(); // the writes start
    }
  } finally {
    for (const { reader } of stalled) closeSync(reader); // makes a write fail with EPIPE
  }
  await Promise.all(writes);
  for (const { warnings, log } of stalled) {
    assert.equal(warnings.length, 1);
    assert.match(warnings[0]!, /the other side has closed it/);
    log.close();
  }
});
