/** State files and the trash when starting on a completely full ext4 disk. Requires root. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { isErrno, silentLogger } from '@podwright/base';
import { Trash } from '@podwright/host';
import { CpuManager } from '../../packages/placement/src/cpus/cpu-manager.ts';
import { NO_CPU_OPTIONS } from '../../packages/placement/src/cpus/cpu-options.ts';
import { MemoryManager } from '../../packages/placement/src/memory/memory-manager.ts';
import { NetworkSource } from '../../packages/runtime/src/network/choice/network-source.ts';
import { SmallDisk } from '../fixtures/small-disk.ts';

const path = `/tmp/pw-full-${process.pid}`;
const inDisk = (...names: string[]) => join(path, ...names);
let disk: SmallDisk;
before(() => {
  disk = new SmallDisk(path, 'ext4');
});
after(() => {
  disk.remove();
  rmdirSync(path);
});

test('the CPU and memory managers and the network choice start even if nothing can be written', async () => {
  disk.fill();
  assert.throws(() => mkdirSync(inDisk('new')), { code: 'ENOSPC' });
  const cpus = [0, 1].map((id) => ({ id, core: id, socket: 0, node: 0, cache: 0 }));
  const ofCpus = { cpus, reserved: { cpus: [], count: 1 }, options: NO_CPU_OPTIONS };
  await CpuManager.open({ ...ofCpus, file: inDisk('cpu_manager_state') });
  const nodes = [{ id: 0, memoryBytes: 1000n, hugePages: {}, distances: [] }];
  const ofMemory = { nodes, reserved: { 0: { memory: 100n } } };
  await MemoryManager.open({ ...ofMemory, file: inDisk('memory_manager_state') });
  const ofNetwork = { directory: inDisk('net.d'), mode: 'keep' as const, bridge: 'pwfull0', logger: silentLogger };
  await new NetworkSource({ ...ofNetwork, record: inDisk('network/choice.json') }).begin();
  disk.makeRoom();
});

test('a tree is deleted in place if the trash directory has no space for another name', async () => {
  const trash = new Trash(inDisk('trash'), silentLogger);
  mkdirSync(inDisk('tree'));
  writeFileSync(inDisk('tree/file'), 'x');
  disk.fill();
  const fillNames = () => {
    for (let name = 0; ; name++) writeFileSync(inDisk('trash', `${name}`.padStart(36, '0')), '');
  };
  assert.throws(fillNames, (error) => isErrno(error, 'ENOSPC'));
  trash.throwAway(inDisk('tree'));
  await trash.empty();
  assert.ok(!existsSync(inDisk('tree')));
  disk.makeRoom();
  await trash.close();
});
