import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nftPortChanges, nftTable } from './nft-table.ts';
import { type PortRule, portRules, requestedRules } from './port-rules.ts';

const rules = (sandboxId: string, ip: string, ...hostPorts: number[]): PortRule[] => {
  const mappings = hostPorts.map((hostPort) => ({ protocol: 'tcp' as const, containerPort: 80, hostPort, hostIp: '' }));
  return requestedRules(sandboxId, { ips: [ip], mappings });
};
const subnet = { cidr: '10.88.0.0/16', family: 4 } as const;
const a = rules('a', '10.88.0.2', 1, 2);
const b = rules('b', '10.88.0.3', 3);

/** Formats each changed set as its name, followed by the comments of its added (`+`) and removed (`-`) elements. */
const changes = (before: PortRule[], after: PortRule[]) =>
  nftPortChanges([4], before, after).map(
    ({ set, add, remove }) =>
      `${set} ${[...add.map(({ comment }) => `+${comment}`), ...remove.map(({ comment }) => `-${comment}`)].join(' ')}`,
  );

test('only differences are applied', () => {
  assert.deepEqual(changes(a, [...a, ...b]), ['host_ports4 +b', 'published_pods4 +b']);
  assert.deepEqual(changes([...a, ...b], b), ['host_ports4 -a -a', 'published_pods4 -a']);
  assert.deepEqual(changes(a, a.slice(1)), ['host_ports4 -a']);
  assert.deepEqual(changes(a, a), []);
});

test('a port that moves to a different pod is removed and re-added', () => {
  const c = rules('c', '10.88.0.4', 1);
  assert.deepEqual(changes(portRules([a, c]), portRules([c])), ['host_ports4 +c -a -a', 'published_pods4 +c -a']);
});

test('sets exist for the IP versions of the subnets, and rules only for those', () => {
  const names = (subnets: Parameters<typeof nftTable>[0]['subnets']) =>
    nftTable({ bridge: 'pw0', subnets }, a).sets.map(({ name, elements }) => `${name} ${elements.length}`);
  assert.deepEqual(names([subnet]), ['host_ports4 2', 'host_ports_at4 0', 'published_pods4 1']);
  assert.deepEqual(names([{ cidr: 'fd00::/64', family: 6 }]), [
    'host_ports6 0',
    'host_ports_at6 0',
    'published_pods6 0',
  ]);
});
