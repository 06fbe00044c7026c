/** A container that writes as fast as it can: every byte is logged, without using CPU time of the runtime process. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ContainerEventType } from '@podwright/cri';
import { type LogLine, readLog } from './cri-log.fixture.ts';
import { runPod, startIn } from './pods.fixture.ts';
import { openers, type RuntimeToCompare } from './runtimes.fixture.ts';

/** How many lines to write: 200 MB in total, at 400 bytes per line. */
const LINES = { stdout: 375_000, stderr: 125_000 };
const LINE = 'x'.repeat(399);

let runtime: RuntimeToCompare;
before(async () => {
  runtime = await openers('none').ours();
});
after(() => runtime?.end());

/** Waits for the event that the container has stopped. Polling instead would use CPU time of this process, which is measured. */
async function untilStopped(containerId: string, begin: () => Promise<unknown>): Promise<void> {
  const events = runtime.cri.runtime.getContainerEvents({}, { signal: AbortSignal.timeout(120_000) });
  await runtime.cri.runtime.version({});
  await begin();
  for await (const event of events) {
    const stopped = event.containerEventType === ContainerEventType.CONTAINER_STOPPED_EVENT;
    if (stopped && event.containerId === containerId) return;
  }
}

/** Counts each stream's complete lines, reassembled from their parts. Throws if a line was altered. */
async function countLines(path: string): Promise<typeof LINES> {
  const counts = { stdout: 0, stderr: 0 };
  const partial: Record<LogLine['stream'], string> = { stdout: '', stderr: '' };
  for await (const { stream, tag, text } of readLog(path)) {
    const line = partial[stream] + text;
    partial[stream] = tag === 'P' ? line : '';
    if (tag === 'P') continue;
    if (line !== LINE) assert.fail(`line ${counts[stream]} of ${stream} is ${JSON.stringify(line.slice(0, 500))}`);
    counts[stream]++;
  }
  assert.deepEqual(partial, { stdout: '', stderr: '' });
  return counts;
}

test('200 MB of container output are logged completely, without using CPU time of the runtime', {
  timeout: 240_000,
}, async () => {
  const pod = await runPod(runtime, 'loud');
  const script = `until [ -e /go ]; do sleep 0.05; done; line=${LINE}
yes $line | head -c ${LINES.stderr * 400} >&2 & yes $line | head -c ${LINES.stdout * 400}; wait`;
  const containerId = await startIn(runtime, pod, { name: 'loud', script });
  const { cri } = runtime;
  const go = () => cri.runtime.execSync({ containerId, cmd: ['touch', '/go'], timeout: 60n });
  const before = process.cpuUsage();
  await untilStopped(containerId, go);
  const { user, system } = process.cpuUsage(before);
  assert.deepEqual(await countLines(join(pod.config.logDirectory, 'loud.log')), LINES);
  // copying 200 MB would take seconds of CPU time; the command and the event take a few hundredths of a second
  assert.ok(user + system < 1_000_000, `${user + system} microseconds of CPU time`);
});
