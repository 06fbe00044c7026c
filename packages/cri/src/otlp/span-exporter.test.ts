import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { toJson } from '@bufbuild/protobuf';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { newTrace, type Span, silentLogger, waitFor } from '@podwright/base';
import { grpcServiceDefinition } from '@podwright/grpc';
import {
  type ExportTraceServiceRequest,
  ExportTraceServiceRequestSchema,
  TraceService,
} from '../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';
import { parseCollectorEndpoint } from './collector-endpoint.ts';
import { createSpanExporter } from './span-exporter.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN: Span = {
  traceId: TRACE,
  spanId: '00f067aa0ba902b7',
  parentId: '1111111111111111',
  sampled: true,
  name: 'RunPodSandbox',
  startMs: 1_790_000_000_123.25,
  endMs: 1_790_000_000_456,
  error: 'disk full',
  attributes: { 'rpc.system': 'grpc' },
  isServer: true,
};

/** The span that the test exports, in OTLP's JSON as the collector receives it. */
const RECEIVED = {
  traceId: TRACE,
  spanId: '00f067aa0ba902b7',
  parentSpanId: '1111111111111111',
  name: 'RunPodSandbox',
  kind: 2,
  startTimeUnixNano: '1790000000123250000',
  endTimeUnixNano: '1790000000456000000',
  attributes: [{ key: 'rpc.system', value: { stringValue: 'grpc' } }],
  status: { code: 2, message: 'disk full' },
};

type OtlpRequest = { resourceSpans: { resource: object; scopeSpans: { spans: (typeof RECEIVED)[] }[] }[] };

const spansOf = ({ resourceSpans }: OtlpRequest) =>
  resourceSpans.flatMap((of) => of.scopeSpans).flatMap((of) => of.spans);

/** An HTTP collector that decodes the export requests and responds with these status codes; the last one repeats. */
async function collector(t: TestContext, codes: number[] = [200]) {
  const requests: { path: string | undefined; body: OtlpRequest }[] = [];
  const server = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      assert.equal(request.headers['content-type'], 'application/json');
      requests.push({ path: request.url, body: JSON.parse(Buffer.concat(chunks).toString()) });
      response.writeHead(codes.length > 1 ? codes.shift()! : codes[0]!).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return { requests, endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function exporterTo(endpoint: string, samplingRatePerMillion = 1_000_000) {
  const resource = { 'service.name': 'kubelet', 'host.name': 'here' };
  return createSpanExporter({ endpoint, samplingRatePerMillion }, { resource, logger: silentLogger });
}

test('the endpoint’s format selects OTLP over HTTP or gRPC', () => {
  const check = (text: string, expected: object) => assert.deepEqual(parseCollectorEndpoint(text), expected, text);
  const tcp = (host: string, port: number) => ({ kind: 'grpc', endpoint: { kind: 'tcp', host, port } });
  check('localhost:4317', tcp('localhost', 4317));
  check('collector.example', tcp('collector.example', 4317));
  check('dns:///10.0.0.1:9', tcp('10.0.0.1', 9));
  check('dns://10.0.0.1:9', tcp('10.0.0.1', 9));
  check('[::1]:4317', tcp('::1', 4317));
  check('unix:///run/otel.sock', { kind: 'grpc', endpoint: { kind: 'unix', path: '/run/otel.sock' } });
  check('http://h:4318', { kind: 'http', url: new URL('http://h:4318/v1/traces') });
  check('https://h/otlp/v1/traces', { kind: 'http', url: new URL('https://h/otlp/v1/traces') });
  for (const bad of [
    '',
    'http://',
    'unix://x',
    'unix-abstract://x',
    'ftp://h',
    'h:0',
    'h:65536',
    'h:x',
    'a b',
    '::1:4317',
  ])
    assert.throws(() => parseCollectorEndpoint(bad), { code: 'invalid_argument' }, bad);
});

test('an HTTP collector receives the spans of sampled traces as OTLP JSON', async (t) => {
  const { requests, endpoint } = await collector(t);
  const exporter = exporterTo(endpoint);
  exporter.add({ ...SPAN, sampled: false });
  exporter.add(SPAN);
  exporter.add({ ...SPAN, ...newTrace(true), parentId: undefined, error: undefined, isServer: false });
  await exporter.close();
  assert.equal(requests.length, 1);
  assert.equal(requests[0]?.path, '/v1/traces');
  const [first, second, ...more] = spansOf(requests[0]!.body);
  assert.deepEqual([first, more], [RECEIVED, []]);
  assert.deepEqual([second?.kind, 'parentSpanId' in second!, 'status' in second!], [1, false, false]);
  assert.deepEqual(requests[0]?.body.resourceSpans[0]?.resource, {
    attributes: [
      { key: 'service.name', value: { stringValue: 'kubelet' } },
      { key: 'host.name', value: { stringValue: 'here' } },
    ],
  });
});

test('a gRPC collector receives the same spans', async (t) => {
  const received: ExportTraceServiceRequest[] = [];
  const server = new Server();
  server.addService(grpcServiceDefinition(TraceService), {
    export: ({ request }: { request: ExportTraceServiceRequest }, reply: (error: null, value: object) => void) => {
      received.push(request);
      reply(null, {});
    },
  });
  const bind = (resolve: (port: number) => void, reject: (error: Error) => void) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    );
  const port = await new Promise<number>(bind);
  t.after(() => server.forceShutdown());
  const exporter = exporterTo(`127.0.0.1:${port}`);
  exporter.add(SPAN);
  await exporter.close();
  const [span] = spansOf(toJson(ExportTraceServiceRequestSchema, received[0]!) as OtlpRequest);
  const base64 = (hex: string) => Buffer.from(hex, 'hex').toString('base64');
  assert.deepEqual(span, {
    ...RECEIVED,
    traceId: base64(RECEIVED.traceId),
    spanId: base64(RECEIVED.spanId),
    parentSpanId: base64(RECEIVED.parentSpanId),
    kind: 'SPAN_KIND_SERVER',
    status: { code: 'STATUS_CODE_ERROR', message: 'disk full' },
  });
});

test('spans are sent in bounded batches, which are retried if the collector is unavailable and dropped if it rejects them', async (t) => {
  const { requests, endpoint } = await collector(t, [503, 400, 200]);
  const exporter = exporterTo(endpoint);
  for (let index = 0; index < 3000; index++) exporter.add({ ...SPAN, name: `${index}` });
  await waitFor(() => requests.length === 1 || undefined, { intervalMs: 5, signal: AbortSignal.timeout(5000) });
  await exporter.close();
  const names = requests.map(({ body }) => spansOf(body).map(({ name }) => name));
  assert.deepEqual(
    names.map((batch) => [batch.length, batch[0]]),
    [
      [512, '0'],
      [512, '0'],
      [512, '512'],
      [512, '1024'],
      [512, '1536'],
    ],
  );
});

test('an unreachable collector does not delay `add` and `close`', async () => {
  const exporter = exporterTo('http://127.0.0.1:1');
  exporter.add(SPAN);
  await exporter.close();
  exporter.add(SPAN);
});

test('new traces are sampled at the configured rate, and never without an endpoint', () => {
  assert.equal(exporterTo('').samples(), false);
  assert.equal(exporterTo('h:1', 0).samples(), false);
  assert.equal(exporterTo('h:1').samples(), true);
  const half = exporterTo('h:1', 500_000);
  const sampled = Array.from({ length: 2000 }, () => half.samples()).filter(Boolean).length;
  assert.ok(sampled > 800 && sampled < 1200, `${sampled}`);
});
