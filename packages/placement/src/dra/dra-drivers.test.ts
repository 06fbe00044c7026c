import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { PodwrightError, silentLogger, waitFor, withTimeout } from '@podwright/base';
import { handleService, type ListeningServer, serveServices } from '@podwright/grpc';
import { DRAPlugin } from '../dra-api.ts';
import { DRAResourceHealth, HealthStatus } from '../dra-health-api.ts';
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

test('a driver that disappears is not usable until it is reachable again, whether or not it reports health', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'pwk-dra-'));
  const socket = join(directory, 'dra.sock');
  const events: string[] = [];
  const drivers = new DraDrivers({
    onUsable: (_, isUsable) => events.push(isUsable ? 'usable' : 'gone'),
    onHealth: (_, devices) => events.push(devices === undefined ? 'silent' : `${devices.length} devices`),
    logger: silentLogger,
    retryMs: 10,
  });
  let server: ListeningServer | undefined;
  const serve = async (...services: Parameters<typeof serveServices>[0]) => {
    server = await serveServices(services, { socket, logger: silentLogger });
  };
  context.after(async () => {
    drivers.stop();
    await server?.close(0);
    rmSync(directory, { recursive: true });
  });
  const expectEvents = async (...expected: string[]) => {
    using signal = withTimeout(undefined, 30_000, expected.join());
    await waitFor(() => events.length >= expected.length || undefined, { intervalMs: 2, signal });
    assert.deepEqual(events.splice(0), expected);
  };
  await serve(prepare, health);
  await drivers.register({ name: 'd', endpoint: socket, versions: ['v1.DRAPlugin'] });
  await expectEvents('usable', '1 devices');
  await server!.close(0);
  await expectEvents('gone', 'silent');
  await serve(prepare);
  await expectEvents('usable');
  await drivers.deregister({ name: 'd', endpoint: socket, versions: [] });
  await expectEvents('gone', 'silent');
});

test('a driver whose health service returns unavailable is still usable', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'pwk-dra-'));
  const socket = join(directory, 'dra.sock');
  const events: boolean[] = [];
  const asked = { count: 0 };
  const unavailable = handleService(DRAResourceHealth, {
    // biome-ignore lint/correctness/useYield: it fails before the first report
    nodeWatchResources: async function* () {
      asked.count++;
      throw new PodwrightError('unavailable', 'not yet');
    },
  });
  const server = await serveServices([prepare, unavailable], { socket, logger: silentLogger });
  const drivers = new DraDrivers({
    onUsable: (_, isUsable) => events.push(isUsable),
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
  assert.deepEqual(events, [true]);
});

test('a driver whose endpoint cannot be a socket is refused with the reason', async () => {
  const [onUsable, onHealth] = [() => assert.fail('it was registered'), () => undefined];
  const drivers = new DraDrivers({ onUsable, onHealth, logger: silentLogger });
  const check = async (endpoint: string, message: RegExp) => {
    const plugin = { name: 'd', endpoint, versions: ['v1.DRAPlugin'] };
    assert.throws(() => drivers.validate(plugin), { code: 'invalid_argument', message });
    await assert.rejects(drivers.register(plugin), { code: 'invalid_argument', message });
  };
  await check(`/${'x'.repeat(200)}`, /the path has 201 bytes/);
  await check('dra.sock', /must be absolute/);
});
