import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { errorCode, silentLogger, sleep } from '@podwright/base';
import { CLASS_IN, FLAG, RCODE, TYPE } from '../wire/numbers.ts';
import type { AddressRecord, AuthorityRecord } from '../wire/record.ts';
import { AnswerCache } from './answer-cache.ts';
import type { ForwardedQuestion } from './exchange.ts';
import { Forwarder } from './forwarder.ts';
import { type Behaviour, FakeResolver, replyBytes } from './resolver.fixture.ts';
import { nameservers } from './resolvers.ts';
import { lifetimeSeconds, readAnswer } from './upstream-answer.ts';
import { WaitingClients } from './waiting-clients.ts';

const scratch = mkdtempSync(join(tmpdir(), 'pw-dns-'));
after(() => rmSync(scratch, { recursive: true }));

const question = (name: string): ForwardedQuestion => ({
  name,
  type: TYPE.A,
  class: CLASS_IN,
  dnssecOk: false,
  checkingDisabled: false,
});
const address = (name: string, ttl = 300): AddressRecord => ({ name, ttl, type: 'A', address: '192.0.2.1' });
const authority = (minimum: number): AuthorityRecord => ({
  name: 'example',
  ttl: 300,
  type: 'SOA',
  primary: 'ns.example',
  mailbox: 'a.example',
  serial: 1,
  refresh: 1,
  retry: 1,
  expire: 1,
  minimum,
});
const right: Behaviour = ({ query }) => ({ answers: [address(query.question.name)] });

/** A forwarder with one fake resolver per behavior. The resolvers have different addresses, but the same port. */
async function forwarderTo(...behaviours: Behaviour[]) {
  const first = await FakeResolver.start(behaviours[0]!);
  const others = behaviours
    .slice(1)
    .map((behaviour, index) => FakeResolver.start(behaviour, { address: `127.0.0.${index + 2}`, port: first.port }));
  const resolvers = [first, ...(await Promise.all(others))];
  const path = join(scratch, String(first.port));
  writeFileSync(path, resolvers.map((_, index) => `nameserver 127.0.0.${index + 1}\n`).join(''));
  const forwarder = new Forwarder({
    path,
    own: [],
    logger: silentLogger,
    resolverPort: first.port,
    timeoutsMs: [400, 400, 400],
  });
  return {
    forwarder,
    resolvers,
    ask: (name: string, client = 'a') => forwarder.resolve(question(name), client),
    async [Symbol.asyncDispose]() {
      forwarder.close();
      for (const resolver of resolvers) await resolver[Symbol.asyncDispose]().catch(() => undefined); // a test may have closed it
    },
  };
}

test('a question is forwarded once while its answer is cached, and once for concurrent clients', async () => {
  await using parts = await forwarderTo(right);
  const [one, other] = await Promise.all([parts.ask('a.example'), parts.ask('A.example')]);
  assert.equal(one, other);
  await parts.ask('a.EXAMPLE');
  await parts.ask('b.example');
  assert.deepEqual(parts.resolvers[0]!.names, ['a.example', 'b.example']);
});

test('queries have varying ports and IDs', async () => {
  await using parts = await forwarderTo(right);
  await Promise.all(Array.from({ length: 20 }, (_, index) => parts.ask(`${index}.example`)));
  const { asked } = parts.resolvers[0]!;
  assert.ok(new Set(asked.map(({ query }) => query.id)).size > 15);
  assert.ok(new Set(asked.map(({ port }) => port)).size > 15);
});

test('answers with a wrong ID or question are ignored', async () => {
  await using parts = await forwarderTo(({ query }) => [
    { id: query.id ^ 1, rcode: RCODE.REFUSED },
    { name: 'b.example', rcode: RCODE.REFUSED },
    { answers: [address('a.example')] },
  ]);
  assert.equal((await parts.ask('a.example')).answer.rcode, RCODE.NOERROR);
});

test('a question is retried over TCP if its answer is truncated or answers are forged', async () => {
  await using parts = await forwarderTo(({ query, isTcp }) => {
    if (isTcp) return { answers: [address(query.question.name)] };
    if (query.question.name === 'long.example') return { flags: FLAG.truncated };
    return Array.from({ length: 8 }, (_, index) => ({ id: query.id ^ (index + 1), answers: [] }));
  });
  for (const name of ['long.example', 'forged.example'])
    assert.equal((await parts.ask(name)).answer.records.length, 1, name);
});

test('if a resolver does not respond, the next one is tried, and from then on preferred', async () => {
  await using parts = await forwarderTo(() => undefined, right);
  assert.equal((await parts.ask('a.example')).answer.rcode, RCODE.NOERROR);
  await parts.ask('b.example');
  assert.deepEqual(parts.resolvers[0]!.names, ['a.example']);
});

test('an absent resolver is not waited for', async () => {
  await using parts = await forwarderTo(right);
  await parts.resolvers[0]![Symbol.asyncDispose]();
  const startedMs = performance.now();
  await assert.rejects(parts.ask('a.example'), { code: 'unavailable' });
  assert.ok(performance.now() - startedMs < 400, 'less than one time-out');
});

test('a refusal is returned only if no other resolver has an answer', async () => {
  let second: Behaviour = right;
  await using parts = await forwarderTo(
    () => ({ rcode: RCODE.REFUSED }),
    (asked) => second(asked),
  );
  assert.equal((await parts.ask('a.example')).answer.rcode, RCODE.NOERROR);
  second = () => ({ rcode: RCODE.SERVFAIL });
  assert.equal((await parts.ask('b.example')).answer.rcode, RCODE.SERVFAIL);
  assert.equal(parts.resolvers[1]!.names.length, 2);
});

test('a resolver without EDNS support is queried without it', async () => {
  await using parts = await forwarderTo(({ query }) =>
    query.edns === undefined ? { answers: [address(query.question.name)] } : { rcode: RCODE.FORMERR },
  );
  assert.equal((await parts.ask('a.example')).answer.rcode, RCODE.NOERROR);
});

test('a resolver that answers EDNS with a bare error header is queried without it', async () => {
  let asked = 0;
  await using parts = await forwarderTo(({ query }) => {
    asked++;
    if (query.edns === undefined && query.question.name === 'a.example') return { answers: [address('a.example')] };
    const header = Buffer.alloc(12);
    header.writeUInt16BE(query.id, 0);
    header.writeUInt16BE(FLAG.response | RCODE.FORMERR, 2);
    return header;
  });
  assert.equal((await parts.ask('a.example')).answer.rcode, RCODE.NOERROR);
  assert.equal((await parts.ask('b.example')).answer.rcode, RCODE.FORMERR);
  assert.ok(asked >= 4, 'the loop probe may come first');
});

test('an attempt’s timeout covers its retries without EDNS and over TCP', async () => {
  await using parts = await forwarderTo(async ({ query }) => {
    if (query.edns === undefined) return undefined;
    await sleep(300);
    return { rcode: RCODE.FORMERR };
  });
  const startedMs = performance.now();
  await assert.rejects(parts.ask('a.example'), { code: 'deadline_exceeded' });
  const tookMs = performance.now() - startedMs;
  assert.ok(tookMs < 1700, `three attempts of 400 ms took ${tookMs} ms`);
});

test('without an answer, the question fails after a limited number of attempts', async () => {
  await using silent = await forwarderTo(() => undefined);
  await assert.rejects(silent.ask('a.example'), { code: 'deadline_exceeded' });
  assert.equal(silent.resolvers[0]!.names.length, 3);
  await using lying = await forwarderTo(({ query }) => {
    const bytes = replyBytes(query, { answers: [address('a.example')] });
    bytes.writeUInt16BE(65_535, 6);
    return bytes;
  });
  await assert.rejects(lying.ask('a.example'), { code: 'invalid_argument' });
});

test('one client cannot occupy everyone else’s slots', async () => {
  await using parts = await forwarderTo(() => undefined);
  const asked = Array.from({ length: 300 }, (_, index) => parts.ask(`${index}.example`, 'greedy'));
  const results = await Promise.allSettled([...asked, parts.ask('z.example', 'modest')]);
  const codes = results.map((result) => (result.status === 'rejected' ? result.reason.code : 'fulfilled'));
  assert.equal(codes.filter((code) => code === 'resource_exhausted').length, 50);
  assert.equal(codes.at(-1), 'deadline_exceeded');
});

test('clients that together occupy all slots leave every other client its share', async () => {
  await using parts = await forwarderTo(() => undefined);
  const code = (answer: Promise<unknown>) => answer.then(() => undefined, errorCode);
  const greedy = ['a', 'b', 'c', 'd'].flatMap((client) =>
    Array.from({ length: 250 }, (_, index) => code(parts.ask(`${client}-${index}.example`, client))),
  );
  const modest = code(parts.ask('z.example', 'modest'));
  assert.equal(await greedy[0], 'resource_exhausted', 'the oldest question of a client with the most places');
  assert.equal(await modest, 'deadline_exceeded');
  const codes = await Promise.all(greedy);
  assert.equal(codes.filter((one) => one === 'resource_exhausted').length, 1);
});

test('slots occupied by one client after another do not accumulate', () => {
  const waiting = new WaitingClients();
  const refused: AbortSignal[] = [];
  for (let client = 0; client < 1000; client++) {
    refused.push(waiting.enter(`one-${client}`).refused);
    for (const _ of Array(3)) if (refused.length < 1000) refused.push(waiting.enter(`one-${client}`).refused);
  }
  assert.equal(refused.filter(({ aborted }) => aborted).length, 750);
  assert.throws(() => waiting.enter('last'), { code: 'resource_exhausted' });
});

test('without resolvers, questions fail at once until the file lists one', async () => {
  const path = join(scratch, 'absent');
  const forwarder = new Forwarder({ path, own: [{ address: '127.0.0.1', port: 53 }], logger: silentLogger });
  await assert.rejects(forwarder.resolve(question('a'), 'a'), { code: 'unavailable' });
  assert.deepEqual(
    nameservers('# nameserver 1.1.1.1\nnameserver 10.0.0.1 # x\n nameserver ::1\nnameserver ::1\nnameserver x'),
    ['10.0.0.1', '::1'],
  );
});

test('an answer’s lifetime is its lowest TTL, within limits, and a denial without an SOA is not cached', () => {
  const query = { id: 1, flags: 0, question: question('a.example'), questionEnd: 0, edns: undefined };
  const lifetime = (reply: Parameters<typeof replyBytes>[1]) =>
    lifetimeSeconds(readAnswer(replyBytes(query, reply), { id: 1, question: query.question })!);
  assert.equal(lifetime({ answers: [address('a.example', 20), address('a.example', 10)] }), 10);
  assert.equal(lifetime({ answers: [address('a.example', 3600)] }), 30);
  assert.equal(lifetime({ answers: [address('a.example', 1)] }), 5);
  assert.equal(lifetime({ answers: [address('a.example', 0xffff_ffff)] }), 5);
  assert.equal(lifetime({ rcode: RCODE.NXDOMAIN, authorities: [authority(12)] }), 12);
  assert.equal(lifetime({ authorities: [authority(12)] }), 12);
  assert.equal(lifetime({ rcode: RCODE.NXDOMAIN }), 0);
  assert.equal(lifetime({}), 0);
  assert.equal(lifetime({ rcode: RCODE.SERVFAIL }), 5);
  assert.equal(lifetime({ rcode: RCODE.REFUSED }), 0);
  assert.equal(lifetime({ flags: FLAG.truncated, answers: [address('a.example')] }), 0);
});

test('an answer is removed from the cache at the end of its lifetime', () => {
  let nowMs = 0;
  const cache = new AnswerCache(() => nowMs);
  const query = { id: 1, flags: 0, question: question('a.example'), questionEnd: 0, edns: undefined };
  const answer = readAnswer(replyBytes(query, { answers: [address('a.example', 10)] }), {
    id: 1,
    question: query.question,
  });
  cache.add(query.question, answer!);
  nowMs = 9999;
  assert.equal(cache.ageSeconds(cache.get(question('A.example'))!), 9);
  assert.equal(cache.get({ ...question('a.example'), dnssecOk: true }), undefined);
  nowMs = 10_000;
  assert.equal(cache.get(question('a.example')), undefined);
});
