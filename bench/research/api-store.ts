/**
 * Measures latency and memory of the API server's file-backed store: `node bench/research/api-store.ts [DIRECTORY]`, where DIRECTORY is on
 * the disk to measure.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Durability, itemParts, openSqliteStore, type SqliteStore } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';

const PODS = 5_000;
const POD_BYTES = 4_000;
const ROUNDS = 2_000;

const keyOf = (index: number) => ({ resource: 'pods', namespace: 'default', name: `pod-${index}` });

function pod(index: number, phase = 'Pending'): ApiObject {
  const env = Array.from({ length: 100 }, (_, number) => ({ name: `NAME_${number}`, value: `${index}-${number}` }));
  const metadata = { name: `pod-${index}`, namespace: 'default', uid: crypto.randomUUID(), labels: { app: 'bench' } };
  const spec = { containers: [{ name: 'main', image: 'registry.example/bench:1', env }] };
  const object = { kind: 'Pod', apiVersion: 'v1', metadata, spec, status: { phase } };
  env.length -= Math.max(0, Math.ceil((JSON.stringify(object).length - POD_BYTES) / 38));
  return object;
}

/** Prints the latencies of `ROUNDS` calls in microseconds, as a table row. */
async function measure(name: string, call: (round: number) => unknown): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const begin = performance.now();
    const result = call(round);
    if (result instanceof Promise) await result;
    times.push((performance.now() - begin) * 1000);
  }
  times.sort((one, other) => one - other);
  const at = (share: number) => `${times[Math.floor((times.length - 1) * share)]!.toFixed(1)} µs`;
  console.log(`| ${name} | ${at(0.5)} | ${at(0.99)} | ${at(1)} |`);
}

const update = (store: SqliteStore, round: number, object: ApiObject) => {
  store.update(keyOf(round), object, store.get(keyOf(round))!.revision);
  return store.untilDurable();
};

async function measureCalls(path: string, durability: Durability): Promise<void> {
  console.log(`\n| durability: ${durability} | p50 | p99 | most |\n|---|---|---|---|`);
  const store = openSqliteStore(path, { durability, volatile: ['leases'] });
  const [running, succeeded] = ['Running', 'Succeeded'].map((phase) =>
    Array.from({ length: ROUNDS }, (_, round) => pod(round, phase)),
  ) as [ApiObject[], ApiObject[]];
  const bodies = Array.from({ length: ROUNDS }, (_, round) => JSON.stringify(pod(round)));
  await measure('create, from JSON', (round) => {
    store.create(keyOf(round), JSON.parse(bodies[round]!));
    return store.untilDurable();
  });
  await measure('update', (round) => update(store, round, running[round]!));
  await measure('ten updates at a time', async (round) => {
    const rounds = Array.from({ length: 10 }, (_, index) => (10 * round + index) % ROUNDS);
    await Promise.all(rounds.map((one) => update(store, one, running[one]!)));
  });
  await measure('get', (round) => store.get(keyOf(round))!.bytes);
  await measure('list 500, encoded', () => itemParts(store.list('pods', { limit: 500 }).objects));
  const events = store.watch('pods', { from: store.revision })[Symbol.asyncIterator]();
  let waiting = events.next();
  await measure('update until its watch event', async (round) => {
    void update(store, round, succeeded[round]!);
    await waiting;
    waiting = events.next();
  });
  const lease = { resource: 'leases', namespace: '', name: 'n' };
  let { revision } = store.create(lease, running[0]!);
  await measure('update of a volatile pod', (round) => {
    revision = store.update(lease, running[round]!, revision).revision;
  });
  store.close();
}

/** In a child process: opens the store and reports its memory. */
function reportMemory(path: string): void {
  const begin = performance.now();
  const store = openSqliteStore(path);
  const openMs = performance.now() - begin;
  setTimeout(() => {
    process.send!({ rss: process.memoryUsage().rss, openMs, revision: store.revision });
    process.disconnect();
  }, 500);
}

async function memoryOf(path: string): Promise<{ rss: number; openMs: number }> {
  const child = fork(import.meta.filename, ['memory', path]);
  const [report] = await once(child, 'message');
  return report;
}

async function measureMemory(scratch: string): Promise<void> {
  const [empty, full] = ['empty', 'full'].map((name) => join(scratch, `${name}.db`)) as [string, string];
  openSqliteStore(empty).close();
  const store = openSqliteStore(full);
  let bytes = 0;
  for (let index = 0; index < PODS; index++) bytes += store.create(keyOf(index), pod(index)).bytes.length;
  store.close();
  const [before, after] = [await memoryOf(empty), await memoryOf(full)];
  const mib = (size: number) => `${(size / 2 ** 20).toFixed(1)} MiB`;
  console.log(`\n${PODS} pods of ${Math.round(bytes / PODS)} bytes: ${mib(after.rss - before.rss)} of RSS`);
  console.log(`objects ${mib(bytes)}, file ${mib(statSync(full).size)}, opened in ${after.openMs.toFixed(0)} ms`);
}

if (process.argv[2] === 'memory') reportMemory(process.argv[3]!);
else {
  const scratch = mkdtempSync(join(process.argv[2] ?? tmpdir(), 'podwright-store-'));
  try {
    for (const durability of ['process', 'power'] as const)
      await measureCalls(join(scratch, `${durability}.db`), durability);
    await measureMemory(scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
