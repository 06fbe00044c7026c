import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { StoredObject } from '@podwright/api-machinery';
import { Schema, type WatchEvent, WatchFrames } from '@podwright/kube-schema';
import { expired } from '../../../api-machinery/src/status/api-error.ts';
import { EventEncoder, type OutputEvent } from './encode-event.ts';
import { negotiateWatch } from './negotiation.ts';
import type { ResourceEncoding } from './response-content.ts';
import { ResponseWriter } from './response-writer.ts';
import { PROTOCOLS, type Protocol, serveExchanges } from './served-exchange.fixture.ts';
import { sendWatch } from './watch-response.ts';

const schema = await Schema.load();
const PROTOBUF = 'application/vnd.kubernetes.protobuf;stream=watch';

const stored = (name: string, revision: number, data: Record<string, string> = {}) =>
  StoredObject.encode(`x/${name}`, revision, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data: { k: 'v', ...data },
  });
const added = (name: string, revision: number): OutputEvent => ({ type: 'ADDED', object: stored(name, revision) });

const encoding: Omit<ResourceEncoding, 'format'> = {
  schema,
  resource: { group: '', version: 'v1', kind: 'ConfigMap' },
  includeObject: 'Metadata',
  nowMs: 0,
};

type Source = { events: AsyncIterable<readonly OutputEvent[]>; end?: AbortSignal; maxStallMs?: number };

/** Starts a server whose watches send the events of `source`. `ended` resolves when the first watch ends. */
async function serveWatch(protocol: Protocol, source: (client: AbortSignal) => Source) {
  const encoder = new EventEncoder();
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const server = await serveExchanges(protocol, async (exchange) => {
    const writer = new ResponseWriter(exchange, schema);
    const { events, end, maxStallMs } = source(exchange.signal);
    const signal = AbortSignal.any([exchange.signal, ...(end ? [end] : [])]);
    await sendWatch(events, {
      writer,
      encoding: { ...encoding, format: negotiateWatch(exchange) },
      encoder,
      signal,
      maxStallMs,
    });
    resolve();
  });
  return Object.assign(server, { ended });
}

async function* batches(...given: OutputEvent[][]): AsyncGenerator<OutputEvent[]> {
  yield* given;
}

const lines = (body: Buffer) =>
  body
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

for (const protocol of PROTOCOLS) {
  test(`sends the headers of a watch over ${protocol} before the first event`, async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    async function* events() {
      await promise;
      yield [added('a', 1)];
    }
    await using server = await serveWatch(protocol, () => ({ events: events() }));
    const { status, headers, body, close } = await server.open({});
    assert.deepEqual([status, headers['content-type']], [200, 'application/json']);
    assert.equal(headers['content-length'], undefined);
    resolve();
    assert.deepEqual(lines(Buffer.concat(await body.toArray())), [{ type: 'ADDED', object: stored('a', 1).decode() }]);
    close();
  });

  test(`sends events over ${protocol} as JSON, protobuf, tables and metadata`, async () => {
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const bookmark = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: '3', annotations } };
    const given: OutputEvent[] = [
      added('a', 1),
      { type: 'DELETED', object: stored('a', 2) },
      { type: 'BOOKMARK', revision: 3, isInitialEnd: true },
    ];
    await using server = await serveWatch(protocol, () => ({ events: batches(given.slice(0, 1), given.slice(1)) }));
    const get = async (accept: string) => (await server.send({ headers: { accept } })).body;
    const expected = [
      { type: 'ADDED', object: stored('a', 1).decode() },
      { type: 'DELETED', object: stored('a', 2).decode() },
      { type: 'BOOKMARK', object: bookmark },
    ];
    assert.deepEqual(lines(await get('*/*')), expected);
    const frames = new WatchFrames(schema);
    const read: WatchEvent[] = [...frames.add(await get(PROTOBUF))];
    assert.deepEqual(read, expected);
    const tables = lines(await get('application/json;as=Table;v=v1;g=meta.k8s.io'));
    assert.deepEqual(
      tables.map(({ type, object }) => [type, object.kind, object.columnDefinitions?.length, object.rows.length]),
      [
        ['ADDED', 'Table', 3, 1],
        ['DELETED', 'Table', undefined, 1],
        ['BOOKMARK', 'Table', undefined, 1],
      ],
    );
    assert.deepEqual(tables[2].object.rows[0].object.metadata.annotations, annotations);
    const [partial] = lines(await get('application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'));
    assert.deepEqual(Object.keys(partial.object), ['kind', 'apiVersion', 'metadata']);
  });

  test(`sends an error during a watch over ${protocol} as an ERROR event`, async () => {
    async function* events(): AsyncGenerator<OutputEvent[]> {
      yield [added('a', 1)];
      throw expired('too old resource version: 1 (2)');
    }
    await using server = await serveWatch(protocol, () => ({ events: events() }));
    const [, error] = lines((await server.send({})).body);
    assert.deepEqual([error.type, error.object.code, error.object.reason], ['ERROR', 410, 'Expired']);
    const frames = new WatchFrames(schema);
    const [, other] = [...frames.add((await server.send({ headers: { accept: PROTOBUF } })).body)];
    assert.deepEqual([other!.type, other!.object.reason], ['ERROR', 'Expired']);
  });

  test(`ends a watch over ${protocol} when the signal aborts, and the iteration when the client disconnects`, async () => {
    const end = new AbortController();
    async function* events(client: AbortSignal): AsyncGenerator<OutputEvent[]> {
      yield [added('a', 1)];
      const stopped = AbortSignal.any([client, end.signal]);
      if (!stopped.aborted) await once(stopped, 'abort');
    }
    await using server = await serveWatch(protocol, (client) => ({ events: events(client), end: end.signal }));
    const first = await server.open({});
    await once(first.body, 'readable');
    first.close();
    await server.ended;
    const second = await server.open({});
    end.abort();
    assert.equal(lines(Buffer.concat(await second.body.toArray())).length, 1);
    second.close();
  });

  test(`takes no more events than a client over ${protocol} reads, and ends one that stops reading`, async () => {
    let taken = 0;
    async function* events(): AsyncGenerator<OutputEvent[]> {
      for (; taken < 2000; taken++) yield [{ type: 'ADDED', object: stored('a', taken, { a: 'x'.repeat(100_000) }) }];
    }
    await using server = await serveWatch(protocol, () => ({ events: events(), maxStallMs: 200 }));
    const { body, close } = await server.open({});
    body.pause();
    body.on('error', () => undefined);
    await server.ended;
    assert.ok(taken < 500, `took ${taken} events of 100 kB`);
    close();
  });
}

test('encodes no more events of a batch than the client reads', async () => {
  let taken = 0;
  const object = stored('a', 1, { a: 'x'.repeat(100_000) });
  const batch = {
    *[Symbol.iterator]() {
      for (; taken < 2000; taken++) yield { type: 'ADDED', object };
    },
  } as unknown as OutputEvent[];
  await using server = await serveWatch('HTTP/1.1', () => ({ events: batches(batch), maxStallMs: 200 }));
  const { body, close } = await server.open({});
  body.pause().on('error', () => undefined);
  await server.ended;
  assert.ok(taken < 500, `took ${taken} events of 100 kB`);
  close();
});

test('encodes an event once for all watches with the same format', async () => {
  const encoder = new EventEncoder();
  const object = stored('a', 1);
  const event: OutputEvent = { type: 'ADDED', object };
  const format = { mediaType: 'application/vnd.kubernetes.protobuf', isPretty: false } as const;
  const encode = (isFirst: boolean) => encoder.encode(event, { ...encoding, format, isFirst });
  assert.equal(await encode(true), await encode(false));
  const metadata = { ...format, convertTo: { kind: 'PartialObjectMetadata', version: 'v1' } } as const;
  assert.notDeepEqual(
    await encoder.encode(event, { ...encoding, format: metadata, isFirst: true }),
    await encode(true),
  );
  const plain = { mediaType: 'application/json', isPretty: false } as const;
  const json = await encoder.encode(event, { ...encoding, format: plain, isFirst: true });
  assert.equal(json[1], object.bytes);
});

test('includes the annotation of the last initial event in tables without objects', async () => {
  const format = {
    mediaType: 'application/json',
    isPretty: false,
    convertTo: { kind: 'Table', version: 'v1' },
  } as const;
  const encode = async (event: OutputEvent) => {
    const parts = await new EventEncoder().encode(event, { ...encoding, format, includeObject: 'None', isFirst: true });
    return JSON.parse(Buffer.concat(parts).toString()).object.rows[0].object;
  };
  assert.equal(await encode({ type: 'BOOKMARK', revision: 3, isInitialEnd: false }), null);
  const { metadata } = await encode({ type: 'BOOKMARK', revision: 3, isInitialEnd: true });
  assert.deepEqual(metadata.annotations, { 'k8s.io/initial-events-end': 'true' });
});

test('ends a watch if its client disconnects without reading', async () => {
  async function* events(): AsyncGenerator<OutputEvent[]> {
    for (let n = 0; ; n++) yield [{ type: 'ADDED', object: stored('a', n, { a: 'x'.repeat(100_000) }) }];
  }
  await using server = await serveWatch('HTTP/1.1', () => ({ events: events() }));
  const socket = connect(server.port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  await once(socket, 'readable');
  socket.destroy();
  await server.ended;
});

test('a large event takes little memory for a client that does not read', async () => {
  const object = stored('a', 1, { large: 'x'.repeat(8 << 20) });
  let waiting = 0;
  await using server = await serveExchanges('HTTP/1.1', async (exchange) => {
    const writer = new ResponseWriter(exchange, schema);
    const { signal, response } = exchange;
    const sampling = setInterval(() => {
      waiting = Math.max(waiting, (response as unknown as { writableLength: number }).writableLength);
    }, 1);
    const format = negotiateWatch(exchange);
    const events = batches([{ type: 'ADDED', object }]);
    await sendWatch(events, { writer, encoding: { ...encoding, format }, encoder: new EventEncoder(), signal });
    clearInterval(sampling);
  });
  const { body, close } = await server.open({});
  const [event] = lines(Buffer.concat(await body.toArray()));
  assert.equal(event.object.data.large.length, 8 << 20);
  assert.ok(waiting < 300_000, `${waiting} bytes`);
  close();
});

test('a large event is sent whole before the error of the next one', async () => {
  const object = stored('a', 1, { large: 'x'.repeat(1 << 20) });
  const unreadable = undefined as unknown as StoredObject;
  const batch: OutputEvent[] = [
    { type: 'ADDED', object },
    { type: 'ADDED', object: unreadable },
  ];
  await using server = await serveWatch('HTTP/1.1', () => ({ events: batches(batch) }));
  const { body, close } = await server.open({});
  const events = lines(Buffer.concat(await body.toArray()));
  assert.deepEqual(
    events.map(({ type }: { type: string }) => type),
    ['ADDED', 'ERROR'],
  );
  close();
});
