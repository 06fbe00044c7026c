import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OciSpec } from '@podwright/oci';
import type { ContainerRecord, ContainerState } from '../records/container-record.ts';
import { checkPidTarget } from './resolve-namespaces.ts';

const spec = { linux: { namespaces: [{ type: 'pid', path: '/proc/7/ns/pid' }] } } as OciSpec;
const record = (pid: object) => ({ sandboxId: 's', config: { security: { pid } } }) as unknown as ContainerRecord;

/**
 * Asserts that a container that joins its target container's PID namespace starts (or, if `allowed` is false, is rejected) while the target
 * is in `state`; `undefined` means that the target has been removed.
 */
function check(state: ContainerState | undefined, allowed: boolean) {
  const target = state === undefined ? undefined : ({ id: 'target', state } as ContainerRecord);
  const attempt = () => checkPidTarget(record({ mode: 'target', containerId: 'target' }), spec, { get: () => target });
  if (allowed) attempt();
  else assert.throws(attempt, { code: 'failed_precondition', message: /container target: it does not run/ });
}

test('a PID namespace is joined only if its process still belongs to the target container', () => {
  check({ phase: 'running', pid: 7, startedAtMs: 1 }, true);
  check({ phase: 'running', pid: 8, startedAtMs: 1 }, false);
  check({ phase: 'created' }, false);
  check(undefined, false);
});

test('no check takes place for a container without a target container', () => {
  const none = { get: () => assert.fail('looked up a target') };
  for (const mode of ['pod', 'container', 'node']) checkPidTarget(record({ mode }), spec, none);
});
