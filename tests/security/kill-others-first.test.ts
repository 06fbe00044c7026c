/**
 * An attacker makes the node use more and more memory, to get other processes killed by the kernel instead of the node, which has a low OOM
 * score.
 */
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

test('the unit protects the node from the OOM killer but limits its memory, and a killed node does not stop pods', () => {
  assert.equal(settings.get('OOMScoreAdjust'), '-999');
  assert.match(settings.get('MemoryMax') ?? 'none', /^\d+[MG]$/);
  const together = ['OOMPolicy', 'KillMode', 'Delegate', 'Restart'].map((name) => settings.get(name));
  assert.deepEqual(together, ['continue', 'process', 'yes', 'on-failure']);
});

test('the unit has no settings that containers would inherit, or that would hide their mounts', () => {
  const inherited = ['NoNewPrivileges', 'SystemCallFilter', 'CapabilityBoundingSet', 'UMask', 'LockPersonality'];
  const hiding = ['PrivateTmp', 'PrivateMounts', 'ProtectSystem', 'ProtectHome', 'ProtectKernelTunables', 'MountFlags'];
  for (const name of [...inherited, ...hiding]) assert.equal(settings.get(name), undefined, name);
});
