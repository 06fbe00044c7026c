import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { HostLookup } from './host-lookup.ts';

const directory = mkdtempSync(join(tmpdir(), 'host-lookup-'));
const hosts = join(directory, 'hosts');
after(() => rmSync(directory, { recursive: true }));

/** A name service that hangs until `answer` is called. */
function hangingService(): { resolve: () => Promise<LookupAddress[]>; answer: () => void; calls: () => number } {
  const { promise, resolve } = Promise.withResolvers<LookupAddress[]>();
  let calls = 0;
  return {
    resolve: () => {
      calls++;
      return promise;
    },
    answer: () => resolve([{ address: '192.0.2.7', family: 4 }]),
    calls: () => calls,
  };
}

test('localhost and names in /etc/hosts resolve even if the name servers do not respond', async () => {
  writeFileSync(hosts, '# comment\n192.0.2.1 Registry.example alias # more\n2001:db8::1 alias\n');
  const service = hangingService();
  const lookups = new HostLookup({ hosts, resolve: service.resolve });
  const slow = lookups.addresses('slow.example');
  const addresses = async (name: string, family?: number) =>
    (await lookups.addresses(name, { family })).map(({ address }) => address);
  assert.deepEqual(await addresses('localhost'), ['::1', '127.0.0.1']);
  assert.deepEqual(await addresses('localhost', 4), ['127.0.0.1']);
  assert.deepEqual(await addresses('registry.EXAMPLE'), ['192.0.2.1']);
  assert.deepEqual(await addresses('alias'), ['192.0.2.1', '2001:db8::1']);
  writeFileSync(hosts, '192.0.2.22 registry.example\n127.0.0.2 localhost\n');
  assert.deepEqual(await addresses('registry.example'), ['192.0.2.22']);
  assert.deepEqual(await addresses('localhost'), ['127.0.0.2']);
  service.answer();
  assert.deepEqual(await slow, [{ address: '192.0.2.7', family: 4 }]);
});

test('names are looked up one at a time, and a lookup that waits too long fails', async () => {
  const service = hangingService();
  const lookups = new HostLookup({ hosts: join(directory, 'none'), resolve: service.resolve, queueTimeoutMs: 20 });
  const first = lookups.addresses('a.example');
  await assert.rejects(lookups.addresses('b.example'), {
    code: 'EAI_AGAIN',
    message: 'getaddrinfo EAI_AGAIN b.example: lookups of other names take too long',
  });
  assert.equal(service.calls(), 1);
  service.answer();
  await first;
  await lookups.addresses('b.example');
  assert.equal(service.calls(), 2);
});

test('concurrent lookups of the same name are shared', async () => {
  const service = hangingService();
  const lookups = new HostLookup({ hosts: '/nonexistent', resolve: service.resolve, queueTimeoutMs: 50 });
  const found = [1, 2, 3].map(() => lookups.addresses('slow.example'));
  await setTimeout(100);
  service.answer();
  assert.deepEqual(
    await Promise.all(found),
    [1, 2, 3].map(() => [{ address: '192.0.2.7', family: 4 }]),
  );
  assert.equal(service.calls(), 1);
  await lookups.addresses('slow.example');
  assert.equal(service.calls(), 2);
});

test('the callback receives one address, all of them, or the error', async () => {
  writeFileSync(hosts, '192.0.2.1 one.example\n');
  const resolve = async () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }));
  const { lookup } = new HostLookup({ hosts, resolve });
  const call = (name: string, all: boolean) =>
    new Promise((done) => lookup(name, { all }, (...results) => done(results)));
  assert.deepEqual(await call('one.example', false), [null, '192.0.2.1', 4]);
  assert.deepEqual(await call('one.example', true), [null, [{ address: '192.0.2.1', family: 4 }]]);
  const [error] = (await call('two.example', true)) as [NodeJS.ErrnoException];
  assert.equal(error.code, 'ENOTFOUND');
});
