import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PodwrightError, silentLogger } from '@podwright/base';
import { DevicePlugin } from '../gen/deviceplugin/v1beta1/deviceplugin_pb.js';
import { serveServices } from '../server/create-server.ts';
import { handleService } from '../server/handlers.ts';
import { connectService } from './connect-service.ts';

async function served(context: TestContext, devices: number) {
  const directory = await mkdtemp(join(tmpdir(), 'pw-service-'));
  const socket = join(directory, 'plugin.sock');
  const service = handleService(DevicePlugin, {
    getDevicePluginOptions: () => Promise.reject(new PodwrightError('failed_precondition', 'not yet')),
    async *listAndWatch() {
      yield { devices: Array.from({ length: devices }, (_, index) => ({ ID: `device-${index}`, health: 'Healthy' })) };
    },
  });
  const server = await serveServices([service], { socket, logger: silentLogger });
  const client = connectService(DevicePlugin, socket, { maxReceiveBytes: 1 << 20 });
  context.after(async () => {
    client.close();
    await server.close(0);
    await rm(directory, { recursive: true });
  });
  return client;
}

test('responses and errors of a plugin reach the caller unchanged', async (context) => {
  const client = await served(context, 2);
  const seen: string[][] = [];
  for await (const { devices } of client.listAndWatch({})) seen.push(devices.map(({ ID }) => ID));
  assert.deepEqual(seen, [['device-0', 'device-1']]);
  await assert.rejects(client.getDevicePluginOptions({}), { code: 'failed_precondition', message: 'not yet' });
});

test('a response larger than the bound is rejected', async (context) => {
  const client = await served(context, 100_000);
  await assert.rejects(client.listAndWatch({})[Symbol.asyncIterator]().next(), { code: 'resource_exhausted' });
});
