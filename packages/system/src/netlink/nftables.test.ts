import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeAttributes, u32 } from './message.ts';
import type { NetlinkRequest } from './netlink-socket.ts';
import { comesIn, inPrefix, ofVersion, verdict } from './nft-expressions.ts';
import { changeElements, changeTable, type NftTable, removeTable, replaceTable } from './nftables.ts';

const hex = (...parts: string[]): string => parts.join('').replaceAll(' ', '');
const attributesOf = (request: NetlinkRequest): string => encodeAttributes(request.attributes ?? []).toString('hex');
/** Summarizes requests: the low byte of each message type, followed by `!` if the kernel acknowledges the request. */
const outline = (requests: NetlinkRequest[]) => requests.map(({ type, silent }) => `${type & 255}${silent ? '' : '!'}`);

const element = { key: Buffer.from('060000001f900000', 'hex'), data: Buffer.from('0a00000200500000', 'hex') };
const table: NftTable = {
  name: 'pw',
  sets: [
    {
      name: 'ports',
      key: ['inet_proto', 'inet_service'],
      data: ['ipv4_addr', 'inet_service'],
      elements: [{ ...element, comment: 'pod a' }],
    },
  ],
  chains: [
    {
      name: 'in',
      hook: { type: 'nat', hook: 'prerouting', priority: -100 },
      rules: [{ expressions: verdict('drop'), comment: 'abc' }],
    },
  ],
};

test('a table is replaced in one transaction, and the kernel acknowledges only the last command', () => {
  // the transaction: begin; create, delete and create the table; add the chain, set, elements and rule; end
  assert.deepEqual(outline(replaceTable(table)), ['16', '0', '2', '0', '3', '9', '12', '6!', '17']);
  assert.deepEqual(outline(removeTable('pw')), ['16', '0', '2!', '17']);
  assert.equal(replaceTable(table)[0]?.body.toString('hex'), '0000000a');
  assert.equal(replaceTable(table)[1]?.body.toString('hex'), '01000000');
});

test('sets and their elements are encoded like nft does', () => {
  const [set, elements] = replaceTable(table).slice(5, 7) as [NetlinkRequest, NetlinkRequest];
  const name = '07000100 70770000' + '0a000200 706f7274 73000000';
  const types = ['0000030d', '00000008', '000001cd', '00000008'].map((value, index) => `08000${4 + index}00 ${value}`);
  assert.equal(attributesOf(set), hex(name, '08000300 00000008', ...types, '08000a00 00000001'));
  const key = '10000180 0c000100 06000000 1f900000';
  const data = '10000280 0c000100 0a000002 00500000';
  const comment = '0c000600 0006706f 64206100';
  assert.equal(attributesOf(elements), hex(name, '34000380 30000180', key, data, comment));
});

test('a comment longer than the 256 bytes of user data is truncated at a character boundary', () => {
  const commented = (comment: string) => {
    const [request] = changeElements('pw', [{ set: 'ports', add: [{ ...element, comment }], remove: [] }]).slice(1);
    return attributesOf(request!);
  };
  assert.ok(commented('a'.repeat(253)).endsWith(hex('04010600', '00fe', '61'.repeat(253), '00')));
  assert.equal(commented('a'.repeat(300)), commented('a'.repeat(253)));
  assert.equal(commented(`${'a'.repeat(252)}é`), commented('a'.repeat(252)));
});

test('elements are removed by key, before others are added', () => {
  const change = { set: 'ports', add: [{ ...element, comment: 'b' }], remove: [{ ...element, comment: 'a' }] };
  const requests = changeElements('pw', [change]);
  assert.deepEqual(outline(requests), ['16', '14', '12!', '17']);
  const name = '07000100 70770000' + '0a000200 706f7274 73000000';
  assert.equal(attributesOf(requests[1]!), hex(name, '18000380 14000180 10000180 0c000100 06000000 1f900000'));
});

test('many elements are split into several messages', () => {
  const add = Array.from({ length: 1000 }, () => ({ ...element, comment: 'x'.repeat(100) }));
  assert.deepEqual(outline(changeElements('pw', [{ set: 'ports', add, remove: [] }])).slice(1, -1), [
    '12',
    '12',
    '12',
    '12!',
  ]);
});

test('a chain is encoded with its hook and priority, a rule with its expressions and comment', () => {
  const requests = replaceTable(table);
  const hook = '14000480 08000100 00000000 08000200 ffffff9c';
  assert.equal(attributesOf(requests[4]!), hex('07000100 70770000 07000300 696e0000', hook, '08000700 6e617400'));
  const name = '0e000100 696d6d65 64696174 65000000';
  const drop = '1c000280 08000100 00000000 10000280 0c000280 08000100 00000000';
  const rule = hex(
    '07000100 70770000 07000200 696e0000',
    '34000480 30000180',
    name,
    drop,
    '0a000700 00046162 63000000',
  );
  assert.equal(attributesOf(requests[7]!), rule);
});

test('a prefix is compared under its mask, a full address without one, and an interface by all 16 bytes', () => {
  const names = (expressions: ReturnType<typeof ofVersion>) =>
    expressions.map((expression) => /(meta|cmp|payload|bitwise)/.exec(encodeAttributes([expression]).toString())?.[0]);
  assert.deepEqual(names(ofVersion(6)), ['meta', 'cmp']);
  assert.deepEqual(names(inPrefix('saddr', '10.1.2.3/15')), ['payload', 'bitwise', 'cmp']);
  assert.deepEqual(names(inPrefix('saddr', 'fd00::1/128')), ['payload', 'cmp']);
  const compared = encodeAttributes(inPrefix('saddr', '10.1.2.3/15').slice(-1)).toString('hex');
  assert.match(compared, /0a000000$/);
  assert.match(encodeAttributes(comesIn('pw0').slice(-1)).toString('hex'), /14000100707730(00){13}$/);
});

test('a dynamic set has a size and expiring elements; a verdict map has no data length', () => {
  const sets: NftTable['sets'] = [
    { name: 'seen', key: ['ipv4_addr'], dynamicSize: 16, elements: [] },
    { name: 'to', key: ['mark'], data: 'verdict', elements: [{ key: u32(1), data: { goto: 'in' } }] },
  ];
  const requests = replaceTable({ ...table, sets });
  const [seen, to, elements] = requests.slice(5, 8).map(attributesOf);
  const head = (name: string, flags: string) => hex('07000100 70770000', name, `08000300 ${flags}`);
  const ofSeen = hex('08000400 00000007 08000500 00000004 0c000980 08000100 00000010 08000a00 00000001');
  assert.equal(seen, head('09000200 7365656e 00000000', '00000030') + ofSeen);
  const ofTo = hex('08000400 00000013 08000500 00000004 08000600 ffffff00 08000a00 00000002');
  assert.equal(to, head('07000200 746f0000', '00000008') + ofTo);
  const goTo = hex('18000280 14000280 08000100 fffffffc 07000200 696e0000');
  assert.equal(elements?.slice(-2 * 0x18), goTo);
});

test('chains and sets are added before elements that use them, and removed after them', () => {
  const change = {
    elements: [{ set: 'ports', add: [element], remove: [element] }],
    addSets: table.sets,
    addChains: table.chains,
    removeChains: ['old'],
    removeSets: ['old'],
  };
  assert.deepEqual(outline(changeTable('pw', change)), ['16', '3', '9', '12', '14', '12', '6', '8', '5', '11!', '17']);
});
