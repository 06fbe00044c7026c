import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getHeapSpaceStatistics } from 'node:v8';
import { silentLogger } from '@podwright/base';
import { Forwarder } from '../forward/forwarder.ts';
import { MessageWriter } from '../wire/message-writer.ts';
import { CLASS_IN, FLAG, TYPE } from '../wire/numbers.ts';
import { testCluster } from '../zone/test-cluster.fixture.ts';
import { ClientNetworks } from './client-networks.ts';
import { Responder } from './responder.ts';
import { Turns } from './turns.ts';

const QUERIES = 200_000;
const CLIENTS = 8;

const usedBytes = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')!.space_used_size;

test('answers leave nothing in the old part of the heap', async () => {
  const responder = new Responder({
    records: testCluster(),
    forwarder: new Forwarder({ path: '/dev/null', own: [], logger: silentLogger }),
    clients: new ClientNetworks(['10.0.0.0/8']),
    logger: silentLogger,
  });
  const writer = new MessageWriter();
  writer.begin(7, FLAG.recursionDesired);
  writer.question({ name: 'web.shop.svc.cluster.local', type: TYPE.A, class: CLASS_IN });
  const query = writer.bytes();
  const turns = new Turns();
  let answers = 0;
  let grownBytes = 0;
  for (let count = 1, before = usedBytes(); count <= QUERIES; count++) {
    const address = `10.0.0.${count % CLIENTS}`;
    turns.add(address, () => {
      if (responder.reply(query, { address, isTcp: false }) instanceof Buffer) answers++;
    });
    if (count % 100 > 0) continue;
    while (turns.waiting > 0) await new Promise((resolve) => setImmediate(resolve));
    const after = usedBytes();
    grownBytes += Math.max(0, after - before); // a collection of the whole heap may make it shrink
    before = after;
  }
  assert.equal(answers, QUERIES);
  assert.ok(grownBytes < 40 * QUERIES, `${Math.round(grownBytes / QUERIES)} bytes of each answer became old`);
});
