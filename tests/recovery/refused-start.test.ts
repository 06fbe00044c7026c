/** A refused start removes the mounts and directories it has created in the state directory. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { RuntimeOptions } from '@podwright/runtime';
import Database from 'better-sqlite3';
import { takeInventory } from '../fixtures/host-inventory.ts';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';

const runtime = new RuntimeUnderTest();
const { options, scope } = runtime.place;
before(async () => {
  await runtime.start();
  await runtime.stop({ removeHostState: true });
});
after(async () => {
  rmSync(join(options.state, 'earlier'), { recursive: true, force: true });
  await runtime.start({}, { load: false });
  assert.deepEqual(await runtime.end(), []);
});

/**
 * Asserts that the runtime refuses to start, and removes what it has created. `ns` is normally a mount point; after a reboot it is just a
 * directory, if the state directory is on disk.
 */
async function assertRefused(name: string, overrides: Partial<RuntimeOptions> = {}): Promise<void> {
  for (const earlier of [['earlier'], ['earlier', 'ns']]) {
    rmSync(options.state, { recursive: true, force: true });
    for (const directory of earlier) mkdirSync(join(options.state, directory), { recursive: true });
    const { mounts, cgroups } = takeInventory(scope);
    await assert.rejects(runtime.start(overrides, { load: false }), name);
    const found = takeInventory(scope);
    assert.deepEqual({ mounts: found.mounts, cgroups: found.cgroups }, { mounts, cgroups }, name);
    const entries = readdirSync(options.state, { withFileTypes: true });
    const directories = entries.flatMap((entry) => (entry.isDirectory() ? entry.name : []));
    assert.deepEqual(directories.toSorted(), earlier, name);
  }
}

test('records of a newer version in any table', async () => {
  const path = join(options.root, 'metadata.db');
  const names = (): string[] => {
    using database = opened(path);
    return database
      .prepare<[], { name: string }>('SELECT name FROM schema_versions')
      .all()
      .map(({ name }) => name);
  };
  const add = (name: string, change: number) => {
    using database = opened(path);
    database.prepare('UPDATE schema_versions SET version = version + ? WHERE name = ?').run(change, name);
  };
  assert.ok(names().length > 3);
  for (const name of names()) {
    add(name, 50);
    await assertRefused(name);
    add(name, -50);
  }
});

test('a port in use', async () => {
  await using server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await assertRefused('streaming', { streaming: { address: '127.0.0.1', port } });
});

function opened(path: string): Database.Database & Disposable {
  const database = new Database(path);
  return Object.assign(database, { [Symbol.dispose]: () => void database.close() });
}
