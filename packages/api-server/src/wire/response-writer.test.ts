import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { notFound, StoredObject, tooLarge, tooManyRequests } from '@podwright/api-machinery';
import { decodeObject, encodeObject, Schema } from '@podwright/kube-schema';
import { parse } from 'yaml';
import { negotiateObject } from './negotiation.ts';
import { MAX_BODY_BYTES, readBody } from './read-body.ts';
import type { ResourceEncoding } from './response-content.ts';
import { ResponseWriter } from './response-writer.ts';
import { PROTOCOLS, serveExchanges } from './served-exchange.fixture.ts';

const schema = await Schema.load();
const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

const pod = (name: string, extra: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'x', uid: `u-${name}`, ...extra },
  spec: { containers: [{ name: 'c', image: 'i', resources: {} }] },
  status: { phase: 'Running' },
});
const stored = (name: string, revision: number, extra?: object) =>
  StoredObject.encode(`x/${name}`, revision, pod(name, extra));

const encoding: Omit<ResourceEncoding, 'format'> = {
  schema,
  resource: { group: '', version: 'v1', kind: 'Pod' },
  includeObject: 'Metadata',
  nowMs: 0,
};

/** A server that responds with an object at /one, and with a list elsewhere. */
const serve = (protocol: (typeof PROTOCOLS)[number], objects: StoredObject[]) =>
  serveExchanges(protocol, async (exchange) => {
    const writer = new ResponseWriter(exchange, schema);
    try {
      const format = negotiateObject(exchange);
      if (exchange.request.url === '/one') return await writer.object(201, objects[0]!, { ...encoding, format });
      const page = { revision: 9, objects, continue: 'token', remainingItemCount: 3 };
      await writer.list(page, { ...encoding, format });
    } catch (error) {
      await writer.error(error);
    }
  });

for (const protocol of PROTOCOLS) {
  test(`sends a stored object over ${protocol} as JSON, YAML, protobuf, table and metadata`, async () => {
    await using server = await serve(protocol, [stored('web', 7)]);
    const get = async (accept: string) => server.send({ path: '/one', headers: { accept } });
    const json = await get('application/json');
    assert.deepEqual([json.status, json.headers['content-type']], [201, 'application/json']);
    assert.equal(json.body.toString(), `${stored('web', 7).bytes}\n`);
    const object = JSON.parse(json.body.toString());
    assert.equal((await get('application/json;pretty=1')).body.toString(), JSON.stringify(object, null, 2));
    assert.deepEqual(parse((await get('application/yaml')).body.toString()), object);
    assert.deepEqual(decodeObject(schema, (await get(PROTOBUF)).body), object);
    const table = JSON.parse((await get(TABLE)).body.toString());
    assert.deepEqual([table.kind, table.metadata.resourceVersion, table.rows[0].cells[0]], ['Table', '7', 'web']);
    assert.equal(table.rows[0].object.kind, 'PartialObjectMetadata');
    const partial = JSON.parse(
      (await get('application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io')).body.toString(),
    );
    assert.deepEqual(partial, {
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: object.metadata,
    });
    const wrong = await get('application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io');
    assert.equal(wrong.status, 406);
    assert.match(wrong.body.toString(), /but the requested object is not a list \(\*core\.Pod\)/);
  });

  test(`sends a list over ${protocol} in all formats`, async () => {
    await using server = await serve(protocol, [stored('a', 1), stored('b', 2)]);
    const get = async (accept: string) => server.send({ headers: { accept } });
    const list = JSON.parse((await get('application/json')).body.toString());
    assert.deepEqual(Object.keys(list), ['kind', 'apiVersion', 'metadata', 'items']);
    assert.deepEqual(list.metadata, { resourceVersion: '9', continue: 'token', remainingItemCount: 3 });
    assert.deepEqual(Object.keys(list.items[0]), ['metadata', 'spec', 'status']);
    assert.deepEqual(decodeObject(schema, (await get(PROTOBUF)).body), list);
    assert.deepEqual(parse((await get('application/yaml')).body.toString()), list);
    const table = JSON.parse((await get(TABLE)).body.toString());
    assert.deepEqual([table.metadata, table.rows.length], [list.metadata, 2]);
    const accept = `${PROTOBUF};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io`;
    const partial = decodeObject(schema, (await get(accept)).body);
    assert.deepEqual([partial.kind, (partial.items as object[]).length], ['PartialObjectMetadataList', 2]);
  });

  test(`compresses large responses over ${protocol}, and sends them whole`, async () => {
    const objects = Array.from({ length: 400 }, (_, n) => stored(`p${n}`, n, { annotations: { a: 'x'.repeat(5000) } }));
    await using server = await serve(protocol, objects);
    const plain = await server.send({});
    assert.equal(JSON.parse(plain.body.toString()).items.length, 400);
    const zipped = await server.send({ headers: { 'accept-encoding': 'gzip' } });
    assert.deepEqual([zipped.headers['content-encoding'], zipped.headers.vary], ['gzip', 'Accept-Encoding']);
    assert.ok(gunzipSync(zipped.body).equals(plain.body));
    const one = await server.send({ path: '/one', headers: { 'accept-encoding': 'gzip' } });
    assert.equal(one.headers['content-encoding'], undefined);
    const head = await server.send({ method: 'HEAD' });
    assert.deepEqual([head.body.length, Number(head.headers['content-length'])], [0, plain.body.length]);
  });

  test(`sends errors over ${protocol} in the client's format, with Retry-After and warnings`, async () => {
    await using server = await serveExchanges(protocol, async (exchange) => {
      const writer = new ResponseWriter(exchange, schema);
      writer.warnings.add('unknown field "spec.x"');
      writer.warnings.add('unknown field "spec.x"');
      writer.warnings.add('größer €');
      writer.warnings.add('two\nlines');
      const error = notFound({ group: '', plural: 'pods' }, 'a');
      await writer.error(exchange.request.url === '/many' ? tooManyRequests('later', 1) : error);
    });
    const sent = await server.send({ headers: { accept: TABLE } });
    assert.deepEqual(JSON.parse(sent.body.toString()), {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'pods "a" not found',
      reason: 'NotFound',
      details: { name: 'a', kind: 'pods' },
      code: 404,
    });
    const warning = Buffer.from(String(sent.headers.warning), 'latin1').toString();
    assert.equal(warning, String.raw`299 - "unknown field \"spec.x\"", 299 - "größer €"`);
    const { body } = await server.send({ headers: { accept: PROTOBUF } });
    assert.equal(decodeObject(schema, body).message, 'pods "a" not found');
    assert.equal((await server.send({ path: '/many' })).headers['retry-after'], '1');
  });

  test(`reads bodies over ${protocol}, refuses large ones, and sends the response all the same`, async () => {
    await using server = await serveExchanges(protocol, async (exchange) => {
      const writer = new ResponseWriter(exchange, schema);
      try {
        const body = await readBody(exchange);
        await writer.bytes(200, { contentType: 'text/plain', parts: [Buffer.from(`${body.length}`)] });
      } catch (error) {
        await writer.error(error);
      }
    });
    const post = async (body: Uint8Array | string, headers = {}) => {
      const { status, body: answer } = await server.send({ method: 'POST', headers }, body);
      return status === 200 ? Number(answer.toString()) : [status, JSON.parse(answer.toString()).message];
    };
    const gzip = { 'content-encoding': 'gzip' };
    const refusal = [413, `Request entity too large: limit is ${MAX_BODY_BYTES}`];
    assert.equal(await post('x'.repeat(MAX_BODY_BYTES)), MAX_BODY_BYTES);
    assert.equal(await post(gzipSync('y'.repeat(MAX_BODY_BYTES)), gzip), MAX_BODY_BYTES);
    assert.equal(await post(''), 0);
    assert.deepEqual(await post('x'.repeat(MAX_BODY_BYTES + 1)), refusal);
    const chunked = protocol === 'HTTP/1.1' ? { 'transfer-encoding': 'chunked' } : {};
    assert.deepEqual(await post('x'.repeat(3 * MAX_BODY_BYTES), chunked), refusal);
    assert.deepEqual(await post(gzipSync(Buffer.alloc(200 << 20)), gzip), refusal);
    assert.deepEqual(((await post('not gzip', gzip)) as unknown[])[0], 400);
    assert.deepEqual(await post('x', { 'content-encoding': 'br' }), [400, 'content encoding "br" is not supported']);
  });
}

test('responds without a body if the client has the document cached, retaining its headers', async () => {
  const text = 'x'.repeat(200_000);
  await using server = await serveExchanges('HTTP/1.1', async (exchange) => {
    const writer = new ResponseWriter(exchange, schema);
    const headers = { etag: '"e"', vary: 'Accept', 'cache-control': 'public' };
    if (exchange.request.headers['if-none-match']) await writer.bytes(304, { contentType: '', parts: [] }, headers);
    else await writer.bytes(200, { contentType: 'text/plain', parts: [Buffer.from(text)] }, headers);
  });
  const known = await server.send({ headers: { 'if-none-match': '"e"' } });
  assert.deepEqual([known.status, known.headers.etag, known.body.length], [304, '"e"', 0]);
  assert.deepEqual([known.headers['content-type'], known.headers['content-length']], [undefined, undefined]);
  const zipped = await server.send({ headers: { 'accept-encoding': 'gzip' } });
  assert.deepEqual([zipped.headers.vary, zipped.headers['cache-control']], ['Accept, Accept-Encoding', 'public']);
  assert.equal(gunzipSync(zipped.body).toString(), text);
});

test('responds to an HTTP/1.1 client that reads only after sending an oversized body', async () => {
  await using server = await serveExchanges('HTTP/1.1', async (exchange) => {
    await new ResponseWriter(exchange, schema).error(tooLarge(MAX_BODY_BYTES));
  });
  const socket = connect(server.port, '127.0.0.1').pause();
  const body = Buffer.alloc(8 << 20);
  socket.write(`POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n`);
  for (let at = 0; at < body.length; at += 65_536) {
    if (!socket.write(body.subarray(at, at + 65_536))) await once(socket, 'drain');
    await setImmediate();
  }
  assert.match(await text(socket), /^HTTP\/1\.1 413 /);
});

test('sends the same protobuf bytes for an object as kube-schema', async () => {
  await using server = await serve('HTTP/1.1', [stored('web', 7)]);
  const { body } = await server.send({ path: '/one', headers: { accept: PROTOBUF } });
  assert.ok(body.equals(encodeObject(schema, stored('web', 7).decode())));
});
