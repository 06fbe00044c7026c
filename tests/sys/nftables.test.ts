import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import {
  addressBytes,
  changeElements,
  comesIn,
  daddrIn,
  destinationTranslated,
  goesOut,
  hasErrno,
  inPrefix,
  jump,
  loadSystem,
  masquerade,
  NetlinkSockets,
  type NftRule,
  type NftTable,
  ofVersion,
  readChain,
  readForwardFilters,
  removeTable,
  replaceTable,
  rulesetGeneration,
  tableMentions,
  toThisHost,
  translateDestination,
  verdict,
  withNetworkNamespace,
} from '@podwright/system';

const directory = mkdtempSync(join(tmpdir(), 'podwright-nft-'));
const netns = join(directory, 'netns');
writeFileSync(netns, '');
execFileSync('unshare', [`--net=${netns}`, 'true']);
const socket = withNetworkNamespace({ system: loadSystem(), logger: silentLogger }, netns, () =>
  new NetlinkSockets().open('netfilter'),
);
after(() => {
  socket.close();
  execFileSync('umount', [netns]);
  rmSync(directory, { recursive: true });
});

const inside = (...command: string[]): string =>
  execFileSync('nsenter', [`--net=${netns}`, ...command], { encoding: 'utf8', maxBuffer: 64 << 20 });
const port = (number: number): Buffer => Buffer.from([number >> 8, number & 255, 0, 0]);
const element = (address: string, number: number) => ({
  key: Buffer.concat([Buffer.from([6, 0, 0, 0]), port(number)]),
  data: Buffer.concat([addressBytes(address), port(80)]),
  comment: `pod ${number}`,
});
const phrases: [string, NftRule][] = [
  [
    'ip saddr 10.88.0.0/16 masquerade',
    { expressions: [...ofVersion(4), ...inPrefix('saddr', '10.88.0.0/16'), ...masquerade()] },
  ],
  [
    'ip daddr != 10.88.0.0/15 accept',
    { expressions: [...ofVersion(4), ...inPrefix('daddr', '10.88.0.0/15', false), ...verdict('accept')] },
  ],
  [
    'ip6 saddr fd00:88::/63 drop',
    { expressions: [...ofVersion(6), ...inPrefix('saddr', 'fd00:88::/63'), ...verdict('drop')] },
  ],
  [
    'ip daddr 10.1.2.3 accept',
    { expressions: [...ofVersion(4), ...inPrefix('daddr', '10.1.2.3/32'), ...verdict('accept')] },
  ],
  [
    'iifname "pw0" ct status dnat accept',
    { expressions: [...comesIn('pw0'), ...destinationTranslated(), ...verdict('accept')] },
  ],
  [
    'oifname "pw0" drop comment "of pod a"',
    { expressions: [...goesOut('pw0'), ...verdict('drop')], comment: 'of pod a' },
  ],
  ['ip daddr @pods accept', { expressions: [...ofVersion(4), ...daddrIn(4, 'pods'), ...verdict('accept')] }],
];

const toPorts: NftRule = { expressions: [...toThisHost(), ...jump('ports')] };

function tableOf(elements: ReturnType<typeof element>[]): NftTable {
  return {
    name: 'pwt',
    sets: [
      { name: 'map4', key: ['inet_proto', 'inet_service'], data: ['ipv4_addr', 'inet_service'], elements },
      { name: 'pods', key: ['ipv4_addr'], elements: [] },
    ],
    chains: [
      { name: 'ports', rules: [{ expressions: translateDestination(4, 'map4', false) }] },
      { name: 'in', hook: { type: 'nat', hook: 'prerouting', priority: -100 }, rules: [toPorts] },
      {
        name: 'out',
        hook: { type: 'nat', hook: 'postrouting', priority: 100 },
        rules: phrases.map(([, rule]) => rule),
      },
    ],
  };
}

test('nft lists each rule with the expected text', async () => {
  const before = await rulesetGeneration(socket);
  await socket.request(replaceTable(tableOf([element('10.88.0.2', 8080)])));
  assert.equal(await rulesetGeneration(socket), before + 1);
  const listed = inside('nft', 'list', 'table', 'inet', 'pwt');
  const lines = listed.split('\n').map((line) => line.trim());
  for (const [phrase] of phrases) assert.ok(lines.includes(phrase), `${phrase} is not in\n${listed}`);
  assert.ok(lines.includes('fib daddr type local jump ports'), listed);
  assert.match(listed, /type inet_proto \. inet_service : ipv4_addr \. inet_service\n/);
  assert.match(listed, /elements = { tcp \. 8080 comment "pod 8080" : 10\.88\.0\.2 \. 80 }/);
  assert.match(listed, /dnat ip to meta l4proto \. th dport map @map4/);
  assert.match(listed, /type nat hook prerouting priority dstnat; policy accept;/);
});

test('elements are added and removed; a failed change leaves everything unchanged', async () => {
  await socket.request(replaceTable(tableOf([element('10.88.0.2', 8080)])));
  const change = { set: 'map4', add: [element('10.88.0.3', 8081)], remove: [element('10.88.0.2', 8080)] };
  await socket.request(changeElements('pwt', [change]));
  assert.match(
    inside('nft', 'list', 'map', 'inet', 'pwt', 'map4'),
    /{ tcp \. 8081 comment "pod 8081" : 10\.88\.0\.3 \. 80 }/,
  );
  const before = inside('nft', 'list', 'ruleset');
  const impossible = { ...change, add: [element('10.88.0.4', 8082)] };
  const error = await socket.request(changeElements('pwt', [impossible])).catch((error: unknown) => error);
  assert.ok(hasErrno(error, 'ENOENT'), String(error));
  assert.match(String(error), /remove elements from the set map4 of the table pwt/);
  assert.equal(inside('nft', 'list', 'ruleset'), before);
});

test('tens of thousands of elements are added in one transaction', async () => {
  const elements = Array.from({ length: 20_000 }, (_, index) => element('10.88.0.2', 1000 + index));
  await socket.request(replaceTable(tableOf(elements)));
  assert.equal(inside('nft', 'list', 'ruleset').match(/comment "pod \d+"/g)?.length, 20_000);
  await socket.request(removeTable('pwt'));
  await socket.request(removeTable('pwt'));
  assert.equal(inside('nft', 'list', 'ruleset'), '');
});

test('the verdicts in iptables chains are recognized', async () => {
  const forward = { family: 'ip', table: 'filter', name: 'FORWARD' } as const;
  assert.equal(await readChain(socket, forward), undefined);
  inside('iptables-nft', '-P', 'FORWARD', 'DROP');
  assert.deepEqual(await readChain(socket, forward), { drops: true, rules: [] });
  inside(
    'sh',
    '-ec',
    'iptables-nft -P FORWARD ACCEPT; iptables-nft -N MINE; iptables-nft -A FORWARD -s 10.0.0.0/8 -j MINE; iptables-nft -A FORWARD -j DROP',
  );
  const rules = [{ jumpsTo: 'MINE' }, { jumpsTo: undefined }];
  assert.deepEqual(await readChain(socket, forward), { drops: false, rules });
});

test('chains for forwarded packets are found, including whether they refer to an interface', async () => {
  const rules = `table inet theirs {
    chain forward { type filter hook forward priority 0; policy drop; jump more; }
    chain more { iifname "pwt-known" accept; }
    chain input { type filter hook input priority 0; policy drop; }
  }`;
  execFileSync('nsenter', [`--net=${netns}`, 'nft', '-f', '-'], { input: rules });
  const theirs = { family: 'inet', table: 'theirs', name: 'forward', drops: true } as const;
  const filters = await readForwardFilters(socket);
  assert.deepEqual(
    filters.filter(({ table }) => table === 'theirs'),
    [theirs],
  );
  assert.equal(await tableMentions(socket, theirs, 'pwt-known'), true);
  assert.equal(await tableMentions(socket, theirs, 'pwt-know'), false);
  assert.equal(await tableMentions(socket, { ...theirs, table: 'no-such' }, 'pwt-known'), false);
});
