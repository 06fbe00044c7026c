import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Registry, silentLogger } from '@podwright/base';
import { runChecked } from '@podwright/host';
import type { Pod } from '@podwright/kube-api';
import type { ShutdownPeriod } from '@podwright/kubelet-configuration';
import type { PodEnder } from './end-pods.ts';
import type { InhibitLock } from './inhibit-lock.ts';
import { type Logind, writeConfiguration } from './logind.ts';
import { NodeShutdown } from './node-shutdown.ts';
import { ShutdownRecord } from './shutdown-record.ts';

const PERIODS = [
  { priority: 0, gracePeriodSeconds: 20 },
  { priority: 1000, gracePeriodSeconds: 10 },
];

function podOf(name: string, priority: number): Pod {
  const metadata = { name, namespace: 'd', uid: name };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [], priority } };
}

type Given = {
  periods?: ShutdownPeriod[];
  pods?: Pod[];
  delayMs?: number;
  stubborn?: boolean | 'later';
  without?: string;
};

/**
 * Starts a NodeShutdown with a fake logind and with pods that stop on request. `log` records the calls to logind and the stops of the pods.
 */
async function begin(t: TestContext, { periods = PERIODS, pods = [], delayMs = 5000, stubborn, without }: Given = {}) {
  const rootDir = await mkdtemp(join(tmpdir(), 'podwright-shutdown-'));
  const log: string[] = [];
  const changed: (() => void)[] = [];
  const note = (what: string) => {
    log.push(what);
    for (const wake of changed.splice(0)) wake();
  };
  const has = async (what: string) => {
    while (!log.includes(what)) await new Promise<void>((resolve) => changed.push(resolve));
  };
  let currentMs = delayMs;
  let connections = 0;
  const logind = {
    forgetDelay: () => {
      currentMs = delayMs;
    },
    announce: (_: boolean) => {},
    lose: (_: string) => {},
    isShuttingDown: false,
  };
  const connect = async (onShutdown: (begins: boolean) => void, signal: AbortSignal): Promise<Logind> => {
    if (without !== undefined) throw new Error(without);
    const closed = Promise.withResolvers<string>();
    signal.addEventListener('abort', () => closed.resolve('stopped'));
    logind.announce = onShutdown;
    logind.lose = closed.resolve;
    note(`connected ${++connections}`);
    return {
      closed: closed.promise,
      inhibitDelayMs: async () => currentMs,
      setInhibitDelay: async (ms, { again }) => {
        note(`delay ${ms}${again ? ' again' : ''}`);
        if (stubborn !== true) currentMs = stubborn === 'later' && again ? currentMs : ms;
      },
      isShuttingDown: async () => logind.isShuttingDown,
      inhibit: async (): Promise<InhibitLock> => {
        const ended = Promise.withResolvers<void>();
        note(`locked ${connections}`);
        const release = async () => {
          note('released');
          ended.resolve();
        };
        return { ended: ended.promise, release };
      },
      close: () => closed.resolve('closed'),
    };
  };
  const logger = silentLogger;
  const registry = new Registry();
  const events = { event: (_: object, __: string, reason: string, message: string) => note(`${reason}: ${message}`) };
  const record = new ShutdownRecord(rootDir, logger, registry);
  const shutdown = new NodeShutdown({ periods, nodeName: 'n', events, logger, record, connect });
  const sleeping = new Map<number, () => void>();
  const stuck = new Map<string, () => void>();
  const ender: PodEnder = {
    pods: () => pods,
    end: ({ metadata }, { gracePeriodSeconds, verdict }) =>
      note(`end ${metadata.name} ${gracePeriodSeconds} ${verdict.reason}`),
    whenStopped: async () => undefined,
    whenReleased: (uid, signal) =>
      uid.startsWith('slow')
        ? new Promise((resolve) => {
            stuck.set(uid, resolve);
            signal.addEventListener('abort', () => resolve());
          })
        : Promise.resolve(),
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        sleeping.set(ms, resolve);
        signal.addEventListener('abort', () => resolve());
        if (uidsAreStuck()) note(`sleeping ${ms}`);
      }),
    bringBack: () => note('brought back'),
    events,
    logger,
  };
  const uidsAreStuck = () => stuck.size > 0;
  t.after(async () => {
    await shutdown.stop();
    await rm(rootDir, { recursive: true });
  });
  shutdown.start(ender);
  return { shutdown, log, has, logind, sleeping, rootDir, registry };
}

test('without shutdown periods, the node does not connect to logind', async (t) => {
  const { shutdown, log } = await begin(t, { periods: [] });
  await shutdown.stop();
  assert.deepEqual(log, []);
});

test('the inhibitor lock is taken once InhibitDelayMax is long enough', async (t) => {
  const { log, has } = await begin(t);
  await has('locked 1');
  assert.deepEqual(log, ['connected 1', 'delay 30000', 'locked 1']);
  const enough = await begin(t, { delayMs: 30_000 });
  await enough.has('locked 1');
  assert.deepEqual(enough.log, ['connected 1', 'locked 1']);
});

test('pods are stopped by priority, then the lock is released; new pods are rejected meanwhile', async (t) => {
  const pods = [podOf('vital', 1000), podOf('web', 0)];
  const { shutdown, log, has, logind, rootDir, registry } = await begin(t, { pods });
  await has('locked 1');
  assert.deepEqual([shutdown.problem(), shutdown.refusal()], [undefined, undefined]);
  logind.announce(true);
  await has('released');
  assert.deepEqual(log.slice(3), [
    'NodeShutdown: Shutdown manager detected shutdown event',
    'end web 20 Terminated',
    'end vital 10 Terminated',
    'released',
  ]);
  assert.equal(shutdown.problem(), 'node is shutting down');
  assert.deepEqual(shutdown.refusal(), {
    reason: 'NodeShutdown',
    message: 'Pod was rejected as the node is shutting down.',
  });
  const times = JSON.parse(await readFile(join(rootDir, 'graceful_node_shutdown_state'), 'utf8')) as object;
  assert.deepEqual(Object.keys(times), ['startTime', 'endTime']);
  const text = await registry.metrics();
  assert.match(text, /kubelet_graceful_shutdown_start_time_seconds [1-9]/);
  assert.match(text, /kubelet_graceful_shutdown_end_time_seconds [1-9]/);
});

test('pods of the next priority wait for slow ones, but no longer than their period', async (t) => {
  const pods = [podOf('slow', 0), podOf('vital', 1000)];
  const { log, has, logind, sleeping } = await begin(t, { pods });
  await has('locked 1');
  logind.announce(true);
  await has('sleeping 20000');
  assert.ok(!log.includes('end vital 10 Terminated'));
  sleeping.get(20_000)?.();
  await has('released');
  assert.ok(log.includes('end vital 10 Terminated'));
});

test('after a canceled shutdown a new lock is taken and static pods are restarted', async (t) => {
  const { shutdown, log, has, logind } = await begin(t);
  await has('locked 1');
  logind.announce(true);
  await has('released');
  const before = log.length;
  logind.announce(false);
  await has('brought back');
  await new Promise(setImmediate);
  assert.deepEqual(log.slice(before), [
    'NodeShutdown: Shutdown manager detected shutdown cancellation',
    'brought back',
    'locked 1',
  ]);
  assert.deepEqual([shutdown.problem(), shutdown.refusal()], [undefined, undefined]);
});

test('after a lost connection a new lock is taken before the old one is released, and a shutdown meanwhile is detected', async (t) => {
  const { shutdown, log, has, logind } = await begin(t, { delayMs: 60_000 });
  await has('locked 1');
  logind.lose('restarted');
  await has('locked 2');
  await has('released');
  assert.deepEqual(log, ['connected 1', 'locked 1', 'connected 2', 'locked 2', 'released']);
  logind.isShuttingDown = true;
  logind.lose('restarted');
  await has('connected 3');
  await has('NodeShutdown: Shutdown manager detected shutdown event');
  assert.equal(shutdown.problem(), 'node is shutting down');
});

test('after a reconnect the delay is set as on a retry, as another drop-in may override ours', async (t) => {
  const { shutdown, log, has, logind } = await begin(t, { stubborn: 'later' });
  await has('locked 1');
  logind.forgetDelay();
  logind.lose('restarted');
  await has('delay 30000 again');
  await shutdown.stop();
  assert.deepEqual(log.slice(0, 5), ['connected 1', 'delay 30000', 'locked 1', 'connected 2', 'delay 30000 again']);
});

test('the drop-in with the delay is written once, and rewritten only after external changes', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'podwright-logind-'));
  t.after(() => rm(directory, { recursive: true }));
  const place = { directory, file: '99-kubelet.conf' };
  assert.equal(await writeConfiguration(30_500, place), true);
  const { ino } = await stat(join(directory, place.file));
  assert.equal(await writeConfiguration(30_500, place), false);
  assert.equal((await stat(join(directory, place.file))).ino, ino);
  await writeFile(join(directory, place.file), '');
  assert.equal(await writeConfiguration(30_500, place), true);
  assert.match(await readFile(join(directory, place.file), 'utf8'), /^InhibitDelayMaxSec=31$/m);
});

test('if logind is missing or InhibitDelayMax too short, no lock is taken and the kubelet still runs', async (t) => {
  const none = await begin(t, { without: 'there is no D-Bus' });
  await none.shutdown.stop();
  assert.deepEqual(none.log, []);
  const short = await begin(t, { stubborn: true });
  await short.has('delay 30000');
  await short.shutdown.stop();
  assert.deepEqual(short.log, ['connected 1', 'delay 30000']);
});

test('the timestamps of the last shutdown are loaded after a restart, and an invalid file is ignored', {
  timeout: 10_000,
}, async (t) => {
  const rootDir = await mkdtemp(join(tmpdir(), 'podwright-shutdown-'));
  t.after(() => rm(rootDir, { recursive: true }));
  const path = join(rootDir, 'graceful_node_shutdown_state');
  const shown = async (content: string) => {
    await writeFile(path, content);
    const registry = new Registry();
    await new ShutdownRecord(rootDir, silentLogger, registry).load();
    return [...(await registry.metrics()).matchAll(/^kubelet_\w+ (\S+)$/gm)].map(([, value]) => value);
  };
  assert.deepEqual(await shown('{"startTime":"2026-01-01T00:00:10.5Z","endTime":"0001-01-01T00:00:00Z"}'), [
    String(Date.parse('2026-01-01T00:00:10Z') / 1000),
    '0',
  ]);
  for (const broken of ['', 'null', '[]', '{"startTime":7}', 'x'.repeat(5000)])
    assert.deepEqual(await shown(broken), ['0', '0'], broken.slice(0, 20));
  await rm(path);
  await runChecked('mkfifo', [path]);
  await new ShutdownRecord(rootDir, silentLogger, undefined).load();
});
