import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { rangeOf } from './address-range.ts';
import { AddressStore } from './address-store.ts';
import { parseSubnets } from './subnet.ts';

/** Calls `use` with an empty address store, a function that reserves one address per subnet for a sandbox ID, and the store's directory. */
function withStore(
  subnets: string,
  use: (store: AddressStore, reserve: (id: string) => string[] | undefined, directory: string) => void,
) {
  const parent = mkdtempSync(join(tmpdir(), 'podwright-addresses-'));
  try {
    const store = new AddressStore(parent, 'net');
    const ranges = parseSubnets(subnets).map(rangeOf);
    use(store, (id) => store.reserve(id, ranges), join(parent, 'net'));
  } finally {
    rmSync(parent, { recursive: true });
  }
}

test('addresses are assigned in turn, one per sandbox, and a released address is reused last', () => {
  withStore('10.88.0.0/29', (store, reserve) => {
    assert.deepEqual(['a', 'b', 'c'].map(reserve), [['10.88.0.2'], ['10.88.0.3'], ['10.88.0.4']]);
    store.release('b', ['10.88.0.3']);
    assert.deepEqual(['d', 'e', 'f'].map(reserve), [['10.88.0.5'], ['10.88.0.6'], ['10.88.0.3']]);
    assert.equal(reserve('g'), undefined);
    assert.deepEqual(store.held().get('f'), ['10.88.0.3']);
  });
});

test('files have the format of the host-local plugin, and its addresses are not reassigned', () => {
  withStore('10.88.0.0/29', (store, reserve, directory) => {
    mkdirSync(directory);
    writeFileSync(join(directory, '10.88.0.4'), 'theirs\r\neth0');
    writeFileSync(join(directory, 'last_reserved_ip.0'), '10.88.0.3');
    assert.deepEqual(reserve('ours'), ['10.88.0.5']);
    assert.equal(readFileSync(join(directory, '10.88.0.5'), 'utf8'), 'ours\r\neth0');
    assert.equal(readFileSync(join(directory, 'last_reserved_ip.0'), 'utf8'), '10.88.0.5');
    assert.deepEqual([...store.held().keys()], ['theirs', 'ours']);
  });
});

test('in dual-stack a pod gets addresses at the same offset in both families, if free', () => {
  withStore('10.88.0.0/24,fd00:88::/64', (_store, reserve, directory) => {
    mkdirSync(directory);
    writeFileSync(join(directory, 'last_reserved_ip.0'), '10.88.0.6');
    writeFileSync(join(directory, 'fd00:88::8'), 'theirs\r\neth0');
    assert.deepEqual(reserve('a'), ['10.88.0.7', 'fd00:88::7']);
    assert.deepEqual(reserve('b'), ['10.88.0.8', 'fd00:88::9']);
    assert.deepEqual(reserve('c'), ['10.88.0.9', 'fd00:88::a']);
  });
});

test('if one family is exhausted, no address of the other is reserved', () => {
  withStore('10.88.0.0/24,fd00:88::/126', (store, reserve) => {
    assert.deepEqual(
      [reserve('a'), reserve('b')].map((given) => given?.[1]),
      ['fd00:88::2', 'fd00:88::3'],
    );
    assert.equal(reserve('c'), undefined);
    assert.equal(store.held().has('c'), false);
  });
});

test('only the holder can release an address, and files without a holder are removed', () => {
  withStore('10.88.0.0/29', (store, reserve, directory) => {
    reserve('a');
    store.release('b', ['10.88.0.2']);
    writeFileSync(join(directory, '10.88.0.3'), '');
    store.removeUnfinished();
    assert.deepEqual(readdirSync(directory), ['10.88.0.2', 'last_reserved_ip.0']);
  });
});

test('a sandbox whose reservation failed midway holds no address', () => {
  withStore('10.88.0.0/29,fd00:88::/64', (store, reserve, directory) => {
    mkdirSync(join(directory, 'last_reserved_ip.1'), { recursive: true }); // like a full file system: the file cannot be written
    assert.throws(() => reserve('a'), { code: 'EISDIR' });
    assert.deepEqual(store.held(), new Map());
  });
});
