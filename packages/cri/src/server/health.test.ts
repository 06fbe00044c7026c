import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isNotFound, silentLogger } from '@podwright/base';
import { Connection, createServiceClient, parseEndpoint } from '@podwright/grpc';
import {
  Health,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from '../../../grpc/src/gen/grpc/health/v1/health_pb.js';
import { createCriServer } from './create-server.ts';

test('the server and each service report SERVING until the server closes', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'podwright-health-'));
  const socket = join(directory, 'cri.sock');
  const server = await createCriServer({ socket, handlers: { runtime: {}, image: {} }, logger: silentLogger });
  const observer = { started: () => () => undefined };
  const connection = new Connection(parseEndpoint(socket), { observer });
  t.after(async () => {
    connection.close();
    await server.close(0);
    await rm(directory, { recursive: true });
  });
  const health = createServiceClient(Health, connection);
  const { SERVING, NOT_SERVING, SERVICE_UNKNOWN } = ServingStatus;

  assert.equal((await health.check({})).status, SERVING);
  assert.equal((await health.check({ service: 'runtime.v1.RuntimeService' })).status, SERVING);
  await assert.rejects(health.check({ service: 'unknown' }), isNotFound);
  assert.equal((await health.list({})).statuses['runtime.v1alpha2.ImageService']?.status, SERVING);

  const seen: ServingStatus[] = [];
  const unknown = health.watch({ service: 'unknown' })[Symbol.asyncIterator]();
  assert.equal((await unknown.next()).value?.status, SERVICE_UNKNOWN);
  await unknown.return?.();
  await assert.rejects(
    async () => {
      for await (const { status } of health.watch({})) {
        seen.push(status);
        if (status === SERVING) void server.close();
      }
    },
    { code: 'unavailable', message: 'the server is closing' },
  );
  assert.deepEqual(seen, [SERVING, NOT_SERVING]);
});
