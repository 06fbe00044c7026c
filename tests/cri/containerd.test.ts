/** The CRI client against containerd, which speaks v1 and v1alpha2 (1.6) or v1 only (2.x). */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { errorCode, isUnimplemented, Registry, silentLogger, waitFor } from '@podwright/base';
import { type CriApiVersion, type CriClient, connectCri } from '@podwright/cri';
import { Containerd } from './containerd.fixture.ts';

let containerd: Containerd;
const clients: CriClient[] = [];

before(async () => {
  containerd = await Containerd.start();
});

after(async () => {
  for (const client of clients) client.close();
  await containerd[Symbol.asyncDispose]();
});

async function connect(apiVersion: CriApiVersion | 'auto', metrics?: Registry): Promise<CriClient> {
  const client = await connectCri({ runtimeEndpoint: containerd.endpoint, apiVersion, metrics, logger: silentLogger });
  clients.push(client);
  return client;
}

test('v1 is found', async () => {
  const client = await connect('auto');
  assert.equal(client.apiVersion, 'v1');
  const version = await client.runtime.version({});
  assert.equal(version.runtimeName, 'containerd');
  assert.equal(version.runtimeApiVersion, 'v1');
});

for (const apiVersion of ['v1', 'v1alpha2'] as const) {
  test(`${apiVersion}: status, lists and errors are decoded`, async () => {
    const client = await connect(apiVersion);
    assert.equal(client.apiVersion, apiVersion);
    const { status, info } = await client.runtime.status({ verbose: true });
    const conditions = status?.conditions.map(({ type }) => type);
    assert.deepEqual(conditions, ['RuntimeReady', 'NetworkReady']);
    assert.match(info.config ?? '', /containerdRootDir/);
    assert.deepEqual((await client.runtime.listPodSandbox({})).items, []);
    assert.deepEqual((await client.runtime.listContainers({ filter: { labelSelector: { a: 'b' } } })).containers, []);
    assert.deepEqual((await client.image.listImages({})).images, []);
    assert.equal((await client.image.imageStatus({ image: { image: 'nowhere' } })).image, undefined);
    const usage = (await client.image.imageFsInfo({})).imageFilesystems[0];
    assert.match(usage?.fsId?.mountpoint ?? '', /io\.containerd\.snapshotter/);
    await assert.rejects(client.runtime.containerStatus({ containerId: 'nowhere' }), {
      code: 'not_found',
      message: 'an error occurred when try to find container "nowhere": not found',
    });
    await assert.rejects(client.runtime.updatePodSandboxResources({}), isUnimplemented);
    await assert.rejects(client.transfers.save({}), isUnimplemented);
    await assert.rejects(async () => {
      for await (const _ of client.runtime.streamContainers({}));
    }, isUnimplemented);
  });
}

test('a client reconnects after a restart of the runtime', async () => {
  const metrics = new Registry();
  const client = await connect('v1', metrics);
  await containerd.stop();
  await assert.rejects(client.runtime.version({}), (error) => errorCode(error) === 'unavailable');
  await containerd.start();
  const again = () => client.runtime.version({}).catch(() => undefined);
  const { runtimeName } = await waitFor(again, { intervalMs: 50, signal: AbortSignal.timeout(10_000) });
  assert.equal(runtimeName, 'containerd');
  assert.match(await metrics.metrics(), /^kubelet_runtime_operations_errors_total\{operation_type="version"\} [1-9]/m);
});
