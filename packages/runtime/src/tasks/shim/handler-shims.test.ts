import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromBinary } from '@bufbuild/protobuf';
import { ConfigOptionsSchema, RuncOptionsSchema } from '@podwright/shim';
import { shimBinary, shimProgram } from './handler-shims.ts';

const binaries: [string, string][] = [
  ['', 'containerd-shim-kata-v2'],
  ['/opt/kata/containerd-shim-kata-v2', '/opt/kata/containerd-shim-kata-v2'],
  ['containerd-shim-spin-v2', 'containerd-shim-spin-v2'],
  ['io.containerd.runsc.v1', 'containerd-shim-runsc-v1'],
  ['/opt/io.containerd.runsc.v1', '/opt/io.containerd.runsc.v1'],
];
for (const [program, binary] of binaries) {
  test(`the program "${program}" of the handler kata is ${binary}`, () =>
    assert.equal(shimBinary('kata', program), binary));
}

const handler = { task: 'shim-v2', program: '', sandbox: 'pinned' };
const bytes = (value: string | undefined) => Buffer.from(value ?? '', 'base64');

test('the runc shim gets runc’s state directory, and a different OCI runtime if the handler has one', async () => {
  const path = '/usr/bin/containerd-shim-runc-v2';
  const { options } = await shimProgram(path, { ...handler, shim: { binaryName: 'crun' } }, '/run/x/runc');
  assert.equal(options?.typeUrl, 'containerd.runc.v1.Options');
  const { root, binaryName } = fromBinary(RuncOptionsSchema, bytes(options?.value));
  assert.deepEqual([root, binaryName], ['/run/x/runc', 'crun']);
});

test('other shims get the path to their configuration, if any', async () => {
  const path = '/usr/bin/containerd-shim-runsc-v1';
  assert.deepEqual(await shimProgram(path, handler, '/run/x'), { path });
  const shim = { configPath: '/etc/runsc.toml', configType: 'io.containerd.runsc.v1.options' };
  const { options } = await shimProgram(path, { ...handler, shim }, '/run/x');
  assert.equal(options?.typeUrl, 'runtimeoptions.v1.Options');
  const { configPath, typeUrl } = fromBinary(ConfigOptionsSchema, bytes(options?.value));
  assert.deepEqual([configPath, typeUrl], [shim.configPath, shim.configType]);
});
