import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isBridgeFiltered } from './bridge-filter.ts';

test('a bridge is filtered according to its own setting or the global one, if the kernel module is loaded', (context) => {
  const root = mkdtempSync(join(tmpdir(), 'bridge-filter-'));
  context.after(() => rmSync(root, { recursive: true }));
  const places = { allBridges: join(root, 'all'), links: join(root, 'links') };
  const own = join(places.links, 'br0/bridge');
  const check = (v4: boolean, v6: boolean) => {
    assert.equal(isBridgeFiltered('br0', 4, places), v4);
    assert.equal(isBridgeFiltered('br0', 6, places), v6);
  };
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, 'nf_call_iptables'), '1\n');
  check(false, false);
  mkdirSync(places.allBridges);
  check(true, false);
  writeFileSync(join(own, 'nf_call_iptables'), '0\n');
  writeFileSync(join(places.allBridges, 'bridge-nf-call-iptables'), '0\n');
  check(false, false);
  for (const name of ['iptables', 'ip6tables']) writeFileSync(join(places.allBridges, `bridge-nf-call-${name}`), '1\n');
  check(true, true);
  rmSync(places.links, { recursive: true });
  check(true, true);
});
