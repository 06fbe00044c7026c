import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { silentLogger, waitFor } from '@podwright/base';
import { ENDPOINT_SLICES, NAMESPACES, SERVICES } from '@podwright/kube-client';
import { FakeKubeClient } from '@podwright/kube-client/testing';
import { Forwarder } from './forward/forwarder.ts';
import { FakeResolver } from './forward/resolver.fixture.ts';
import { ClientNetworks } from './server/client-networks.ts';
import { Responder } from './server/responder.ts';
import { type DnsServer, startDns } from './start-dns.ts';
import { readRecords } from './wire/message-records.ts';
import { MessageWriter } from './wire/message-writer.ts';
import { CLASS_IN, FLAG, RCODE, TYPE } from './wire/numbers.ts';
import { optRecord } from './wire/opt-record.ts';
import type { ResourceRecord } from './wire/record.ts';
import { FrameReader, framed } from './wire/tcp-frames.ts';
import { service, slice, testCluster } from './zone/test-cluster.fixture.ts';

const scratch = mkdtempSync(join(tmpdir(), 'pw-dns-'));
const client = new FakeKubeClient();
const stop = new AbortController();
let server: DnsServer;

before(async () => {
  const upstream = join(scratch, 'resolv.conf');
  writeFileSync(upstream, '');
  client.put(NAMESPACES, { metadata: { name: 'shop' } });
  client.put(SERVICES, service('shop/web', { clusterIP: '10.96.0.7' }));
  const endpoints = Array.from({ length: 90 }, (_, index) => ({ addresses: [`10.88.0.${index + 1}`] }));
  client.put(SERVICES, service('shop/many', { clusterIP: 'None' }));
  client.put(ENDPOINT_SLICES, slice('shop/many-1', 'many', { endpoints, ports: [] }));
  const { signal } = stop;
  const options = { client, address: '127.0.0.1', port: 0, domain: 'cluster.local', upstream, clients: [], signal };
  server = await startDns({ ...options, logger: silentLogger });
  await server.synced;
});

after(async () => {
  stop.abort();
  await server.close();
  rmSync(scratch, { recursive: true });
});

type QueryFields = { type?: number; class?: number; flags?: number; edns?: boolean; id?: number };

function queryBytes(
  name: string,
  { type = TYPE.A, class: klass = CLASS_IN, flags = 0, edns, id = 9 }: QueryFields = {},
): Buffer {
  const writer = new MessageWriter();
  writer.begin(id, FLAG.recursionDesired | flags);
  writer.question({ name, type, class: klass });
  if (edns) writer.encoded('additional', optRecord({ highCode: 0, dnssecOk: false }));
  return writer.bytes();
}

/** The offset of the first byte after a message's only question, whose name is not compressed. */
const questionEnd = (name: string) => 12 + name.length + 2 + 4;

type Shown = { rcode: number; isTruncated: boolean; answers: number; bytes: number };

function show(name: string, reply: Buffer): Shown {
  const flags = reply.readUInt16BE(2);
  const records = readRecords(reply, questionEnd(name));
  const answers = records.filter(({ section }) => section === 'answer').length;
  return { rcode: flags & 0xf, isTruncated: (flags & FLAG.truncated) !== 0, answers, bytes: reply.length };
}

async function byUdp(request: Buffer): Promise<Buffer> {
  const socket = createSocket('udp4');
  try {
    socket.send(request, server.port, '127.0.0.1');
    const [reply] = (await once(socket, 'message', { signal: AbortSignal.timeout(10_000) })) as [Buffer];
    return reply;
  } finally {
    socket.close();
  }
}

/** Sends bytes on one connection, and collects replies until there are `count` of them or the server closes the connection. */
async function byTcp(bytes: Buffer, count: number): Promise<Buffer[]> {
  const socket = connect(server.port, '127.0.0.1');
  const replies: Buffer[] = [];
  const frames = new FrameReader({ maxBytes: 65_535, onMessage: (reply) => replies.push(reply) });
  const closed = once(socket, 'close');
  socket.on('data', (chunk: Buffer) => {
    frames.add(chunk);
    if (replies.length === count) socket.destroy();
  });
  socket.write(bytes);
  await closed;
  return replies;
}

test('names are answered over UDP with the question’s ID and case, and follow object changes', async () => {
  const request = queryBytes('WEB.shop.svc.cluster.local');
  const reply = await byUdp(request);
  const end = questionEnd('web.shop.svc.cluster.local');
  assert.equal(reply.readUInt16BE(0), 9);
  assert.deepEqual(reply.subarray(12, end), request.subarray(12, end));
  const wanted = FLAG.response | FLAG.authoritative | FLAG.recursionDesired | FLAG.recursionAvailable;
  assert.equal(reply.readUInt16BE(2), wanted);
  assert.equal(reply.subarray(-4).join('.'), '10.96.0.7');
  client.put(SERVICES, service('shop/new', { clusterIP: '10.96.0.99' }));
  await waitFor(
    async () =>
      (await byUdp(queryBytes('new.shop.svc.cluster.local'))).subarray(-4).join('.') === '10.96.0.99' || undefined,
    { intervalMs: 5, signal: AbortSignal.timeout(10_000) },
  );
});

test('an answer too long for UDP is truncated and marked, and complete over TCP', async () => {
  const name = 'many.shop.svc.cluster.local';
  const plain = show(name, await byUdp(queryBytes(name)));
  assert.deepEqual([plain.isTruncated, plain.bytes <= 512, plain.answers], [true, true, 29]);
  const edns = show(name, await byUdp(queryBytes(name, { edns: true })));
  assert.deepEqual([edns.isTruncated, edns.bytes <= 1232, edns.answers], [true, true, 73]);
  const [whole] = await byTcp(framed(queryBytes(name)), 1);
  assert.deepEqual([show(name, whole!).isTruncated, show(name, whole!).answers], [false, 90]);
});

test('unanswerable queries get the appropriate code', async () => {
  const rcode = async (request: Buffer) => (await byUdp(request)).readUInt16BE(2) & 0xf;
  assert.equal(await rcode(queryBytes('absent.shop.svc.cluster.local')), RCODE.NXDOMAIN);
  assert.equal(await rcode(queryBytes('version.bind', { class: 3 })), RCODE.REFUSED);
  assert.equal(await rcode(queryBytes('a.b', { flags: 5 << 11 })), RCODE.NOTIMP);
  assert.equal(await rcode(queryBytes('example.org')), RCODE.SERVFAIL); // there is no resolver
  const several = queryBytes('web.shop.svc.cluster.local');
  several.writeUInt16BE(2, 4);
  assert.equal(await rcode(several), RCODE.FORMERR);
  const newer = queryBytes('web.shop.svc.cluster.local', { edns: true });
  newer[newer.length - 5] = 1; // the version of EDNS
  const reply = await byUdp(newer);
  assert.deepEqual([reply.readUInt16BE(2) & 0xf, reply[reply.length - 6]], [0, 1]); // BADVERS is 16
});

test('a connection accepts many questions, and is closed on bytes that are not a query', async () => {
  const requests = Array.from({ length: 200 }, (_, id) => framed(queryBytes('web.shop.svc.cluster.local', { id })));
  const replies = await byTcp(Buffer.concat(requests), 200);
  assert.deepEqual(
    replies.map((reply) => reply.readUInt16BE(0)),
    [...requests.keys()],
  );
  assert.deepEqual(await byTcp(framed(Buffer.alloc(5)), 1), []);
  assert.deepEqual(await byTcp(Buffer.from([0xff, 0xff]), 1), []);
});

test('a client’s connections are limited', async () => {
  const sockets = Array.from({ length: 70 }, () => connect(server.port, '127.0.0.1'));
  const closed = Promise.all(sockets.slice(64).map((socket) => once(socket, 'close')));
  for (const socket of sockets) socket.on('error', () => undefined);
  await closed;
  for (const socket of sockets) socket.destroy();
});

test('a closed server frees its port', async () => {
  const signal = AbortSignal.timeout(60_000);
  const shared = { client, address: '127.0.0.1', domain: 'cluster.local', upstream: '/dev/null', clients: [], signal };
  const first = await startDns({ ...shared, port: 0, logger: silentLogger });
  const again = () => startDns({ ...shared, port: first.port, logger: silentLogger });
  await assert.rejects(again(), { code: 'failed_precondition', message: /listen on UDP port/ });
  await first.close();
  await (await again()).close();
});

test('invalid options are rejected', async () => {
  const signal = AbortSignal.timeout(60_000);
  const shared = { client, port: 0, upstream: '/dev/null', logger: silentLogger, signal };
  for (const options of [
    { address: 'localhost', domain: 'cluster.local', clients: [] },
    { address: [], domain: 'cluster.local', clients: [] },
    { address: '127.0.0.1', domain: 'a..b', clients: [] },
    { address: '127.0.0.1', domain: 'cluster.local', clients: ['10.0.0.0/33'] },
  ])
    await assert.rejects(startDns({ ...shared, ...options }), { code: 'invalid_argument' });
});

/** A responder that forwards to a fake resolver. `ask` sends it a query from the client at `address`. */
async function responderWith(resolverOptions: { answers?: ResourceRecord[]; onName?: (name: string) => void }) {
  const resolver = await FakeResolver.start(({ query }) => {
    resolverOptions.onName?.(query.question.name);
    return { answers: resolverOptions.answers ?? [] };
  });
  const path = join(scratch, `resolver-${resolver.port}`);
  writeFileSync(path, 'nameserver 127.0.0.1\n');
  const forwarder = new Forwarder({
    path,
    own: [],
    logger: silentLogger,
    resolverPort: resolver.port,
    timeoutsMs: [300],
  });
  const clients = new ClientNetworks(['10.88.0.0/16', 'fd00::/64']);
  const responder = new Responder({ records: testCluster(), forwarder, clients, logger: silentLogger });
  return {
    forwarder,
    ask: async (request: Buffer, address = '10.88.0.5') => (await responder.reply(request, { address, isTcp: false }))!,
    async [Symbol.asyncDispose]() {
      forwarder.close();
      await resolver[Symbol.asyncDispose]();
    },
  };
}

test('only clients in the given networks are answered', async () => {
  await using parts = await responderWith({});
  const rcode = async (address: string) =>
    (await parts.ask(queryBytes('web.shop.svc.cluster.local'), address)).readUInt16BE(2) & 0xf;
  for (const address of ['10.88.3.4', '::ffff:10.88.3.4', 'fd00::9'])
    assert.equal(await rcode(address), RCODE.NOERROR, address);
  for (const address of ['10.89.0.1', '192.0.2.1', 'fd01::1', '::ffff:10.89.0.1', 'fe80::1%eth0'])
    assert.equal(await rcode(address), RCODE.REFUSED, address);
});

test('a forwarded answer has the question’s ID and spelling, and a TTL no longer than its cache lifetime', async () => {
  await using parts = await responderWith({
    answers: [{ name: 'a.example', ttl: 300, type: 'A', address: '192.0.2.1' }],
  });
  const request = queryBytes('A.Example', { edns: true });
  const end = questionEnd('a.example');
  for (const _ of ['asked', 'kept']) {
    const reply = await parts.ask(request);
    const [record, option] = readRecords(reply, end);
    assert.equal(reply.readUInt16BE(0), 9);
    assert.deepEqual(reply.subarray(12, end), request.subarray(12, end));
    assert.equal(reply.readUInt16BE(2), FLAG.response | FLAG.recursionDesired | FLAG.recursionAvailable);
    assert.equal(record!.ttl, 30);
    assert.equal(option!.type, TYPE.OPT);
  }
  const notRecursive = queryBytes('a.example');
  notRecursive.writeUInt16BE(0, 2);
  assert.equal((await parts.ask(notRecursive)).readUInt16BE(2) & 0xf, RCODE.REFUSED);
  assert.equal((await parts.ask(queryBytes('example', { type: TYPE.AXFR }))).readUInt16BE(2) & 0xf, RCODE.REFUSED);
});

test('an overlong forwarded answer is truncated between records', async () => {
  const answers = Array.from(
    { length: 60 },
    (_, index): ResourceRecord => ({ name: 'a.example', ttl: 9, type: 'A', address: `192.0.2.${index}` }),
  );
  await using parts = await responderWith({ answers });
  const cut = show('a.example', await parts.ask(queryBytes('a.example')));
  assert.deepEqual([cut.isTruncated, cut.answers, cut.bytes <= 512], [true, 30, true]);
});

test('an alias of an external name is answered with its addresses', async () => {
  const answers: ResourceRecord[] = [
    { name: 'www.example.org', ttl: 9, type: 'CNAME', target: 'host.example.net' },
    { name: 'host.example.net', ttl: 9, type: 'A', address: '192.0.2.4' },
    { name: 'host.example.net', ttl: 9, type: 'AAAA', address: 'fd00::4' },
  ];
  await using parts = await responderWith({ answers });
  const name = 'out.shop.svc.cluster.local';
  const reply = await parts.ask(queryBytes(name));
  assert.deepEqual(
    readRecords(reply, questionEnd(name)).map(({ type }) => type),
    [TYPE.CNAME, TYPE.CNAME, TYPE.A, TYPE.AAAA],
  );
  assert.equal(reply.subarray(-16).toString('hex'), 'fd000000000000000000000000000004');
  assert.equal(show(name, await parts.ask(queryBytes(name, { type: TYPE.TXT }))).answers, 1);
});

test('a query that triggers a defect is answered with SERVFAIL', () => {
  const records = testCluster();
  records.service = () => {
    throw new Error('defect');
  };
  const forwarder = new Forwarder({ path: '/dev/null', own: [], logger: silentLogger });
  const responder = new Responder({
    records,
    forwarder,
    clients: new ClientNetworks(['10.0.0.1']),
    logger: silentLogger,
  });
  const reply = responder.reply(queryBytes('web.shop.svc.cluster.local'), { address: '10.0.0.1', isTcp: false });
  assert.equal((reply as Buffer).readUInt16BE(2) & 0xf, RCODE.SERVFAIL);
});

test('a resolver that forwards to this server is detected, and not queried again', async () => {
  const asked: string[] = [];
  await using parts = await responderWith({
    onName: (name) => {
      asked.push(name);
      void parts.ask(queryBytes(name, { type: TYPE.HINFO }));
    },
  });
  await parts.forwarder.open();
  await waitFor(() => (asked.length > 0 ? true : undefined), { intervalMs: 2, signal: AbortSignal.timeout(10_000) });
  assert.match(asked[0]!, /\.loop-probe$/);
  assert.equal((await parts.ask(queryBytes('b.example'))).readUInt16BE(2) & 0xf, RCODE.SERVFAIL);
  assert.equal(asked.filter((name) => name === 'b.example').length, 0);
});
