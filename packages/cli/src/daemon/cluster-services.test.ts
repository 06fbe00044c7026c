import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ClientNetworks } from '@podwright/dns';
import { configOfText } from '../settings/node-config.ts';
import { clientsOf, closeAll } from './cluster-services.ts';

test('pods of a CNI network with private IPv4 or IPv6 addresses are clients, other machines are not', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-cni-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const isClient = (address: string) => {
    const config = configOfText('', { file: undefined, flags: { cniConfDir: directory, subnet: '10.1.0.0/16' } });
    return new ClientNetworks(clientsOf(config)).has(address);
  };
  const addresses = ['10.1.0.5', '10.9.0.5', 'fd12:3456::5', '198.51.100.5', '2001:db8::5'];
  assert.deepEqual(addresses.map(isClient), [true, false, false, false, false]);
  writeFileSync(join(directory, '10-pods.conflist'), '{}');
  assert.deepEqual(addresses.map(isClient), [true, true, true, false, false]);
});

test('the addresses are removed even if the proxy cannot be stopped, but the record of its table is retained', async () => {
  const done: string[] = [];
  const part = (name: string, failure?: string) => ({
    stop: async (options?: { removeRules?: boolean }) => {
      done.push(`${name} ${options?.removeRules}`);
      if (failure !== undefined) throw new Error(failure);
    },
  });
  const rest = {
    dns: { close: async () => void done.push('dns') },
    addresses: { release: async ({ rulesStay }: { rulesStay: boolean }) => void done.push(`addresses ${rulesStay}`) },
  };
  const policies = part('policies');
  await assert.rejects(closeAll({ policies, proxy: part('proxy', 'no such table'), ...rest }, true), /no such table/);
  assert.deepEqual(done.splice(0), ['policies true', 'proxy true', 'dns', 'addresses true']);
  await closeAll({ policies, proxy: part('proxy'), ...rest }, true);
  assert.equal(done.splice(0).at(-1), 'addresses false');
  await closeAll({ policies, proxy: undefined, dns: undefined, addresses: rest.addresses }, false);
  assert.deepEqual(done, ['policies false', 'addresses true']);
});
