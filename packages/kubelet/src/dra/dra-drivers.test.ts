import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger, waitFor, withTimeout } from '@podwright/base';
import { type CriServer, handleService, serveServices } from '@podwright/cri';
import { DRAPlugin } from '@podwright/cri/dra';
import { DRAResourceHealth, HealthStatus } from '@podwright/cri/dra-health';
import { DraDrivers } from './dra-drivers.ts';

const prepare = handleService(DRAPlugin, {
  nodePrepareResources: async () => ({ claims: {} }),
  nodeUnprepareResources: async () => ({ claims: {} }),
});
const health = handleService(DRAResourceHealth, {
  nodeWatchResources: async function* (_, { signal }) {
    yield { devices: [{ device: { poolName: 'p', deviceName: 'a' }, health: HealthStatus.HEALTHY }] };
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  },
});

test('a driver that goes without a word is not usable until it is back, whether it tells of its devices or not', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'pwk-dra-'));
  const socket = join(directory, 'dra.sock');
  const heard: string[] = [];
  const drivers = new DraDrivers({
    onUsable: (_, isUsable) => heard.push(isUsable ? 'usable' : 'gone'),
    onHealth: (_, devices) => heard.push(devices === undefined ? 'silent' : `${devices.length} devices`),
    logger: silentLogger,
    retryMs: 10,
  });
  let server: CriServer | undefined;
  const serve = async (...services: Parameters<typeof serveServices>[0]) => {
    server = await serveServices(services, { socket, logger: silentLogger });
  };
  context.after(async () => {
    drivers.stop();
    await server?.close(0);
    rmSync(directory, { recursive: true });
  });
  const hears = async (...expected: string[]) => {
    using signal = withTimeout(undefined, 30_000, expected.join());
    await waitFor(() => heard.length >= expected.length || undefined, { intervalMs: 2, signal });
    assert.deepEqual(heard.splice(0), expected);
  };
  await serve(prepare, health);
  await drivers.register({ name: 'd', endpoint: socket, versions: ['v1.DRAPlugin'] });
  await hears('usable', '1 devices');
  await server!.close(0);
  await hears('gone', 'silent');
  await serve(prepare);
  await hears('usable');
  await drivers.deregister({ name: 'd', endpoint: socket, versions: [] });
  await hears('gone', 'silent');
});
