import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { type Any, anyPack, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { MetricSchema } from './gen/containerd/types/metrics_pb.js';
import { MetricsSchema as V1Schema } from './gen/io/containerd/cgroups/v1/metrics_pb.js';
import { MetricsSchema as V2Schema } from './gen/io/containerd/cgroups/v2/metrics_pb.js';
import { statsOfMetric } from './shim-metrics.ts';

const metric = (data: Any | undefined) => create(MetricSchema, { id: 'x', timestamp: timestampFromMs(5), data });

test('cgroup v1 and v2 metrics are converted to the same statistics', () => {
  const v1 = create(V1Schema, {
    cpu: { usage: { total: 3000n, user: 2000n, kernel: 1000n } },
    memory: {
      usage: { usage: 100n, limit: 2n ** 63n - 4096n },
      swap: { usage: 120n },
      totalInactiveFile: 30n,
      totalRss: 50n,
    },
    pids: { current: 4n },
  });
  const v2 = create(V2Schema, {
    cpu: { usageUsec: 3n, userUsec: 2n, systemUsec: 1n },
    memory: { usage: 100n, usageLimit: 2n ** 64n - 1n, swapUsage: 20n, inactiveFile: 30n, anon: 50n },
    pids: { current: 4n },
  });
  const one = statsOfMetric(metric(anyPack(V1Schema, v1)));
  assert.deepEqual(one, statsOfMetric(metric(anyPack(V2Schema, v2))));
  const { readAtMs, cpu, memory, threads } = one!;
  assert.deepEqual([readAtMs, cpu?.usageNanoseconds, cpu?.systemNanoseconds], [5, 3000, 1000]);
  assert.deepEqual([memory?.usageBytes, memory?.workingSetBytes, memory?.swapBytes], [100, 70, 20]);
  assert.deepEqual([memory?.limitBytes, threads], [undefined, { current: 4, limit: undefined }]);
});

test('metrics without data or of an unknown type are not converted', () => {
  assert.equal(statsOfMetric(metric(undefined)), undefined);
  assert.equal(statsOfMetric(metric(anyPack(MetricSchema, create(MetricSchema, { id: 'other' })))), undefined);
});
