/** A memory-hungry command in a container (a probe, a hook, `exec`) must be OOM-killed no later than its container. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { runRemoteCommand } from '@podwright/streaming';
import { createIn, runPod } from '../conformance/pods.fixture.ts';
import { openOurs } from '../conformance/runtimes.fixture.ts';

/** oom_score_adj of a pod with a small memory request. The node's own is lower, so that it is not killed because of pods' memory use. */
const SCORE = 977;
const BOUND_MS = 60_000;

type Runtime = Awaited<ReturnType<typeof openOurs>>;
type Container = { runtime: Runtime; containerId: string };

/** Starts a runtime with this OCI runtime, and a container with SCORE; both are removed after the test. */
async function startContainer(context: TestContext, program: string): Promise<Container> {
  const runtime = await openOurs(program);
  context.after(() => runtime.end());
  const pod = await runPod(runtime, 'victim');
  const linux = { resources: { oomScoreAdj: BigInt(SCORE) } };
  const containerId = await createIn(runtime, pod, { name: 'main', script: 'exec sleep 1000', linux });
  await runtime.cri.runtime.startContainer({ containerId });
  return { runtime, containerId };
}

async function outputOf({ runtime, containerId }: Container, cmd: string[], tty: boolean): Promise<string> {
  const { url } = await runtime.cri.runtime.exec({ containerId, cmd, stdin: false, stdout: true, stderr: !tty, tty });
  const stdout = new PassThrough();
  const output = text(stdout);
  const stderr = tty ? undefined : new PassThrough().resume();
  await runRemoteCommand({ url }, { stdout, stderr, tty }, AbortSignal.timeout(BOUND_MS));
  stdout.end();
  return (await output).replaceAll('\r', '');
}

for (const program of ['crun', 'runc']) {
  test(`commands have their container's OOM score, not the node's, with ${program}`, async (context) => {
    assert.notEqual(Number(readFileSync('/proc/self/oom_score_adj', 'utf8')), SCORE);
    const container = await startContainer(context, program);
    const { runtime, containerId } = container;
    // prints the oom_score_adj of a child process (cat) and of the command itself
    const cmd = ['sh', '-c', 'cat /proc/self/oom_score_adj /proc/$$/oom_score_adj'];
    const both = `${SCORE}\n${SCORE}\n`;
    const { stdout } = await runtime.cri.runtime.execSync({ containerId, cmd, timeout: 60n });
    assert.equal(Buffer.from(stdout).toString(), both);
    assert.equal(await outputOf(container, cmd, false), both);
    assert.equal(await outputOf(container, cmd, true), both);
  });
}
