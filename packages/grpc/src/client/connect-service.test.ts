import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PodwrightError, silentLogger } from '@podwright/base';
import { Test } from '../gen/podwright/test/v1/test_pb.js';
import { handleService } from '../server/handlers.ts';
import { serveServices } from '../server/serve-services.ts';
import { connectService } from './connect-service.ts';

async function served(context: TestContext, items: number) {
  const directory = await mkdtemp(join(tmpdir(), 'pw-service-'));
  const socket = join(directory, 'plugin.sock');
  const service = handleService(Test, {
    wait: () => Promise.reject(new PodwrightError('failed_precondition', 'not yet')),
    async *list() {
      yield { items: Array.from({ length: items }, (_, index) => ({ id: `item-${index}`, image: 'busybox' })) };
    },
  });
  const server = await serveServices([service], { socket, logger: silentLogger });
  const client = connectService(Test, socket, { maxReceiveBytes: 1 << 20 });
  context.after(async () => {
    client.close();
    await server.close(0);
    await rm(directory, { recursive: true });
  });
  return client;
}

test('a plugin’s responses and errors reach the caller unchanged', async (context) => {
  const client = await served(context, 2);
  const seen: string[][] = [];
  for await (const { items } of client.list({})) seen.push(items.map(({ id }) => id));
  assert.deepEqual(seen, [['item-0', 'item-1']]);
  await assert.rejects(client.wait({}), { code: 'failed_precondition', message: 'not yet' });
});

test('a response larger than the limit is rejected', async (context) => {
  const client = await served(context, 100_000);
  await assert.rejects(client.list({})[Symbol.asyncIterator]().next(), { code: 'resource_exhausted' });
});
