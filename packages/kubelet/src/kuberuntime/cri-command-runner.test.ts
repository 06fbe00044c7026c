import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { connectCri, createCriServer, outputLimitOf, type RuntimeHandlers } from '@podwright/cri';
import { FakeRuntime } from '@podwright/cri/testing';
import { CriCommandRunner } from './cri-command-runner.ts';

/** Returns a command runner on a fake runtime that runs commands with `execSync`. */
async function start(context: TestContext, execSync: RuntimeHandlers['execSync']): Promise<CriCommandRunner> {
  const directory = mkdtempSync(join(tmpdir(), 'pwk-command-'));
  context.after(() => rmSync(directory, { recursive: true }));
  const { handlers } = new FakeRuntime();
  const server = await createCriServer({
    socket: join(directory, 'cri.sock'),
    handlers: { ...handlers, runtime: { ...handlers.runtime, execSync } },
    logger: silentLogger,
  });
  context.after(() => server.close(0));
  const cri = await connectCri({ runtimeEndpoint: server.endpoint, requestTimeoutMs: 500, logger: silentLogger });
  context.after(() => cri.close());
  return new CriCommandRunner(cri);
}

test('a command fails after its timeout plus the request timeout if the runtime does not respond', async (context) => {
  const execSync: RuntimeHandlers['execSync'] = async (_, { signal }) => {
    await once(signal, 'abort');
    throw signal.reason;
  };
  const runner = await start(context, execSync);
  const startedAtMs = performance.now();
  const run = runner.runInContainer('c', ['true'], { timeoutMs: 1000, signal: AbortSignal.timeout(30_000) });
  await assert.rejects(run, { code: 'deadline_exceeded', message: 'run "true" in container c: not done within 1 s' });
  const elapsedMs = performance.now() - startedAtMs;
  assert.ok(elapsedMs >= 1490 && elapsedMs < 9000, `${elapsedMs} ms`);
});

test('the output limit is passed to the runtime, and excess output is discarded', async (context) => {
  const limits: number[] = [];
  const runner = await start(context, async (_, call) => {
    limits.push(outputLimitOf(call));
    return { exitCode: 3, stdout: Buffer.alloc(1 << 20, 'o'), stderr: Buffer.alloc(1 << 20, 'e') };
  });
  const bounds = { timeoutMs: 60_000, signal: AbortSignal.timeout(60_000) };
  const { exitCode, output, stderr } = await runner.runInContainer('c', ['yes'], bounds);
  assert.deepEqual(limits, [64 << 10]);
  assert.deepEqual([exitCode, output.length, stderr.length], [3, 64 << 10, 64 << 10]);
});
