import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { DeviceHealthSchema, HealthStatus } from '../dra-health-api.ts';
import { DraHealth } from './device-health.ts';

const A = { pool: 'pool', device: 'a' };
const B = { pool: 'pool', device: 'b' };

const reported = (
  { pool, device }: typeof A,
  health: HealthStatus,
  more: { message?: string; seconds?: bigint } = {},
) =>
  create(DeviceHealthSchema, {
    device: { poolName: pool, deviceName: device },
    health,
    message: more.message ?? '',
    healthCheckTimeoutSeconds: more.seconds ?? 0n,
  });

test('device health is the driver’s last report until that expires', () => {
  let nowMs = 0;
  const health = new DraHealth(() => nowMs);
  assert.deepEqual(health.of('d', A), { health: 'Unknown' });
  const both = [
    reported(A, HealthStatus.HEALTHY),
    reported(B, HealthStatus.UNHEALTHY, { message: 'hot', seconds: 5n }),
  ];
  assert.deepEqual(health.update('d', both), [A, B]);
  assert.deepEqual(health.update('d', both), []);
  assert.deepEqual(
    [health.of('d', A), health.of('d', B)],
    [{ health: 'Healthy' }, { health: 'Unhealthy', message: 'hot' }],
  );
  nowMs = 6000;
  assert.deepEqual([health.of('d', A).health, health.of('d', B).health], ['Healthy', 'Unknown']);
  assert.deepEqual(health.update('d', [reported(A, HealthStatus.HEALTHY)]), [B]);
  nowMs = 36_001;
  assert.deepEqual(health.of('d', A), { health: 'Unknown' });
  assert.deepEqual(health.clear('d'), [A]);
  assert.deepEqual(health.clear('d'), []);
});

test('a message is truncated at upstream’s limit', () => {
  const health = new DraHealth();
  health.update('d', [reported(A, HealthStatus.UNHEALTHY, { message: 'x'.repeat(1025) })]);
  const { message } = health.of('d', A);
  assert.deepEqual([message?.length, message?.slice(-4)], [1024, 'x...']);
});
