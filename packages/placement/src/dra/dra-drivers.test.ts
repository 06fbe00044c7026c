import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { PodwrightError, silentLogger, waitFor, withTimeout } from '@podwright/base';
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

test('a driver that says that its health service is unavailable is usable all the same', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'pwk-dra-'));
  const socket = join(directory, 'dra.sock');
  const heard: boolean[] = [];
  const asked = { count: 0 };
  const unavailable = handleService(DRAResourceHealth, {
    // biome-ignore lint/correctness/useYield: it fails before there is anything to tell
    nodeWatchResources: async function* () {
      asked.count++;
      throw new PodwrightError('unavailable', 'not yet');
    },
  });
  const server = await serveServices([prepare, unavailable], { socket, logger: silentLogger });
  const drivers = new DraDrivers({
    onUsable: (_, isUsable) => heard.push(isUsable),
    onHealth: () => undefined,
    logger: silentLogger,
    retryMs: 10,
  });
  context.after(async () => {
    drivers.stop();
    await server.close(0);
    rmSync(directory, { recursive: true });
  });
  await drivers.register({ name: 'd', endpoint: socket, versions: ['v1.DRAPlugin'] });
  using signal = withTimeout(undefined, 30_000, 'wait for the third watch');
  await waitFor(() => asked.count > 2 || undefined, { intervalMs: 2, signal });
  assert.deepEqual(heard, [true]);
});

test('a driver whose endpoint can be no socket is refused, and hears why', async () => {
  const [onUsable, onHealth] = [() => assert.fail('it was taken'), () => undefined];
  const drivers = new DraDrivers({ onUsable, onHealth, logger: silentLogger });
  const check = async (endpoint: string, message: RegExp) => {
    const plugin = { name: 'd', endpoint, versions: ['v1.DRAPlugin'] };
    assert.throws(() => drivers.validate(plugin), { code: 'invalid_argument', message });
    await assert.rejects(drivers.register(plugin), { code: 'invalid_argument', message });
  };
  await check(`/${'x'.repeat(200)}`, /the path has 201 bytes/);
  await check('dra.sock', /must be absolute/);
});
