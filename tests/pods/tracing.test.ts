/** Spans of a pod's startup that a node exports to a trace collector (OTLP over HTTP). */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { type Bundle, buildBundle } from './bundle.fixture.ts';
import { forever, NodePlace, podManifest } from './node.fixture.ts';

type Attribute = { key: string; value: { stringValue: string } };
type Span = { traceId: string; spanId: string; parentSpanId?: string; name: string };
type ReceivedSpan = Span & { of: string };
type Request = {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: Span[] }[] }[];
};

let bundle: Bundle;
let place: NodePlace;
let collector: Server;
const received: ReceivedSpan[] = [];
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.132.28.0/24');
  collector = createServer(async (request, response) => {
    assert.equal(request.url, '/v1/traces');
    const { resourceSpans } = (await json(request)) as Request;
    for (const { resource, scopeSpans } of resourceSpans) {
      const of = resource.attributes.find(({ key }) => key === 'service.name')!.value.stringValue;
      received.push(...scopeSpans.flatMap(({ spans }) => spans).map((span) => ({ ...span, of })));
    }
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
});
after(async () => {
  collector.close();
  await place.remove();
  bundle.remove();
});

/** Returns the names of a span and its ancestors: `kubelet: syncPod > kubelet: run sandbox > …`. */
function pathOf(span: ReceivedSpan): string {
  const parent = received.find(({ traceId, spanId }) => traceId === span.traceId && spanId === span.parentSpanId);
  return `${parent === undefined ? '' : `${pathOf(parent)} > `}${span.of}: ${span.name}`;
}

test("a collector gets the kubelet's steps for a pod, with the runtime's spans as children", async () => {
  const { port } = collector.address() as AddressInfo;
  const settings = `[tracing]\nendpoint = "http://127.0.0.1:${port}"\n`;
  await place.startDaemon('node', '--config', place.file('config.toml', settings));
  await place.loadImage();
  await place.ok('run', '--detach', place.file('web.yaml', podManifest('web', forever)));
  const expected = [
    'kubelet: syncPod > kubelet: run sandbox > podwright-runtime: RunPodSandbox > podwright-runtime: set up network',
    'kubelet: syncPod > kubelet: start main > podwright-runtime: StartContainer > podwright-runtime: create task',
  ];
  const missing = () => expected.filter((path) => !received.some((span) => pathOf(span) === path));
  await place.until(() => missing().length === 0).catch(() => undefined);
  assert.deepEqual(missing(), [], received.map(pathOf).join('\n'));
});
