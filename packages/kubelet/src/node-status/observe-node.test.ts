import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Logger, PodwrightError, silentLogger } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import type { NodeAddress } from '@podwright/kube-api';
import { nodeSettings } from '../../../kubelet-configuration/src/options/node-settings.ts';
import { hostFacts } from './host-facts.ts';
import { mockTime } from './node-api.fixture.ts';
import { NodeObserver, type NodeObserverOptions } from './node-observer.ts';

const GIB = 1n << 30n;
const away = new PodwrightError('unavailable', 'the runtime is away');

/** Starts a NodeObserver on this host, with a fake container runtime that can be made unavailable. */
function begin(t: TestContext, given: Partial<NodeObserverOptions> = {}) {
  const clock = mockTime(t);
  const runtime = { isAway: false, listings: 0, tags: ['a:1'] };
  const call = async <T>(answer: () => T): Promise<T> => {
    if (runtime.isAway) throw away;
    return answer();
  };
  const listed = () => {
    runtime.listings++;
    return { images: [{ id: 'x', size: 1n, repoTags: runtime.tags, repoDigests: [] }] };
  };
  const cri = {
    runtime: { version: () => call(() => ({ runtimeVersion: 'v1.2.3' })) },
    image: { listImages: () => call(listed) },
  } as unknown as CriClient;
  const observer = new NodeObserver({
    wanted: { name: '127.0.0.1', nodeIp: '', externalCloudProvider: false },
    settings: nodeSettings(),
    host: hostFacts(),
    resources: { cpu: 4000n, memory: 8n * GIB, 'ephemeral-storage': 100n * GIB },
    maxPods: 110,
    reserved: { cpuMillis: 100, memoryBytes: 1 << 30, ephemeralStorageBytes: 0 },
    ...{ port: 10250, declaredFeatures: ['F'], runtimeName: 'fake', logger: silentLogger, cri },
    sources: {
      abilities: () => undefined,
      pressure: () => ({ memory: false, disk: false, pids: false }),
      devices: () => ({ capacity: {}, allocatable: {} }),
      problems: () => [],
      volumesInUse: () => [],
    },
    ...given,
  });
  return { clock, runtime, observe: () => observer.observe(new AbortController().signal) };
}

test("capacity, reservations and the runtime's version are observed", async (t) => {
  const { observe } = begin(t);
  const { capacity, reserved, nodeInfo, images, port } = await observe();
  assert.deepEqual(capacity, { cpu: '4', memory: '8Gi', 'ephemeral-storage': '100Gi', pods: '110' });
  const nanos = (bytes: bigint) => `${bytes * 1_000_000_000n}n`;
  const tenth = BigInt(Math.trunc(Number(100n * GIB) * Math.fround(Math.fround(10) / 100)));
  assert.deepEqual(reserved, {
    ...{ cpu: '100000000n', memory: nanos(GIB + (100n << 20n)), 'ephemeral-storage': nanos(tenth) },
  });
  assert.equal(nodeInfo.containerRuntimeVersion, 'fake://1.2.3');
  assert.deepEqual([images, port], [[{ names: ['a:1'], sizeBytes: 1 }], 10250]);
});

test('images are listed twice a minute, and the last list is reused while the runtime is unavailable', async (t) => {
  const { clock, runtime, observe } = begin(t);
  await observe();
  runtime.tags = ['b:1'];
  await clock.pass(29_990);
  assert.deepEqual([(await observe()).images[0]?.names, runtime.listings], [['a:1'], 1]);
  await clock.pass(10);
  assert.deepEqual([(await observe()).images[0]?.names, runtime.listings], [['b:1'], 2]);
  runtime.isAway = true;
  await clock.pass(30_000);
  const { images, nodeInfo } = await observe();
  assert.deepEqual([images[0]?.names, nodeInfo.containerRuntimeVersion], [['b:1'], 'fake://Unknown']);
});

test('if the host lacks the --node-ip address, no addresses are reported, but everything else is', async (t) => {
  const wanted = { name: 'n1', nodeIp: '192.0.2.250', externalCloudProvider: true };
  const { observe } = begin(t, { wanted });
  const { addresses, providedIps, capacity } = await observe();
  assert.deepEqual([addresses, providedIps, capacity.pods], [undefined, '192.0.2.250', '110']);
});

test('addresses from the last lookup are used while name resolution is slow', async (t) => {
  const errors: string[] = [];
  const logger: Logger = { ...silentLogger, error: (_fields: object, message: string) => void errors.push(message) };
  const lookups: PromiseWithResolvers<NodeAddress[]>[] = [];
  const findAddresses = () => {
    const answer = Promise.withResolvers<NodeAddress[]>();
    lookups.push(answer);
    return answer.promise;
  };
  const { clock, observe } = begin(t, { logger, findAddresses });
  const observed = async () => {
    const [{ addresses }] = await Promise.all([observe(), clock.pass(2010)]);
    return addresses;
  };
  assert.equal(await observed(), undefined);
  assert.deepEqual([lookups.length, errors], [1, ['the node has no address']]);
  const found: NodeAddress[] = [{ type: 'InternalIP', address: '192.0.2.1' }];
  lookups[0]!.resolve(found);
  await clock.pass(10);
  assert.deepEqual(await observed(), found);
  lookups[1]!.reject(new PodwrightError('failed_precondition', 'there is none any more'));
  await clock.pass(10);
  assert.equal(await observed(), undefined);
  assert.deepEqual([lookups.length, errors.length], [3, 1]);
});
