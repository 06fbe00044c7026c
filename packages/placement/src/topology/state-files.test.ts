/** Checkpoint files in upstream's format, using files written by upstream's kubelet. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { runChecked } from '@podwright/host';
import { readCpuState, writeCpuState } from '../cpus/cpu-state.ts';
import { readDeviceRecords, writeDeviceRecords } from '../devices/device-checkpoint.ts';
import { readMemoryState, writeMemoryState } from '../memory/memory-state.ts';

async function fileWith(context: TestContext, text: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'pwk-state-'));
  context.after(() => rm(directory, { recursive: true }));
  const file = join(directory, 'state');
  await writeFile(file, text);
  return file;
}

test('devices', async (context) => {
  const text =
    '{"Data":{"PodDeviceEntries":[{"PodUID":"u1","ContainerName":"c","ResourceName":"e.com/w","DeviceIDs":{"-1":["x"],"0":["a","b"]},"AllocResp":"CgH/"}],"RegisteredDevices":{"b":[],"e.com/w":["a","b\\"q"]}},"Checksum":2967086060}';
  const file = await fileWith(context, text);
  const { assignments, registered } = (await readDeviceRecords(file))!;
  assert.deepEqual(assignments, [
    {
      podUid: 'u1',
      container: 'c',
      resource: 'e.com/w',
      devices: { '-1': ['x'], 0: ['a', 'b'] },
      answer: Buffer.from([10, 1, 255]),
    },
  ]);
  assert.deepEqual(registered, { b: [], 'e.com/w': ['a', 'b"q'] });
  await writeDeviceRecords(file, { assignments, registered });
  assert.deepEqual(JSON.parse(await readFile(file, 'utf8')), JSON.parse(text));
  await writeDeviceRecords(file, { assignments: [], registered: {} });
  const empty = '{"Data":{"PodDeviceEntries":null,"RegisteredDevices":{}},"Checksum":3467439661}';
  assert.equal(await readFile(file, 'utf8'), empty);
  await writeFile(file, text.replace('u1', 'u2'));
  await assert.rejects(readDeviceRecords(file), { code: 'data_loss', message: /its checksum is wrong/ });
});

test('the CPU state is read and written in upstream’s format', async (context) => {
  const text =
    '{"policyName":"static","defaultCpuSet":"0","entries":{"a":{},"u":{"b":"2","c":"1"}},"checksum":3196543840}';
  const file = await fileWith(context, text);
  const state = (await readCpuState(file, 'static'))!;
  assert.deepEqual(state, { shared: [0], own: { a: {}, u: { b: [2], c: [1] } } });
  await writeCpuState(file, state);
  assert.deepEqual(JSON.parse(await readFile(file, 'utf8')), JSON.parse(text));
  await assert.rejects(readCpuState(file, 'none'), {
    code: 'failed_precondition',
    message: /configured policy "none" differs from state checkpoint policy "static", please drain this node/,
  });
  await writeCpuState(file, { shared: [0], own: {} });
  assert.equal(await readFile(file, 'utf8'), '{"policyName":"static","defaultCpuSet":"0","checksum":838766648}');
  await writeFile(file, text.replace('"1"', '"3"'));
  await assert.rejects(readCpuState(file, 'static'), /checkpoint is corrupted/);
  assert.equal(await readCpuState(join(file, '..', 'none'), 'static'), undefined);
});

test('memory', async (context) => {
  const text =
    '{"policyName":"Static","machineState":{"0":{"numberOfAssignments":2,"memoryMap":{"memory":{"total":5,"systemReserved":1,"allocatable":4,"reserved":2,"free":2}},"cells":[0]}},"entries":{"u":{"c":[{"numaAffinity":[0],"type":"memory","size":2}]}},"checksum":490406670}';
  const file = await fileWith(context, text);
  const state = (await readMemoryState(file, 'Static'))!;
  assert.deepEqual(state.own, { u: { c: [{ nodes: [0], type: 'memory', size: 2n }] } });
  assert.equal(state.machine[0]?.memory.memory?.free, 2n);
  await writeMemoryState(file, state);
  assert.deepEqual(JSON.parse(await readFile(file, 'utf8')), JSON.parse(text));
  await assert.rejects(readMemoryState(file, 'None'), /differs from state checkpoint policy "Static"/);
});

test('a FIFO counts as a corrupt file', { timeout: 10_000 }, async (context) => {
  const file = await fileWith(context, '');
  await rm(file);
  await runChecked('mkfifo', [file]);
  await assert.rejects(readMemoryState(file, 'Static'), { message: /it is not a regular file/ });
});

test('an undeletable leftover of an earlier write does not affect the file', async (context) => {
  const file = await fileWith(
    context,
    '{"Data":{"PodDeviceEntries":null,"RegisteredDevices":{}},"Checksum":3467439661}',
  );
  await mkdir(`${file}.0123456789ab.tmp`);
  assert.deepEqual(await readDeviceRecords(file), { assignments: [], registered: {} });
});
