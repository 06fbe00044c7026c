import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readMachine } from './machine.ts';

async function sysfs(context: TestContext, files: Record<string, string>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'pwk-sysfs-'));
  context.after(() => rm(root, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    const file = join(root, 'devices/system', path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `${text}\n`);
  }
  return root;
}

const cpu = (id: number, [siblings, socket, cache]: [string, string, string]) => ({
  [`cpu/cpu${id}/topology/thread_siblings_list`]: siblings,
  [`cpu/cpu${id}/topology/physical_package_id`]: socket,
  [`cpu/cpu${id}/cache/index3/shared_cpu_list`]: cache,
});

test('CPUs and memory of NUMA nodes are read', async (context) => {
  const root = await sysfs(context, {
    'cpu/online': '0-3',
    ...cpu(0, ['0,2', '0', '0,2']),
    ...cpu(1, ['1,3', '1', '1,3']),
    ...cpu(2, ['0,2', '0', '0,2']),
    ...cpu(3, ['1,3', '1', '1,3']),
    'node/online': '0,2',
    'node/node0/cpulist': '0,2',
    'node/node0/distance': '10 21',
    'node/node0/meminfo': 'Node 0 MemTotal:       1024 kB\nNode 0 MemFree: 1 kB',
    'node/node0/hugepages/hugepages-2048kB/nr_hugepages': '3',
    'node/node2/cpulist': '1,3',
    'node/node2/distance': '21 10',
    'node/node2/meminfo': 'Node 2 MemTotal:       2048 kB',
    'node/node2/hugepages/hugepages-1048576kB/nr_hugepages': '1',
  });
  const { cpus, nodes } = await readMachine(root);
  assert.deepEqual(cpus, [
    { id: 0, core: 0, socket: 0, node: 0, cache: 0 },
    { id: 1, core: 1, socket: 1, node: 2, cache: 1 },
    { id: 2, core: 0, socket: 0, node: 0, cache: 0 },
    { id: 3, core: 1, socket: 1, node: 2, cache: 1 },
  ]);
  assert.deepEqual(nodes, [
    { id: 0, memoryBytes: 1n << 20n, hugePages: { 'hugepages-2Mi': 6n << 20n }, distances: [10, 21] },
    { id: 2, memoryBytes: 2n << 20n, hugePages: { 'hugepages-1Gi': 1n << 30n }, distances: [21, 10] },
  ]);
});

test('a host with minimal information has one node, and one thread per core', async (context) => {
  const { cpus, nodes } = await readMachine(await sysfs(context, { 'cpu/online': '0-1' }));
  assert.deepEqual(
    cpus.map(({ id, core, socket, node }) => [id, core, socket, node]),
    [
      [0, 0, 0, 0],
      [1, 1, 0, 0],
    ],
  );
  assert.deepEqual(
    nodes.map(({ id }) => id),
    [0],
  );
  assert.ok((await readMachine()).cpus.length > 0, 'this host');
});
