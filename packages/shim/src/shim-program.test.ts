import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { create, fromBinary, ScalarType, toBinary } from '@bufbuild/protobuf';
import { AnySchema } from '@bufbuild/protobuf/wkt';
import { waitFor } from '@podwright/base';
import { BootstrapParamsSchema, BootstrapResultSchema } from './gen/containerd/runtime/bootstrap/v1/bootstrap_pb.js';
import { DeleteResponseSchema } from './gen/containerd/task/v2/shim_pb.js';
import { deleteDeadShim, startShim } from './shim-program.ts';

const directory = mkdtempSync(join(tmpdir(), 'shim-program-'));
after(() => rmSync(directory, { recursive: true }));

const home = { namespace: 'space', events: '/run/events.sock', publisher: '/run/publish' };
const bound = () => AbortSignal.timeout(60_000);

/** Parameters for invoking a shim whose binary is this script. */
function scripted(name: string, script: string) {
  const [path, bundle] = [join(directory, `${name}.sh`), join(directory, name)];
  mkdirSync(bundle);
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o700 });
  return { id: name, bundle, program: { path, options: { typeUrl: 'some.Options', value: '' } } };
}

test('a shim that requires bootstrap parameters receives them', async () => {
  const result = { version: 3, address: 'unix:///run/s', protocol: 'ttrpc' };
  const answer = join(directory, 'answer');
  writeFileSync(answer, toBinary(BootstrapResultSchema, create(BootstrapResultSchema, result)));
  const call = scripted(
    'newer',
    `grep -qa space && exec cat ${answer}; echo 'shim was started through the deprecated API' >&2; exit 1`,
  );
  assert.deepEqual(await startShim(home, call, bound()), { version: 3, address: 'unix:///run/s' });
});

test('an older shim receives its options, flags and environment', async () => {
  const call = scripted(
    'older',
    `test "$*" = "-namespace space -address /run/events.sock -publish-binary /run/publish -id older -bundle $PWD start" &&
     test "$TTRPC_ADDRESS" = /run/events.sock && grep -qa some.Options && echo unix:///run/s`,
  );
  assert.deepEqual(await startShim(home, call, bound()), { version: 2, address: 'unix:///run/s' });
});

test('a shim is still returned if the call is aborted while it starts', async () => {
  const call = scripted('given-up', 'touch begun; until test -e go; do sleep 0.01; done; echo unix:///run/s');
  const stop = new AbortController();
  const started = startShim(home, call, stop.signal);
  await waitFor(() => existsSync(join(call.bundle, 'begun')) || undefined, { intervalMs: 5, signal: bound() });
  stop.abort(new Error('enough'));
  writeFileSync(join(call.bundle, 'go'), '');
  assert.deepEqual(await started, { version: 2, address: 'unix:///run/s' });
  await assert.rejects(startShim(home, call, stop.signal), /enough/);
});

test('options cannot be mistaken for bootstrap parameters, which containerd 2.3 shims try first', async () => {
  const call = scripted('between', 'cat > stdin && echo unix:///run/s');
  await startShim(home, call, bound());
  const { typeUrl, $unknown } = fromBinary(AnySchema, readFileSync(join(call.bundle, 'stdin')));
  assert.equal(typeUrl, 'some.Options');
  const [{ no, data } = assert.fail()] = $unknown ?? [];
  const field = BootstrapParamsSchema.fields.find(({ number }) => number === no);
  assert.equal(field?.scalar, ScalarType.STRING);
  const text = data.subarray(1); // after its length
  assert.deepEqual([data[0], isUtf8(text)], [text.length, false]);
});

test('a shim that fails to start is an error with its message, and so is one without an address', async () => {
  await assert.rejects(startShim(home, scripted('broken', 'echo no kernel >&2; exit 3'), bound()), /broken.*no kernel/);
  await assert.rejects(startShim(home, scripted('silent', 'exit 0'), bound()), /silent.*no address/);
});

test('the exit status of a dead shim’s task is read from binary output', async () => {
  const answer = join(directory, 'deleted');
  const exitedAt = { seconds: 1_700_000_000n, nanos: 250_000_000 };
  writeFileSync(answer, toBinary(DeleteResponseSchema, create(DeleteResponseSchema, { exitStatus: 137, exitedAt })));
  const exit = await deleteDeadShim(home, scripted('dead', `exec cat ${answer}`), bound());
  assert.deepEqual(exit, { exitCode: 137, exitedAtMs: 1_700_000_000_250 });
});
