import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  filtersForwarding,
  forwardChain,
  inputChain,
  masqueradeChain,
  nftRuleset,
  removalInput,
  restoreInput,
} from './host-ruleset.ts';

const v4 = { cidr: '10.88.0.0/16', family: 4 } as const;
const v6 = { cidr: 'fd00:88::/64', family: 6 } as const;

test('nft replaces our whole table in one transaction', () => {
  const ruleset = nftRuleset({ bridge: 'pw0', subnets: [v4, v6] });
  assert.match(ruleset, /^add table inet podwright_pw0\ndelete table inet podwright_pw0\ntable inet podwright_pw0 \{/);
  assert.match(ruleset, /ip saddr 10.88.0.0\/16 ip daddr != \{ 10.88.0.0\/16, 224.0.0.0\/4 \} masquerade/);
  assert.match(ruleset, /ip6 saddr fd00:88::\/64 ip6 daddr != \{ fd00:88::\/64, ff00::\/8 \} masquerade/);
  assert.match(
    ruleset,
    /iifname "pw0" ip daddr 127\.0\.0\.0\/8 ct status dnat accept\n +iifname "pw0" ip daddr 127\.0\.0\.0\/8 drop/,
  );
});

test('iptables gets our chain anew, and the jump to it once', () => {
  const first = restoreInput('pw0', masqueradeChain(v4), '*nat\n:POSTROUTING ACCEPT [0:0]\nCOMMIT\n');
  assert.match(first, /:PODWRIGHT-pw0 - \[0:0\]\n/);
  assert.match(first, /-A PODWRIGHT-pw0 -s 10.88.0.0\/16 -j MASQUERADE\n-I POSTROUTING -j PODWRIGHT-pw0\nCOMMIT\n$/);
  const again = restoreInput('pw0', masqueradeChain(v4), '-A POSTROUTING -j PODWRIGHT-pw0\n');
  assert.doesNotMatch(again, /-I POSTROUTING/);
});

test('the chain for what comes in has a name of its own, as long as iptables takes for the longest bridge', () => {
  const input = restoreInput('podwright-bri-0', inputChain('podwright-bri-0'), '');
  assert.match(input, /^\*filter\n:PODWRIGHT-IN-podwright-bri-0 - /);
  assert.match(input, /-i podwright-bri-0 -d 127\.0\.0\.0\/8 .* -j DROP\n-I INPUT -j PODWRIGHT-IN-podwright-bri-0\n/);
  assert.equal('PODWRIGHT-IN-podwright-bri-0'.length, 28);
});

test('our chain is removed with its jump, if it is there', () => {
  const chain = forwardChain(v4);
  assert.equal(removalInput('pw0', chain, ':FORWARD DROP [0:0]\n:PODWRIGHT-pw01 - [0:0]\n'), undefined);
  assert.equal(
    removalInput('pw0', chain, ':PODWRIGHT-pw0 - [0:0]\n-A FORWARD -j PODWRIGHT-pw0\n'),
    '*filter\n-D FORWARD -j PODWRIGHT-pw0\n-F PODWRIGHT-pw0\n-X PODWRIGHT-pw0\nCOMMIT\n',
  );
});

test('a host that forwards everything gets no rules from us', () => {
  const table: [string, boolean][] = [
    ['', false],
    [':FORWARD ACCEPT [0:0]', false],
    [':FORWARD ACCEPT [0:0]\n-A FORWARD -j PODWRIGHT-pw0', false],
    [':FORWARD DROP [0:0]', true],
    [':FORWARD ACCEPT [0:0]\n-A FORWARD -j REJECT', true],
    [':INPUT DROP [0:0]\n:FORWARD ACCEPT [1:60]\n-A INPUT -j DROP', false],
  ];
  for (const [saved, expected] of table) assert.equal(filtersForwarding('pw0', saved), expected, saved);
});
