import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SandboxConfig, SandboxRecord, SandboxState } from '../records/sandbox-record.ts';
import { decidePickUp } from './sandbox-pick-up.ts';

const config = {
  podName: 'web',
  podUid: 'u',
  podNamespace: 'default',
  attempt: 0,
  labels: { a: 'b' },
} as unknown as SandboxConfig;
const record = (state: SandboxState): SandboxRecord => ({ id: 'x', name: 'n', config, state, createdAtMs: 0, ips: [] });

function check(existing: SandboxRecord | undefined, wanted: SandboxConfig, kind: string) {
  assert.equal(decidePickUp(existing, wanted).kind, kind, existing?.state.phase);
}

test('a retry returns what the earlier call finished, and clears what it could not roll back', () => {
  check(undefined, config, 'create');
  check(record({ phase: 'ready' }), structuredClone(config), 'return');
  check(record({ phase: 'broken' }), config, 'clear');
  check(record({ phase: 'creating' }), config, 'clear');
});

test('a sandbox that was stopped, or is another one, keeps its name', () => {
  check(record({ phase: 'stopped' }), config, 'refuse');
  check(record({ phase: 'stopping' }), config, 'refuse');
  check(record({ phase: 'removing' }), config, 'refuse');
  check(record({ phase: 'ready' }), { ...config, labels: {} }, 'refuse');
});
