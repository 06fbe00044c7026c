/** A manifest URL as a node's source of pods. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { buildBundle } from './bundle.fixture.ts';
import { forever, NodePlace, podManifest } from './node.fixture.ts';

test('pods from a URL run, and keep running across a restart while the URL does not respond', async (context) => {
  const bundle = await buildBundle();
  context.after(() => bundle.remove());
  const place = new NodePlace(bundle, '10.99.61.0/24');
  context.after(() => place.remove());
  await place.loadImage();
  let away = false;
  const requests = { served: 0, refused: 0 };
  const server = createServer(({ headers }, response) => {
    const allowed = headers['x-token'] === 'one, two' && !away;
    requests[allowed ? 'served' : 'refused']++;
    response.writeHead(allowed ? 200 : 403).end(allowed ? podManifest('web', forever) : '');
  }).listen(0, '127.0.0.1');
  context.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/pods`;
  const settings = `[kubelet]\nstatic_pod_url = "${url}"\nstatic_pod_url_header = { X-Token = ["one", "two"] }\n`;
  const daemon = () => place.startDaemon('--config', place.file('config.toml', settings), 'node');
  const isRunning = async () => (await place.pods())[0]?.status?.phase === 'Running';

  const first = await daemon();
  await place.until(isRunning);
  const [before] = await place.pods();
  assert.equal(before!.metadata.annotations?.['kubernetes.io/config.source'], 'http');
  first.child.kill('SIGTERM');
  await first.ended();

  away = true;
  const second = await daemon();
  await place.until(async () => requests.refused > 0 && (await isRunning()));
  const { served } = requests;
  away = false;
  await place.until(async () => requests.served > served && (await isRunning()));
  const [after] = await place.pods();
  const containerOf = (pod = before) => pod!.status!.containerStatuses![0]!.containerID;
  assert.deepEqual([after!.metadata.uid, containerOf(after)], [before!.metadata.uid, containerOf(before)]);
  second.child.kill('SIGTERM');
  await second.ended();
});
