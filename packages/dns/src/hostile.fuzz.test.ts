import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCode, silentLogger } from '@podwright/base';
import { fuzz } from '../../base/src/fuzz.fixture.ts';
import { aliasRecords } from './forward/alias-records.ts';
import { Forwarder } from './forward/forwarder.ts';
import { replyBytes } from './forward/resolver.fixture.ts';
import { lifetimeSeconds, readAnswer } from './forward/upstream-answer.ts';
import { ClientNetworks } from './server/client-networks.ts';
import { forwardedReply } from './server/forwarded-reply.ts';
import { Responder } from './server/responder.ts';
import { MessageWriter } from './wire/message-writer.ts';
import { CLASS_IN, FLAG, TYPE } from './wire/numbers.ts';
import { optRecord } from './wire/opt-record.ts';
import { testCluster } from './zone/test-cluster.fixture.ts';

const responder = new Responder({
  records: testCluster(),
  forwarder: new Forwarder({ path: '/dev/null', own: [], logger: silentLogger }),
  clients: new ClientNetworks(['10.0.0.0/8']),
  logger: { ...silentLogger, error: (fields) => assert.fail(JSON.stringify(fields)) },
});
const origin = { address: '10.0.0.1', isTcp: false };

function queryBytes(name: string, type: number): Buffer {
  const writer = new MessageWriter();
  writer.begin(7, FLAG.recursionDesired);
  writer.question({ name, type, class: CLASS_IN });
  writer.encoded('additional', optRecord({ highCode: 0, dnssecOk: true }));
  return writer.bytes();
}

const queries = [
  queryBytes('web.shop.svc.cluster.local', TYPE.A),
  queryBytes('_sql._tcp.db.shop.svc.cluster.local', TYPE.SRV),
  queryBytes('near.shop.svc.cluster.local', TYPE.AAAA),
  queryBytes('1.0.96.10.in-addr.arpa', TYPE.PTR),
  queryBytes('example.org', TYPE.A),
];

test('arbitrary client bytes are answered within the limits, or not at all', async () => {
  await fuzz({ samples: queries, rounds: 20_000 }, async (input) => {
    const reply = await responder.reply(input, origin);
    if (reply === undefined) return;
    assert.ok(reply.length <= 1232);
    assert.equal(reply.readUInt16BE(0), input.readUInt16BE(0));
    assert.notEqual(reply.readUInt16BE(2) & FLAG.response, 0);
  });
});

const question = { name: 'a.example', type: TYPE.A, class: CLASS_IN };
const query = { id: 7, flags: FLAG.recursionDesired, question, questionEnd: 27, edns: undefined };
const answers = [
  replyBytes(query, {
    answers: [
      { name: 'a.example', ttl: 300, type: 'CNAME', target: 'b.a.example' },
      { name: 'b.a.example', ttl: 300, type: 'A', address: '192.0.2.1' },
    ],
  }),
  replyBytes(query, {
    rcode: 3,
    authorities: [
      {
        name: 'example',
        ttl: 5,
        type: 'SOA',
        primary: 'ns.example',
        mailbox: 'x.example',
        serial: 1,
        refresh: 1,
        retry: 1,
        expire: 1,
        minimum: 60,
      },
    ],
  }),
];

test('arbitrary resolver bytes are forwardable answers, or rejected', async () => {
  const request = queryBytes('a.example', TYPE.A);
  await fuzz({ samples: answers, rounds: 20_000 }, (input) => {
    try {
      const answer = readAnswer(input, { id: 7, question });
      if (answer === undefined) return;
      const timed = { answer, atMs: 0, lifetimeSeconds: lifetimeSeconds(answer) };
      assert.ok(timed.lifetimeSeconds >= 0 && timed.lifetimeSeconds <= 30);
      const reply = forwardedReply(timed, 3, { query, request, maxBytes: 512 });
      assert.ok(reply.length <= 512);
      aliasRecords(answer, 30);
    } catch (error) {
      assert.equal(errorCode(error), 'invalid_argument', String(error));
    }
  });
});

test('a message with missing records or chained pointers is cheap to process', () => {
  const empty = Buffer.alloc(12);
  empty.fill(0xff, 4);
  empty.writeUInt16BE(1, 4);
  const chained = Buffer.alloc(65_535, Buffer.from([0xc0, 0x0c, 0, 10, 0, 1, 0, 0, 0, 0, 0, 0]));
  answers[0]!.copy(chained, 0, 0, 27);
  chained.writeUInt16BE(65_535, 6);
  const startedMs = performance.now();
  for (let count = 0; count < 10_000; count++) responder.reply(empty, origin);
  for (let count = 0; count < 20; count++) assert.throws(() => readAnswer(chained, { id: 7, question }));
  assert.ok(performance.now() - startedMs < 3000);
});
