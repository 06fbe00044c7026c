/** Exec, attach and port-forward on Podwright's runtime over WebSocket. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { connectTunnel, WebSocketVisitor } from '../../packages/streaming/src/websocket-client.fixture.ts';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { boundMs, StreamingPod } from './streaming-pod.fixture.ts';

const [v4, v5] = ['v4.channel.k8s.io', 'v5.channel.k8s.io'];
let runtime: RuntimeUnderTest;
let pod: StreamingPod;

before(async () => {
  runtime = await new RuntimeUnderTest().start();
  const { cri, image, place } = runtime;
  const end = async () => assert.deepEqual(await runtime.end(), [], 'nothing is left on the host');
  pod = await new StreamingPod({ cri, image, logDirectory: join(place.logs, 'streams'), end }).start();
});
after(() => pod?.runtime.end());

const eventually = (condition: () => boolean) =>
  waitFor(() => condition() || undefined, { intervalMs: 10, signal: AbortSignal.timeout(boundMs) });

test('64 megabytes of arbitrary bytes are transferred in both directions over v5, and the end of input is forwarded', async () => {
  const visitor = new WebSocketVisitor(await pod.exec('cat; echo end >&2; exit 3', { stdin: true }), v5!);
  const sent = Buffer.alloc(64 << 20, Buffer.from([0, 255, 10, 13, 4, 128, 3]));
  await visitor.write(sent, { end: true });
  assert.equal(await visitor.exitCode(), 3);
  assert.ok(visitor.received('stdout').equals(sent));
  assert.equal(visitor.received('stderr').toString(), 'end\n');
});

test('over v4 input and output are passed until the command exits', async () => {
  const visitor = new WebSocketVisitor(await pod.exec('read line; echo "read $line"; exit 4', { stdin: true }), v4!);
  await visitor.write(Buffer.from('words\n'));
  assert.equal(await visitor.exitCode(), 4);
  assert.equal(visitor.received('stdout').toString(), 'read words\n');
});

test('a terminal is resized', async () => {
  const script = `exec 2>/dev/null; until stty size | grep -q '33 99'; do sleep 0.05; done; read line; echo "read $line"`;
  const visitor = new WebSocketVisitor(await pod.exec(script, { stdin: true, stderr: false, tty: true }), v5!);
  await visitor.resize({ Width: 99, Height: 33 });
  await visitor.write(Buffer.from('words\n'));
  assert.equal(await visitor.exitCode(), 0);
  assert.match(visitor.received('stdout').toString(), /read words\r\n$/);
});

test('an attached container keeps running when the client disconnects', async () => {
  for (const protocol of [v4!, v5!]) {
    const visitor = new WebSocketVisitor(await pod.attach(pod.main, { stdin: true }), protocol);
    await visitor.write(Buffer.from('words\n'));
    await eventually(() => visitor.received('stdout').toString() === 'got words\n');
    visitor.leave();
    await visitor.closed;
  }
});

test('a command whose client disconnects is killed with its descendants', async () => {
  const before = runtime.podThings().filter((line) => line.startsWith('processes')).length;
  const visitor = new WebSocketVisitor(await pod.exec('sleep 1000 & echo here; sleep 1000'), v5!);
  await eventually(() => visitor.received('stdout').length > 0);
  visitor.leave();
  await eventually(() => runtime.podThings().filter((line) => line.startsWith('processes')).length === before);
});

test('ports are forwarded through the tunnel; a closed port is reported on its error stream, and the others continue', async () => {
  const { podSandboxId, httpPort } = pod;
  const { url } = await runtime.cri.runtime.portForward({ podSandboxId, port: [] });
  const tunnel = await connectTunnel(url);
  const connectTo = async (port: number, requestid: string) => {
    const headers = { port: String(port), requestid };
    const error = await tunnel.open({ ...headers, streamtype: 'error' });
    const data = await tunnel.open({ ...headers, streamtype: 'data' });
    error.end();
    data.end('GET /hostname HTTP/1.0\r\n\r\n');
    return { words: text(error), answer: buffer(data).then(String, String) };
  };
  const first = await connectTo(httpPort, '0');
  assert.match(await first.answer, /200 OK[\s\S]*streams\n$/);
  const closed = await connectTo(1, '1');
  assert.match(await closed.words, /connection refused/);
  const again = await connectTo(httpPort, '2');
  assert.match(await again.answer, /200 OK/);
  assert.equal(await again.words, '');
  tunnel.close();
  await tunnel.closed;
});
