/** On a host with systemd, where each daemon it starts has a delegated cgroup, `make bench` leaves no units behind. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { delegateCgroup, delegatedUnit, discoverCgroups } from '@podwright/host';
import { leaveNothing } from '../../bench/leave-nothing.ts';
import { BRIDGE } from '../../bench/sides.ts';
import { unitsWith } from './systemd.fixture.ts';

test('the units of the bench are stopped with it', async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'podwright-bench-'));
  const unit = delegatedUnit(`/${BRIDGE}1`);
  await delegateCgroup(await discoverCgroups(), unit, silentLogger);
  assert.ok(unitsWith(BRIDGE).length > 0);
  await leaveNothing(scratch);
  assert.deepEqual(unitsWith(BRIDGE), []);
  assert.ok(!existsSync(`/sys/fs/cgroup/${unit}`));
});
