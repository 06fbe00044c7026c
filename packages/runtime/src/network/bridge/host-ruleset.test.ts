import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filtersForwarding, forwardChain, iptablesChains, removalInput, restoreInput } from './host-ruleset.ts';
import { portRules, requestedRules } from './port-rules.ts';

const v4 = { cidr: '10.88.0.0/16', family: 4 } as const;
const v6 = { cidr: 'fd00:88::/64', family: 6 } as const;
const mapped = (hostPort: number, hostIp = '') => ({ protocol: 'tcp' as const, containerPort: 80, hostPort, hostIp });
const pod = (mappings: ReturnType<typeof mapped>[]) =>
  portRules([requestedRules('pod-a', { ips: ['10.88.0.2', 'fd00:88::2'], mappings })]);

test('iptables chains are replaced, and the jumps to them are added once', () => {
  const first = restoreInput(iptablesChains('pw0', v4, []), '*nat\n:POSTROUTING ACCEPT [0:0]\nCOMMIT\n');
  assert.match(first, /^\*nat\n:PODWRIGHT-pw0 - \[0:0\]\n/);
  assert.match(first, /-A PODWRIGHT-pw0 -s 10.88.0.0\/16 -j MASQUERADE\n/);
  assert.match(first, /-I POSTROUTING -j PODWRIGHT-pw0\n-I OUTPUT -j PODWRIGHT-DN-pw0\n-I PREROUTING .*\nCOMMIT\n/);
  const again = restoreInput(iptablesChains('pw0', v4, []), '*nat\n-A POSTROUTING -j PODWRIGHT-pw0\nCOMMIT\n');
  assert.doesNotMatch(again, /-I POSTROUTING/);
  assert.match(again, /-I OUTPUT -j PODWRIGHT-DN-pw0/);
});

test('a jump in a different table does not count as ours', () => {
  const chain = forwardChain('pw0', v4);
  assert.match(restoreInput([chain], '*mangle\n-A FORWARD -j PODWRIGHT-pw0\nCOMMIT\n'), /-I FORWARD/);
  assert.equal(removalInput([chain], '*nat\n:PODWRIGHT-pw0 - [0:0]\nCOMMIT\n'), '');
});

test('ports on a single address precede those on all addresses, and lead to a pod of the same IP version', () => {
  const ports = pod([mapped(8080), mapped(8081, '127.0.0.1'), mapped(8082, 'fd01::1')]);
  assert.deepEqual(iptablesChains('pw0', v4, ports).find(({ name }) => name === 'PODWRIGHT-DN-pw0')?.rules, [
    '-m addrtype ! --dst-type LOCAL -j RETURN',
    '-p tcp -d 127.0.0.1 --dport 8081 -m comment --comment "pod-a" -j DNAT --to-destination 10.88.0.2:80',
    '-p tcp --dport 8080 -m comment --comment "pod-a" -j DNAT --to-destination 10.88.0.2:80',
  ]);
  assert.match(
    restoreInput(iptablesChains('pw0', v6, ports), ''),
    /-d fd01::1 --dport 8082 .* --to-destination \[fd00:88::2\]:80\n/,
  );
});

test('ports published on host loopback addresses are reachable only from the host itself', () => {
  const input = restoreInput(iptablesChains('pw0', v4, pod([mapped(8081, '127.0.0.1')])), '');
  assert.match(input, /-A PODWRIGHT-PR-pw0 -d 127\.0\.0\.0\/8 -j RETURN\n-A PODWRIGHT-PR-pw0 -j PODWRIGHT-DN-pw0\n/);
});

test('the INPUT chain has a distinct name, within the iptables limit even for the longest bridge name', () => {
  const input = restoreInput(iptablesChains('podwright-bri-0', v4, []), '');
  assert.match(input, /\*filter\n:PODWRIGHT-IN-podwright-bri-0 - /);
  assert.match(input, /-i podwright-bri-0 -d 127\.0\.0\.0\/8 .* -j DROP\n-I INPUT -j PODWRIGHT-IN-podwright-bri-0\n/);
  assert.equal('PODWRIGHT-IN-podwright-bri-0'.length, 28);
});

test('our existing chains are removed along with their jumps', () => {
  const chains = [forwardChain('pw0', v4)];
  assert.equal(removalInput(chains, '*filter\n:FORWARD DROP [0:0]\n:PODWRIGHT-pw01 - [0:0]\nCOMMIT\n'), '');
  assert.equal(
    removalInput(chains, '*filter\n:PODWRIGHT-pw0 - [0:0]\n-A FORWARD -j PODWRIGHT-pw0\nCOMMIT\n'),
    '*filter\n-D FORWARD -j PODWRIGHT-pw0\n-F PODWRIGHT-pw0\n-X PODWRIGHT-pw0\nCOMMIT\n',
  );
});

test('no forward rules are added on a host that forwards everything', () => {
  const table: [string, boolean][] = [
    ['', false],
    [':FORWARD ACCEPT [0:0]', false],
    [':FORWARD ACCEPT [0:0]\n-A FORWARD -j PODWRIGHT-pw0', false],
    [':FORWARD DROP [0:0]', true],
    [':FORWARD ACCEPT [0:0]\n-A FORWARD -j REJECT', true],
    [':INPUT DROP [0:0]\n:FORWARD ACCEPT [1:60]\n-A INPUT -j DROP', false],
  ];
  for (const [lines, expected] of table)
    assert.equal(filtersForwarding('pw0', `*filter\n${lines}\nCOMMIT\n`), expected, lines);
});
