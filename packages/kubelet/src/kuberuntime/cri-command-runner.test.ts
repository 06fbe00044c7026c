import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { connectCri, createCriServer, type RuntimeHandlers } from '@podwright/cri';
import { FakeRuntime } from '@podwright/cri/testing';
import { CriCommandRunner } from './cri-command-runner.ts';

test('a command whose runtime does not respond fails after its timeout plus the request timeout', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'pwk-command-'));
  context.after(() => rmSync(directory, { recursive: true }));
  const { handlers } = new FakeRuntime();
  const execSync: RuntimeHandlers['execSync'] = async (_, { signal }) => {
    await once(signal, 'abort');
    throw signal.reason;
  };
  const server = await createCriServer({
    socket: join(directory, 'cri.sock'),
    handlers: { ...handlers, runtime: { ...handlers.runtime, execSync } },
    logger: silentLogger,
  });
  context.after(() => server.close(0));
  const cri = await connectCri({ runtimeEndpoint: server.endpoint, requestTimeoutMs: 500, logger: silentLogger });
  context.after(() => cri.close());
  const runner = new CriCommandRunner(cri);
  const startedAtMs = performance.now();
  const run = runner.runInContainer('c', ['true'], { timeoutMs: 1000, signal: AbortSignal.timeout(30_000) });
  await assert.rejects(run, { code: 'deadline_exceeded', message: 'run "true" in container c: not done within 1 s' });
  const elapsedMs = performance.now() - startedAtMs;
  assert.ok(elapsedMs >= 1490 && elapsedMs < 9000, `${elapsedMs} ms`);
});
