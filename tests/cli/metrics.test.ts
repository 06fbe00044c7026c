/** The metrics of the daemons. */
import assert from 'node:assert/strict';
import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { freePort, NodePlace } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';

let bundle: Bundle;
before(async () => {
  bundle = await buildBundle();
});
after(() => bundle.remove());

const SERVER =
  /^grpc_server_handled_total\{grpc_service="runtime\.v1\.RuntimeService",grpc_method="Version",grpc_code="ok"\} [1-9]/m;
const SERVER_SECONDS =
  /^grpc_server_handling_seconds_bucket\{le="0\.1",grpc_service="[^"]+",grpc_method="Version"\} [1-9]/m;
const CLIENT = /^kubelet_runtime_operations_total\{operation_type="version"\} [1-9]/m;
const CLIENT_ERRORS = /^# TYPE kubelet_runtime_operations_errors_total counter$/m;
const CLIENT_SECONDS = /^kubelet_runtime_operations_duration_seconds_count\{operation_type="version"\} [1-9]/m;

async function stop(daemon: StartedProgram): Promise<void> {
  daemon.child.kill('SIGTERM');
  assert.equal((await daemon.ended()).code, 0);
}

const scrape = async (port: number) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();

function overSocket(socketPath: string): Promise<{ status: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const call = get({ socketPath, path: '/metrics' }, async (answer) =>
      resolve({ status: answer.statusCode, body: await text(answer) }),
    );
    call.on('error', reject);
  });
}

test('a node serves the metrics of its runtime and kubelet over TCP and on its socket', async (context) => {
  const place = new NodePlace(bundle, '10.97.60.0/24');
  context.after(() => place.remove());
  const port = await freePort();
  const daemon = await place.startDaemon('--metrics-address', String(port), 'node');
  const metrics = await scrape(port);
  for (const expected of [SERVER, SERVER_SECONDS, CLIENT, CLIENT_ERRORS, CLIENT_SECONDS])
    assert.match(metrics, expected);
  assert.match((await overSocket(place.path('state/node.sock'))).body, CLIENT);
  await stop(daemon);
});

test('without metrics_address, metrics are served only on the socket', async (context) => {
  const place = new NodePlace(bundle, '10.97.61.0/24');
  context.after(() => place.remove());
  const daemon = await place.startDaemon('node');
  assert.match((await overSocket(place.path('state/node.sock'))).body, CLIENT);
  await stop(daemon);
});

test('a separate runtime and kubelet each serve their own metrics', async (context) => {
  const place = new NodePlace(bundle, '10.97.62.0/24');
  context.after(() => place.remove());
  const [runtimePort, kubeletPort] = [await freePort(), await freePort()];
  const runtime = place.start('--metrics-address', String(runtimePort), 'runtime');
  const endpoint = ['--container-runtime-endpoint', place.path('state/cri.sock')];
  const kubelet = await place.startDaemon('--metrics-address', String(kubeletPort), 'kubelet', ...endpoint);
  const [server, client] = [await scrape(runtimePort), await scrape(kubeletPort)];
  assert.match(server, SERVER);
  assert.doesNotMatch(server, /kubelet_runtime/);
  assert.match(client, CLIENT);
  assert.doesNotMatch(client, /grpc_server/);
  await stop(kubelet);
  await stop(runtime);
});
