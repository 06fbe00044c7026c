/** Container logs on any CRI runtime: every byte is logged, in CRI format. */
import assert from 'node:assert/strict';
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { contentOf, type LogLine, readLog } from './cri-log.fixture.ts';
import { type Pod, runPod, startIn, untilExited } from './pods.fixture.ts';
import type { RuntimeToCompare } from './runtimes.fixture.ts';

const patience = () => ({ intervalMs: 20, signal: AbortSignal.timeout(60_000) });

/** `losesAtRotation`: on a busy host, containerd 1.6 sometimes loses output written while a log is being rotated. */
export type LogsOptions = { losesAtRotation: boolean };

export function logsSuite(
  name: string,
  open: () => Promise<RuntimeToCompare>,
  { losesAtRotation }: LogsOptions = { losesAtRotation: false },
): void {
  suite(`logs of ${name}`, { timeout: 300_000 }, () => {
    let runtime: RuntimeToCompare;
    let pod: Pod;
    before(async () => {
      runtime = await open();
      pod = await runPod(runtime, 'logs');
    });
    after(() => runtime?.end());

    /** Runs a script to completion and returns the path of its log. */
    const logOf = async (container: string, script: string) => {
      const containerId = await startIn(runtime, pod, { name: container, script });
      await untilExited(runtime, containerId);
      return join(pod.config.logDirectory, `${container}.log`);
    };
    const linesOf = async (path: string) => {
      const lines: LogLine[] = [];
      for await (const line of readLog(path)) lines.push(line);
      return lines;
    };

    /** Returns a stream's content once it is `whole`: containerd may report a container's exit before it has written its entire log. */
    const settled = async (path: string, stream: LogLine['stream'], whole: (content: Buffer) => boolean) => {
      const isWhole = async () => whole(await contentOf(path, stream)) || undefined;
      await waitFor(() => isWhole().catch(() => undefined), patience()).catch(() => undefined);
      return await contentOf(path, stream);
    };

    test('both streams, empty lines and unfinished lines are logged', async () => {
      const script = "echo one; echo; printf 'tw'; sleep 0.3; echo o; echo wrong >&2; sleep 0.1; echo; printf end";
      const path = await logOf('lines', script);
      const out = /^one\n\ntwo\n\nend\n?$/;
      assert.match(String(await settled(path, 'stdout', (content) => out.test(String(content)))), out);
      const wrong = 'wrong\n';
      assert.equal(String(await settled(path, 'stderr', (content) => String(content) === wrong)), wrong);
    });

    test('lines longer than any buffer and all byte values are logged', async () => {
      // all 256 byte values, and lines of 100,000 characters, of exactly 16 KiB, and of one byte more
      const bytes = Array.from({ length: 256 }, (_, value) => `\\${value.toString(8).padStart(3, '0')}`).join('');
      const x = (count: number) => `head -c ${count} /dev/zero | tr '\\0' x`;
      const script = `printf '${bytes}'; echo; ${x(100_000)}; echo; ${x(16_384)}; echo; ${x(16_385)}; echo`;
      const path = await logOf('bytes', script);
      const every = Buffer.from(Array.from({ length: 256 }, (_, value) => value));
      const long = [100_000, 16_384, 16_385].map((count) => `${'x'.repeat(count)}\n`).join('');
      const expected = Buffer.concat([every, Buffer.from(`\n${long}`)]);
      assert.ok((await settled(path, 'stdout', (content) => content.equals(expected))).equals(expected));
      const lines = await linesOf(path);
      assert.ok(lines.some(({ tag }) => tag === 'P'));
      assert.ok(lines.every(({ text }) => text.length <= 16_384));
    });

    test('a log that is rotated repeatedly while it is written loses nothing', async () => {
      const count = 100_000;
      const script = `seq 1 ${count}; until [ -e /go ]; do sleep 0.05; done`;
      const containerId = await startIn(runtime, pod, { name: 'turned', script });
      const path = join(pod.config.logDirectory, 'turned.log');
      await waitFor(() => existsSync(path) || undefined, patience());
      const files: string[] = [];
      for (let turn = 0; turn < 8; turn++) {
        const moved = `${path}.${turn}`;
        renameSync(path, moved);
        await runtime.cri.runtime.reopenContainerLog({ containerId });
        assert.ok(existsSync(path), 'the new log exists');
        files.push(moved);
      }
      await runtime.cri.runtime.execSync({ containerId, cmd: ['touch', '/go'], timeout: 60n });
      await untilExited(runtime, containerId, 150_000);
      const parts = await Promise.all([...files, path].map((file) => settled(file, 'stdout', () => true)));
      if (losesAtRotation) return;
      const numbers = parts.join('').trimEnd().split('\n').map(Number);
      const wrong = numbers.findIndex((number, index) => number !== index + 1);
      assert.equal(wrong, -1, `after ${numbers[wrong - 1]} comes ${numbers[wrong]}`);
      assert.equal(numbers.length, count);
    });

    test('ReopenContainerLog without a rotation keeps the content of the log', async () => {
      const script = 'echo before; until [ -e /go ]; do sleep 0.05; done; echo after; sleep 1000';
      const containerId = await startIn(runtime, pod, { name: 'unrotated', script });
      const path = join(pod.config.logDirectory, 'unrotated.log');
      const has = (text: string) =>
        waitFor(async () => String(await contentOf(path, 'stdout').catch(() => '')) === text || undefined, patience());
      await waitFor(() => existsSync(path) || undefined, patience());
      await has('before\n');
      for (let turn = 0; turn < 3; turn++) await runtime.cri.runtime.reopenContainerLog({ containerId });
      await runtime.cri.runtime.execSync({ containerId, cmd: ['touch', '/go'] });
      await has('before\nafter\n');
      await runtime.cri.runtime.removeContainer({ containerId });
    });
  });
}
