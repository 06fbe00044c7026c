/** Every CRI call has a handler, in both API versions. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode, silentLogger } from '@podwright/base';
import { type CriClient, connectCri, ImageService, RuntimeService } from '@podwright/cri';
import { RuntimeUnderTest, removeTestPlace } from '../fixtures/runtime-under-test.ts';

/** The expected outcome of each CRI call with an empty request. */
const expected: Record<string, string> = {
  version: 'ok',
  status: 'ok',
  runtimeConfig: 'ok',
  updateRuntimeConfig: 'ok',
  getContainerEvents: 'stream',
  runPodSandbox: 'invalid_argument',
  stopPodSandbox: 'invalid_argument',
  removePodSandbox: 'invalid_argument',
  podSandboxStatus: 'not_found',
  listPodSandbox: 'ok',
  streamPodSandboxes: 'ok',
  podSandboxStats: 'not_found',
  listPodSandboxStats: 'ok',
  streamPodSandboxStats: 'ok',
  updatePodSandboxResources: 'not_found',
  listMetricDescriptors: 'ok',
  listPodSandboxMetrics: 'ok',
  streamPodSandboxMetrics: 'ok',
  portForward: 'not_found',
  createContainer: 'not_found',
  startContainer: 'not_found',
  stopContainer: 'invalid_argument',
  removeContainer: 'invalid_argument',
  containerStatus: 'not_found',
  listContainers: 'ok',
  streamContainers: 'ok',
  containerStats: 'not_found',
  listContainerStats: 'ok',
  streamContainerStats: 'ok',
  updateContainerResources: 'not_found',
  checkpointContainer: 'not_found',
  reopenContainerLog: 'not_found',
  execSync: 'not_found',
  exec: 'not_found',
  attach: 'not_found',
  listImages: 'ok',
  streamImages: 'ok',
  imageStatus: 'invalid_argument',
  pullImage: 'invalid_argument',
  removeImage: 'invalid_argument',
  imageFsInfo: 'ok',
};

type AnyCall = (request: object, options: { signal: AbortSignal }) => Promise<unknown> | AsyncIterable<unknown>;

/** Returns the outcome of a call; `stream` means that a stream is open but has not sent anything. */
async function outcomeOf(client: CriClient, service: 'runtime' | 'image', name: string): Promise<string> {
  const leave = new AbortController();
  const call = (client[service] as unknown as Record<string, AnyCall>)[name]!;
  try {
    const answer = call({}, { signal: leave.signal });
    if (!(Symbol.asyncIterator in answer)) return await answer.then(() => 'ok');
    const first = answer[Symbol.asyncIterator]().next();
    // both responses may arrive at the same time, and a stream's error takes a few more event loop turns than a unary response
    const later = client.runtime.version({}).then(() => sleep(50, 'open' as const));
    return (await Promise.race([first, later])) === 'open' && name === 'getContainerEvents'
      ? 'stream'
      : await first.then(() => 'ok');
  } catch (error) {
    return errorCode(error);
  } finally {
    leave.abort();
  }
}

/** CRI calls that v1alpha2 does not have. */
const YOUNGER = new Set([
  'checkpointContainer',
  'getContainerEvents',
  'listMetricDescriptors',
  'listPodSandboxMetrics',
  'runtimeConfig',
  'updatePodSandboxResources',
  'streamPodSandboxes',
  'streamContainers',
  'streamContainerStats',
  'streamPodSandboxStats',
  'streamPodSandboxMetrics',
  'streamImages',
]);

suite('every call of the CRI', { timeout: 120_000 }, () => {
  const runtime = new RuntimeUnderTest();
  before(async () => void (await runtime.start({}, { load: false })));
  after(async () => {
    await runtime.stop({ removeHostState: true });
    removeTestPlace(runtime.place);
  });

  test('the services have exactly these calls', () => {
    const calls = [RuntimeService, ImageService].flatMap(({ methods }) => methods.map(({ localName }) => localName));
    assert.deepEqual(calls.sort(), Object.keys(expected).sort());
  });

  for (const apiVersion of ['v1', 'v1alpha2'] as const) {
    test(`each is answered in ${apiVersion}, with a class that fits an empty request`, async (t) => {
      const runtimeEndpoint = runtime.place.options.socket;
      const client = await connectCri({ runtimeEndpoint, apiVersion, logger: silentLogger });
      t.after(() => client.close());
      const outcomes: Record<string, string> = {};
      for (const { localName } of RuntimeService.methods)
        outcomes[localName] = await outcomeOf(client, 'runtime', localName);
      for (const { localName } of ImageService.methods)
        outcomes[localName] = await outcomeOf(client, 'image', localName);
      const wanted = Object.entries(expected).map(([name, outcome]) => [
        name,
        apiVersion === 'v1alpha2' && YOUNGER.has(name) ? 'unimplemented' : outcome,
      ]);
      assert.deepEqual(outcomes, Object.fromEntries(wanted));
    });
  }
});
