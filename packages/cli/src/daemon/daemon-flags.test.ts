import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { DAEMON_FLAGS, KUBELET_FLAGS, PROCESS_FLAGS } from './daemon-flags.ts';

test('SIGUSR1 does not open the inspector in a process with the flags', async () => {
  // the SIGTERM handler delays the exit, so that an inspector opened by the earlier SIGUSR1 would have time to print its address
  const handler = "process.on('SIGTERM', () => setTimeout(process.exit, 200, 0))";
  // the timer keeps the process running until the signals arrive
  const script = `${handler}; setTimeout(() => {}, 60_000); console.log('ready')`;
  const child = spawn(process.execPath, [...PROCESS_FLAGS, ...DAEMON_FLAGS, '-e', script]);
  const err = text(child.stderr);
  await once(child.stdout, 'data');
  child.kill('SIGUSR1');
  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'exit'), [0, null]);
  assert.equal(await err, '');
});

test('a daemon that has reset its flags accepts code cached by a process without flags', () => {
  const module = JSON.stringify(new URL('./daemon-flags.ts', import.meta.url).href);
  const script = `import { resetFlags } from ${module}; resetFlags(); console.log(process.getBuiltinModule('v8').cachedDataVersionTag())`;
  const tag = (flags: string[]) =>
    execFileSync(process.execPath, [...flags, '--input-type=module', '-e', script], { encoding: 'utf8' });
  const plain = tag([]);
  for (const flags of [DAEMON_FLAGS, KUBELET_FLAGS]) assert.equal(tag(flags), plain);
});
