import assert from 'node:assert/strict';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { type Logger, PodwrightError, silentLogger, sleep, waitFor } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import type { RuntimeContainer } from '../kubecontainer/runtime-pod.ts';
import { rotatedLogs } from '../logs/rotated-logs.ts';
import { LogRotation, type LogRotationPolicy } from './log-rotation.ts';

const directory = mkdtempSync(join(tmpdir(), 'podwright-rotation-'));
after(() => rmSync(directory, { recursive: true }));
const logs = join(directory, 'pod', 'container');
const log = join(logs, '0.log');
const rotated = `${log}.20260101-000000`;
const secret = join(directory, 'secret');

beforeEach(() => {
  rmSync(join(directory, 'pod'), { recursive: true, force: true });
  mkdirSync(logs, { recursive: true });
  writeFileSync(log, 'a line\n');
  writeFileSync(secret, 'secret');
});

/** Compresses rotated files immediately, even those just written. */
const AT_ONCE = { compressAfterMs: -60_000 };

/** Checks the logs of the given containers once. */
async function rotateLogs(
  input: { cri: CriClient; logger: Logger; policy: LogRotationPolicy },
  containers: RuntimeContainer[],
): Promise<void> {
  const rotation = new LogRotation({ ...AT_ONCE, ...input });
  rotation.followAll([{ pod: { name: 'p', namespace: 'd', uid: 'u' }, sandboxes: [], containers }]);
  await rotation.checkAll();
  rotation.close();
}

async function rotate(): Promise<string[]> {
  const warnings: unknown[] = [];
  const cri = { runtime: { reopenContainerLog: async () => ({}) } } as unknown as CriClient;
  const logger = { warn: (fields: unknown) => warnings.push(fields) } as unknown as Logger;
  const container = { id: 'c', logPath: log, state: 'running' } as RuntimeContainer;
  await rotateLogs({ cri, logger, policy: { maxSizeBytes: 1, maxFiles: 5, maxWorkers: 1 } }, [container]);
  assert.deepEqual(warnings, []);
  assert.equal(readFileSync(secret, 'utf8'), 'secret');
  return readdirSync(logs).filter((name) => name.startsWith('0.log.2026010'));
}

test('a rotated log is compressed', async () => {
  writeFileSync(rotated, 'before\n');
  assert.deepEqual(await rotate(), ['0.log.20260101-000000.gz']);
  assert.equal(gunzipSync(readFileSync(`${rotated}.gz`)).toString(), 'before\n');
});

test('a symlink in place of the temporary file is not followed', async () => {
  writeFileSync(rotated, 'before\n');
  symlinkSync(secret, `${rotated}.tmp`);
  assert.deepEqual(await rotate(), ['0.log.20260101-000000.gz']);
});

test('a symlink in place of a rotated log is not followed', async () => {
  symlinkSync(secret, rotated);
  assert.deepEqual(await rotate(), ['0.log.20260101-000000']);
});

/** Rotates one container's log; `reopen` is the fake runtime's implementation of ReopenContainerLog. */
async function rotateOne(
  { state = 'running', maxSizeBytes = 1, maxFiles = 5 }: { state?: string; maxSizeBytes?: number; maxFiles?: number },
  reopen: () => void = () => writeFileSync(log, ''),
): Promise<{ names: string[]; warnings: unknown[] }> {
  const warnings: unknown[] = [];
  const cri = { runtime: { reopenContainerLog: async () => reopen() } } as unknown as CriClient;
  const logger = { warn: (fields: unknown) => warnings.push(fields) } as unknown as Logger;
  const container = { id: 'c', logPath: log, state } as RuntimeContainer;
  await rotateLogs({ cri, logger, policy: { maxSizeBytes, maxFiles, maxWorkers: 1 } }, [container]);
  return { names: readdirSync(logs).sort(), warnings };
}

test('a log over the limit is renamed, but not compressed yet', async () => {
  const { names, warnings } = await rotateOne({});
  assert.equal(names.length, 2);
  assert.match(names[1]!, /^0\.log\.\d{8}-\d{6}$/);
  assert.equal(readFileSync(join(logs, names[1]!), 'utf8'), 'a line\n');
  assert.equal(readFileSync(log, 'utf8'), '');
  assert.deepEqual(warnings, []);
});

test('a write during a rotation does not delay the next one', async (t) => {
  let reopened = 0;
  const reopenContainerLog = async () => {
    appendFileSync((await rotatedLogs(log)).at(-1)!.path, 'still to the old file\n');
    await sleep(50); // until the watch has reported it
    writeFileSync(log, 'more than the limit\n');
    reopened++;
  };
  const rotation = new LogRotation({
    cri: { runtime: { reopenContainerLog } } as unknown as CriClient,
    logger: silentLogger,
    policy: { maxSizeBytes: 4, maxFiles: 5, maxWorkers: 1 },
  });
  t.after(() => rotation.close());
  const container = { id: 'c', logPath: log, state: 'running' } as RuntimeContainer;
  rotation.followAll([{ pod: { name: 'p', namespace: 'd', uid: 'u' }, sandboxes: [], containers: [container] }]);
  const begunAtMs = performance.now();
  await waitFor(() => reopened >= 4 || undefined, { intervalMs: 5, signal: AbortSignal.timeout(10_000) });
  assert.ok(performance.now() - begunAtMs < 2000, `four rotations took ${performance.now() - begunAtMs} ms`);
});

test('small logs and logs of exited containers are not rotated', async () => {
  assert.deepEqual((await rotateOne({ maxSizeBytes: 100 })).names, ['0.log']);
  assert.deepEqual((await rotateOne({ state: 'exited' })).names, ['0.log']);
  rmSync(log);
  assert.deepEqual(await rotateOne({}), { names: [], warnings: [] });
});

test('the oldest rotated logs are removed, and files of other logs are not', async () => {
  for (const day of [1, 2, 3, 4]) writeFileSync(`${log}.2026010${day}-000000.gz`, '');
  for (const name of ['1.log.20260101-000000', '0.log.bak']) writeFileSync(join(logs, name), '');
  const { names } = await rotateOne({ maxFiles: 3 });
  const kept = names.filter((name) => /^0\.log(\.20\d{6}-|$)/.test(name));
  assert.equal(kept.length, 3);
  assert.deepEqual(kept.slice(0, 2), ['0.log', '0.log.20260104-000000.gz']);
  assert.deepEqual(
    names.filter((name) => !kept.includes(name)),
    ['0.log.bak', '1.log.20260101-000000'],
  );
});

test('the log is renamed back if the runtime does not reopen it', async () => {
  const { names, warnings } = await rotateOne({}, () => {
    throw new Error('not now');
  });
  assert.deepEqual(names, ['0.log']);
  assert.equal(readFileSync(log, 'utf8'), 'a line\n');
  assert.equal(warnings.length, 1);
});

test('the new log stays if the runtime has opened it but returns an error', async () => {
  const { names, warnings } = await rotateOne({}, () => {
    writeFileSync(log, 'a new line\n');
    throw new Error('too late');
  });
  assert.equal(names.length, 2);
  assert.equal(readFileSync(log, 'utf8'), 'a new line\n');
  assert.equal(readFileSync(join(logs, names[1]!), 'utf8'), 'a line\n');
  assert.equal(warnings.length, 1);
});

test('after a timeout the log is not renamed back but reopened at the next check, as the runtime may still reopen it', async () => {
  const first = await rotateOne({}, () => {
    throw new PodwrightError('deadline_exceeded', 'no answer');
  });
  assert.match(String(first.names), /^0\.log\.\d{8}-\d{6}$/);
  const second = await rotateOne({});
  assert.deepEqual([second.names, second.warnings], [['0.log', ...first.names], []]);
  assert.equal(readFileSync(join(logs, first.names[0]!), 'utf8'), 'a line\n');
});

test('a log removed by another process is reopened', async () => {
  const rotation = new LogRotation({
    cri: { runtime: { reopenContainerLog: async () => writeFileSync(log, 'after\n') } } as unknown as CriClient,
    logger: silentLogger,
    policy: { maxSizeBytes: 1000, maxFiles: 4, maxWorkers: 1 },
  });
  const container = { id: 'c', logPath: log, state: 'running' } as RuntimeContainer;
  rotation.followAll([{ pod: { name: 'p', namespace: 'd', uid: 'u' }, sandboxes: [], containers: [container] }]);
  await rotation.checkAll();
  rmSync(log);
  await rotation.checkAll();
  rotation.close();
  assert.equal(readFileSync(log, 'utf8'), 'after\n');
});

test('a rotated log is compressed once it has not been written to for a while', async () => {
  writeFileSync(rotated, 'old\n');
  writeFileSync(`${rotated}.1`, 'new\n');
  utimesSync(rotated, Date.now() / 1000 - 11, Date.now() / 1000 - 11);
  const cri = { runtime: { reopenContainerLog: async () => writeFileSync(log, '') } } as unknown as CriClient;
  const policy = { maxSizeBytes: 1, maxFiles: 9, maxWorkers: 1 };
  const rotation = new LogRotation({ cri, logger: silentLogger, policy });
  const container = { id: 'c', logPath: log, state: 'running' } as RuntimeContainer;
  rotation.followAll([{ pod: { name: 'p', namespace: 'd', uid: 'u' }, sandboxes: [], containers: [container] }]);
  await rotation.checkAll();
  const names = () => readdirSync(logs).filter((name) => name.startsWith('0.log.2026010'));
  assert.deepEqual(names(), ['0.log.20260101-000000.1', '0.log.20260101-000000.gz']);
  utimesSync(`${rotated}.1`, 0, 0);
  await rotation.checkAll();
  rotation.close();
  assert.deepEqual(names(), ['0.log.20260101-000000.1.gz', '0.log.20260101-000000.gz']);
});

test('a log rotated while older ones are being compressed is compressed later', async (context) => {
  writeFileSync(rotated, Buffer.alloc(64 << 20, 'x'));
  writeFileSync(`${rotated}.1`, 'newer\n');
  const cri = { runtime: { reopenContainerLog: async () => writeFileSync(log, '') } } as unknown as CriClient;
  const policy = { maxSizeBytes: 100, maxFiles: 9, maxWorkers: 1 };
  const rotation = new LogRotation({ cri, logger: silentLogger, policy, ...AT_ONCE });
  context.after(() => rotation.close());
  const container = { id: 'c', logPath: log, state: 'running' } as RuntimeContainer;
  rotation.follow({ pod: { name: 'p', namespace: 'd', uid: 'u' }, sandboxes: [], containers: [container] });
  const signal = AbortSignal.timeout(20_000);
  const names = () => readdirSync(logs).filter((name) => name.startsWith('0.log.'));
  const compressing = rotation.checkAll();
  await waitFor(() => names().some((name) => name.endsWith('.tmp')) || undefined, { intervalMs: 1, signal });
  writeFileSync(log, 'x'.repeat(100));
  await waitFor(() => names().some((name) => !name.startsWith('0.log.20260101-')) || undefined, {
    intervalMs: 1,
    signal,
  });
  await compressing;
  await rotation.checkAll();
  assert.equal(names().filter((name) => !name.endsWith('.gz')).length, 1, 'only the newest is not compressed');
});

test('a log that cannot be watched yet is polled, and rotated', async (context) => {
  rmSync(log);
  let reopened = 0;
  const reopenContainerLog = async () => void reopened++;
  const cri = { runtime: { reopenContainerLog } } as unknown as CriClient;
  const policy = { maxSizeBytes: 100, maxFiles: 4, maxWorkers: 1 };
  const rotation = new LogRotation({ cri, logger: silentLogger, policy });
  context.after(() => rotation.close());
  const container = { id: 'c', logPath: log, state: 'running' } as RuntimeContainer;
  rotation.follow({ pod: { name: 'p', namespace: 'd', uid: 'u' }, sandboxes: [], containers: [container] });
  await rotation.checkAll(); // there is no file to watch
  writeFileSync(log, 'x'.repeat(100));
  // the fake runtime creates no new log file, so it may be called several times for the same log
  await waitFor(() => reopened > 0 || undefined, { intervalMs: 5, signal: AbortSignal.timeout(20_000) });
});

test('a growing log is rotated repeatedly without calls to checkAll, each time to a new file name', async (context) => {
  const maxSizeBytes = 100_000;
  let reopened = 0;
  const reopenContainerLog = async () => {
    reopened++;
    writeFileSync(log, '');
  };
  const cri = { runtime: { reopenContainerLog } } as unknown as CriClient;
  const policy = { maxSizeBytes, maxFiles: 4, maxWorkers: 1 };
  const rotation = new LogRotation({ cri, logger: silentLogger, policy, ...AT_ONCE });
  context.after(() => rotation.close());
  const container = { id: 'c', logPath: log, state: 'running' } as RuntimeContainer;
  const pod = { pod: { name: 'p', namespace: 'd', uid: 'u' }, sandboxes: [], containers: [container] };
  rotation.follow(pod);
  const signal = AbortSignal.timeout(10_000);
  for (const wanted of [1, 2, 3, 4, 5]) {
    appendFileSync(log, `${wanted}`.repeat(maxSizeBytes));
    await waitFor(() => reopened === wanted || undefined, { intervalMs: 1, signal });
  }
  await rotation.checkAll();
  assert.equal(readdirSync(logs).length, 4, String(readdirSync(logs)));
  const files = await rotatedLogs(log);
  const texts = files.map(({ path, isCompressed }) => {
    const bytes = readFileSync(path);
    return (isCompressed ? gunzipSync(bytes) : bytes).toString();
  });
  assert.deepEqual(
    texts.map((text) => text[0]),
    ['3', '4', '5'],
  );
  assert.ok(texts.every((text) => text.length === maxSizeBytes));
  assert.equal(files.filter(({ isCompressed }) => isCompressed).length, 2);
  rotation.follow({ ...pod, containers: [{ ...container, state: 'exited' }] });
  appendFileSync(log, 'x'.repeat(maxSizeBytes));
  await rotation.checkAll();
  assert.equal(reopened, 5);
});
