/** Somebody makes the node use more and more memory, so that the kernel kills others for it: the node is spared by its score. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const unit = readFileSync(new URL('../../contrib/podwright.service', import.meta.url), 'utf8');
const settings = new Map(
  unit
    .split('\n')
    .filter((line) => /^[A-Z]\w+=/.test(line))
    .map((line): [string, string] => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
);

test('a unit that spares the node bounds its memory, and a node killed for it takes no pod with it', () => {
  assert.equal(settings.get('OOMScoreAdjust'), '-999');
  assert.match(settings.get('MemoryMax') ?? 'none', /^\d+[MG]$/);
  const together = ['OOMPolicy', 'KillMode', 'Delegate', 'Restart'].map((name) => settings.get(name));
  assert.deepEqual(together, ['continue', 'process', 'yes', 'always']);
});

test('the unit has nothing that containers would inherit, or that would hide their mounts', () => {
  const inherited = ['NoNewPrivileges', 'SystemCallFilter', 'CapabilityBoundingSet', 'UMask', 'LockPersonality'];
  const hiding = ['PrivateTmp', 'PrivateMounts', 'ProtectSystem', 'ProtectHome', 'ProtectKernelTunables', 'MountFlags'];
  for (const name of [...inherited, ...hiding]) assert.equal(settings.get(name), undefined, name);
});
