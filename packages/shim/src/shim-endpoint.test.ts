import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, toBinary } from '@bufbuild/protobuf';
import { errorCode } from '@podwright/base';
import { BootstrapResultSchema } from './gen/containerd/runtime/bootstrap/v1/bootstrap_pb.js';
import { parseStartAnswer, socketPath } from './shim-endpoint.ts';

const address = 'unix:///run/containerd/s/0123';
const message = (fields: { version: number; protocol: string }) =>
  toBinary(BootstrapResultSchema, create(BootstrapResultSchema, { address, ...fields }));

test('all three output formats of start are parsed', () => {
  const check = (output: Uint8Array | string, version: number) =>
    assert.deepEqual(parseStartAnswer(Buffer.from(output)), { version, address });
  check(address, 2);
  check(`${address}\n`, 2);
  check(JSON.stringify({ version: 3, address, protocol: 'ttrpc' }), 3);
  check(JSON.stringify({ version: 2, address, protocol: 'TTRPC' }), 2);
  check(message({ version: 3, protocol: 'ttrpc' }), 3);
});

/** Output of `containerd-shim-runc-v2 start` for several versions of containerd. */
const recorded: [string, string, number][] = [
  ['1.7.24', 'unix:///run/containerd/s/c080', 2],
  ['2.1.9', '{"version":3,"address":"unix:///run/containerd/s/c080","protocol":"ttrpc"}', 3],
  ['2.3.4', '\x08\x03\x12\x1dunix:///run/containerd/s/c080\x1a\x05ttrpc', 3],
];
for (const [name, output, version] of recorded)
  test(`the output of runc's shim of containerd ${name} is parsed`, () =>
    assert.deepEqual(parseStartAnswer(Buffer.from(output)), { version, address: 'unix:///run/containerd/s/c080' }));

test('unusable output is rejected', () => {
  const check = (output: Uint8Array | string, code: string) =>
    assert.throws(
      () => parseStartAnswer(Buffer.from(output)),
      (error) => errorCode(error) === code,
    );
  check('', 'internal');
  check('{"version": 3', 'internal');
  check('unix:///a\nunix:///b', 'internal');
  check('no such command', 'internal');
  check(message({ version: 3, protocol: 'grpc' }), 'unimplemented');
  check(message({ version: 4, protocol: 'ttrpc' }), 'unimplemented');
});

test('addresses are unix sockets, either a path or abstract', () => {
  assert.equal(socketPath(address), '/run/containerd/s/0123');
  assert.equal(socketPath('/run/shim.sock'), '/run/shim.sock');
  assert.equal(socketPath('containerd-shim/0123'), '\0containerd-shim/0123');
  assert.throws(() => socketPath('vsock://3:1024'));
});
