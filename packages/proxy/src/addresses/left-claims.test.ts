import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { lockDirectory } from '@podwright/system';
import { lookAt } from './left-claims.ts';
import { type NodeClaim, ownNetworkNamespace, placeOfNode, readClaim, writeClaim } from './node-claim.ts';
import { lockServiceRange, nodeAddresses, rangesOfNodes } from './service-range.ts';

/** A claims directory in which nodes start and exit. The host itself is not changed. */
class Host {
  readonly directory: string;
  readonly #unlocks: (() => void)[] = [];

  constructor(t: TestContext) {
    this.directory = mkdtempSync(join(tmpdir(), 'podwright-claims-'));
    t.after(() => {
      for (const unlock of this.#unlocks) unlock();
      rmSync(this.directory, { recursive: true });
    });
  }

  claim(name: string, range: string, given: Partial<NodeClaim> = {}): NodeClaim {
    const root = join(this.directory, 'roots', name);
    mkdirSync(root, { recursive: true });
    const tables = { servicesTable: `services-${range}`, policiesTable: `policies-${name}` };
    const netns = ownNetworkNamespace();
    return { root, netns, ranges: [range], addresses: nodeAddresses(range), ...tables, ...given };
  }

  /** Records a claim. Returns a function that ends the node without cleaning up. */
  start(claim: NodeClaim): () => void {
    const place = placeOfNode(this.directory, claim.root);
    const unlocks = [lockDirectory(place, ''), ...claim.ranges.map((range) => lockServiceRange(this.directory, range))];
    writeClaim(place, claim);
    const end = () => {
      for (const unlock of unlocks.splice(0)) unlock();
    };
    this.#unlocks.push(end);
    return end;
  }

  dead(starting?: NodeClaim) {
    const { dead } = lookAt(this.directory, starting && { root: starting.root, claim: starting });
    return dead.map(({ root, addresses, tables, keeps }) => ({
      node: root && basename(root),
      ...{ addresses, tables, stays: keeps !== undefined },
    }));
  }
}

test('the addresses of a stopped node are leftovers, and its tables are once its root directory has been removed', (t) => {
  const host = new Host(t);
  const [a, b] = [host.claim('a', '10.1.0.0/24'), host.claim('b', '10.2.0.0/24')];
  const end = host.start(a);
  host.start(b);
  assert.deepEqual(host.dead(), []);
  end();
  const addresses = ['10.1.0.1', '10.1.0.10'];
  assert.deepEqual(host.dead(), [{ node: 'a', addresses, tables: [], stays: true }]);
  assert.deepEqual(rangesOfNodes(host.directory).sort(), ['10.1.0.0/24', '10.2.0.0/24']);
  rmSync(a.root, { recursive: true });
  const tables = ['services-10.1.0.0/24', 'policies-a'];
  assert.deepEqual(host.dead(), [{ node: 'a', addresses, tables, stays: false }]);
});

test('when a node starts with a different range, its earlier range is a leftover', (t) => {
  const host = new Host(t);
  host.start(host.claim('a', '10.1.0.0/24'))();
  const addresses = ['10.1.0.1', '10.1.0.10'];
  const left = { node: 'a', addresses, tables: ['services-10.1.0.0/24'], stays: false };
  assert.deepEqual(host.dead(host.claim('a', '10.2.0.0/24')), [left]);
  assert.deepEqual(host.dead(host.claim('a', '10.1.0.0/24')), [{ ...left, addresses: [], tables: [] }]);
  assert.deepEqual(host.dead(host.claim('a', '10.0.0.0/8')), [left]);
});

test('addresses used by a running node are not leftovers, even if a stopped node also had them', (t) => {
  const host = new Host(t);
  const a = host.claim('a', '10.1.0.0/24');
  host.start(a)();
  rmSync(a.root, { recursive: true });
  const { servicesTable } = a;
  host.start(host.claim('b', '10.1.0.0/16', { servicesTable }));
  assert.deepEqual(host.dead(), [{ node: 'a', addresses: [], tables: ['policies-a'], stays: false }]);
});

test('the Service rules of a stopped node are leftovers once another node serves its range', (t) => {
  const host = new Host(t);
  host.start(host.claim('a', '10.1.0.0/24'))();
  host.start(host.claim('b', '10.0.0.0/8'));
  const addresses = ['10.1.0.1', '10.1.0.10'];
  assert.deepEqual(host.dead(), [{ node: 'a', addresses, tables: ['services-10.1.0.0/24'], stays: true }]);
});

test('a range without a record belongs to an older version, which uses fixed addresses in it', (t) => {
  const host = new Host(t);
  const [older, running] = ['10.1.0.0/24', '10.2.0.0/24'].map((range) => lockServiceRange(host.directory, range));
  t.after(running!);
  older!();
  const addresses = ['10.1.0.1', '10.1.0.10'];
  assert.deepEqual(host.dead(), [{ node: undefined, addresses, tables: [], stays: false }]);
});

test('nothing is removed for nodes in other network namespaces, and an unreadable record is removed', (t) => {
  const host = new Host(t);
  const a = host.claim('a', '10.1.0.0/24', { netns: 'net:[1]' });
  host.start(a)();
  assert.deepEqual(host.dead(), []);
  const place = placeOfNode(host.directory, 'b');
  lockDirectory(place, '')();
  assert.deepEqual(host.dead(), []);
  assert.ok(!readdirSync(host.directory).includes(basename(place)));
  assert.equal(readClaim(placeOfNode(host.directory, a.root))?.netns, 'net:[1]');
  rmSync(a.root, { recursive: true });
  assert.deepEqual(host.dead(), [{ node: 'a', addresses: [], tables: [], stays: false }]);
});
