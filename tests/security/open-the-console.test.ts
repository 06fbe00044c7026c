/** A container creates a device node for the host's console and reads what is typed there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createIn, runPod } from '../conformance/pods.fixture.ts';
import { openOurs } from '../conformance/runtimes.fixture.ts';

// runc only: crun always allows access to the console
test("with runc a container cannot open the host's console, and has its own", async (context) => {
  const runtime = await openOurs('runc');
  context.after(() => runtime.end());
  const pod = await runPod(runtime, 'console');
  const containerId = await createIn(runtime, pod, { name: 'main', script: 'tty; exec sleep 1000', tty: true });
  await runtime.cri.runtime.startContainer({ containerId });
  const run = async (script: string) => {
    const call = { containerId, cmd: ['sh', '-c', script], timeout: 60n };
    const { stdout, stderr, exitCode } = await runtime.cri.runtime.execSync(call);
    return { exitCode, output: Buffer.concat([stdout, stderr]).toString() };
  };
  const attack = await run('mknod /tmp/console c 5 1 && true </tmp/console');
  assert.notEqual(attack.exitCode, 0);
  assert.match(attack.output, /can't open \/tmp\/console: Operation not permitted/);
  assert.deepEqual(await run('echo hello >/dev/console'), { exitCode: 0, output: '' });
});
