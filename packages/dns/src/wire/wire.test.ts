import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressBytes, addressKey, reverseKey } from './addresses.ts';
import { MessageWriter } from './message-writer.ts';
import { isName, isWithin, lowered, readName, skipName } from './names.ts';
import { CLASS_IN, FLAG, RCODE, TYPE } from './numbers.ts';
import { readQuery } from './read-query.ts';
import { FrameReader, framed } from './tcp-frames.ts';

/** A message that consists of a header with these counts and the given bytes. */
function message({ flags = FLAG.recursionDesired as number, counts = [1, 0, 0, 0] } = {}, ...bytes: number[]): Buffer {
  const header = Buffer.alloc(12);
  header.writeUInt16BE(7, 0);
  header.writeUInt16BE(flags, 2);
  for (const [index, count] of counts.entries()) header.writeUInt16BE(count, 4 + 2 * index);
  return Buffer.concat([header, Buffer.from(bytes)]);
}

const QUESTION = [1, 0x61, 0, 0, TYPE.A, 0, CLASS_IN];
const OPT = [0, 0, TYPE.OPT, 4, 0xd0, 0, 0, 0x80, 0, 0, 0];

test('a query is parsed with its question and EDNS record', () => {
  assert.deepEqual(readQuery(message({}, ...QUESTION)), {
    id: 7,
    flags: FLAG.recursionDesired,
    question: { name: 'a', type: TYPE.A, class: CLASS_IN },
    questionEnd: 19,
    edns: undefined,
  });
  const query = readQuery(message({ counts: [1, 0, 0, 1] }, ...QUESTION, ...OPT));
  assert.deepEqual(query?.question && query.edns, { sizeBytes: 1232, version: 0, dnssecOk: true });
});

test('a message that is not a query gets no answer, and a malformed query gets the appropriate code', () => {
  const rcodeOf = (bytes: Buffer) => {
    const read = readQuery(bytes);
    return read === undefined ? 'none' : read.question === undefined ? read.rcode : 'a question';
  };
  assert.equal(rcodeOf(Buffer.alloc(11)), 'none');
  assert.equal(rcodeOf(message({ flags: FLAG.response }, ...QUESTION)), 'none');
  assert.equal(rcodeOf(message({ flags: 4 << 11 }, ...QUESTION)), RCODE.NOTIMP);
  for (const bytes of [
    message({ counts: [0, 0, 0, 0] }),
    message({ counts: [2, 0, 0, 0] }, ...QUESTION, ...QUESTION),
    message({}),
    message({}, ...QUESTION.slice(0, -1)),
    message({}, 64, ...new Array(64).fill(0x61), 0, 0, 1, 0, 1),
    message({}, 0xc0, 12, 0, 1, 0, 1),
    message({}, 0xc0, 0, 0, 1, 0, 1),
    message({}, 1, 0x61, 0xc0, 12, 0, 1, 0, 1),
    message({ counts: [1, 0, 0, 2] }, ...QUESTION, ...OPT, ...OPT),
    message({ counts: [1, 0, 0, 65535] }, ...QUESTION, ...OPT),
    message({ counts: [1, 0, 0, 1] }, ...QUESTION, ...OPT.slice(0, -2), 0, 9),
    message({}, ...QUESTION, 0),
  ])
    assert.equal(rcodeOf(bytes), RCODE.FORMERR, bytes.toString('hex'));
});

test('a name round-trips with its case and nonletter bytes', () => {
  const bytes = Buffer.from([4, 0x57, 0x2e, 0x5c, 0xff, 2, 0x61, 0x20, 0]);
  const { name, end } = readName(Buffer.concat([Buffer.alloc(12), bytes]), 12);
  assert.equal(name, 'W\\046\\092\\255.a\\032');
  assert.equal(end, 21);
  assert.equal(lowered(name), 'w\\046\\092\\255.a\\032');
  const writer = new MessageWriter();
  writer.begin(0, 0);
  writer.question({ name, type: 1, class: 1 });
  assert.deepEqual(writer.bytes().subarray(12, 21), bytes);
});

test('a name ends at its pointer, and chains of pointers are followed only to a limit', () => {
  const chain = [0];
  for (let at = 12; at < 200; at = 12 + chain.length - 2) chain.push(0xc0, at);
  const bytes = Buffer.concat([Buffer.alloc(12), Buffer.from(chain)]);
  assert.deepEqual(readName(bytes, 13), { name: '', end: 15 });
  assert.throws(() => readName(bytes, bytes.length - 2), /pointer/);
  assert.equal(skipName(bytes, bytes.length - 2), bytes.length);
});

test('names are valid up to the length limits', () => {
  const label = 'a'.repeat(63);
  assert.ok(isName('') && isName(label) && isName(`${label}.${label}.${label}.${'a'.repeat(61)}`));
  assert.ok(!isName(`${label}a`) && !isName('a..b') && !isName('.a') && !isName(`${label}.${label}.${label}.${label}`));
  assert.ok(isWithin('a.b', 'b') && isWithin('b', 'b') && !isWithin('ab', 'b'));
});

test('repeated names are compressed, except in SRV records', () => {
  const writer = new MessageWriter();
  writer.begin(1, 0);
  writer.question({ name: 'a.example', type: 1, class: 1 });
  writer.record('answer', { name: 'a.example', ttl: 1, type: 'CNAME', target: 'b.example' });
  writer.record('answer', {
    name: 'a.example',
    ttl: 1,
    type: 'SRV',
    priority: 0,
    weight: 0,
    port: 1,
    target: 'b.example',
  });
  const bytes = writer.bytes();
  assert.equal(bytes.toString('latin1').split('example').length - 1, 2);
  assert.equal(bytes.length, 12 + 15 + (2 + 10 + 4) + (2 + 10 + 6 + 11));
});

test('a record that does not fit leaves the message unchanged', () => {
  const writer = new MessageWriter();
  writer.begin(1, 0, 70);
  writer.question({ name: 'a.example', type: 1, class: 1 });
  const before = writer.bytes();
  const tooLong = { name: 'b.example', ttl: 1, type: 'TXT', text: 'x'.repeat(50) } as const;
  assert.ok(!writer.record('answer', tooLong));
  assert.deepEqual(writer.bytes(), before);
  assert.ok(writer.record('answer', { ...tooLong, text: 'x' }));
  assert.equal(writer.bytes().toString('latin1').indexOf('\x01b\xc0'), before.length);
});

test('addresses are converted to bytes, keys and reverse names', () => {
  const hex = (text: string) => addressBytes(text)?.toString('hex');
  assert.equal(hex('10.0.0.255'), '0a0000ff');
  assert.equal(hex('::'), '0'.repeat(32));
  assert.equal(hex('fd00::1:2'), 'fd0000000000000000000000' + '00010002');
  assert.equal(hex('::ffff:10.0.0.1'), '00000000000000000000ffff0a000001');
  assert.equal(hex('1:2:3:4:5:6:7:8'), '00010002000300040005000600070008');
  assert.equal(addressKey('FD00:0::1'), addressKey('fd00::0001'));
  for (const text of ['', '10.0.0', '10.0.0.256', 'fe80::1%eth0', 'a']) assert.equal(hex(text), undefined, text);
  assert.equal(reverseKey('1.2.3.10.in-addr.arpa'), '0a030201');
  for (const name of ['in-addr.arpa', '1.2.3.in-addr.arpa', '1.2.3.4.5.in-addr.arpa', 'a.ip6.arpa'])
    assert.equal(reverseKey(name), undefined, name);
});

test('messages are extracted from a stream however it is split, and long ones are rejected', () => {
  const stream = Buffer.concat([framed(Buffer.from('one')), framed(Buffer.alloc(0)), framed(Buffer.from('three'))]);
  for (const size of [1, 2, 3, 100]) {
    const found: string[] = [];
    const frames = new FrameReader({ maxBytes: 5, onMessage: (bytes) => found.push(bytes.toString()) });
    for (let at = 0; at < stream.length; at += size) frames.add(stream.subarray(at, at + size));
    assert.deepEqual(found, ['one', '', 'three']);
  }
  const frames = new FrameReader({ maxBytes: 5, onMessage: () => undefined });
  assert.throws(() => frames.add(framed(Buffer.alloc(6))), { code: 'resource_exhausted' });
});
