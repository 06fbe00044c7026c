import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Schema } from '@podwright/kube-schema';
import { AUTOMANAGED, localServices, type ServiceAction, type ServiceState, serviceAction } from './local-services.ts';

const schema = await Schema.load();
const apps = schema.resources.filter(({ group }) => group === 'apps');
const { object } = localServices({ builtIn: apps, custom: [], replaceable: [] }).get('v1.apps')!;

const current = (label: string | undefined, spec: object = object.spec as object) =>
  ({
    ...object,
    metadata: { name: 'v1.apps', labels: label === undefined ? {} : { [AUTOMANAGED]: label } },
    spec,
  }) as never;
const CHANGED = { ...(object.spec as object), versionPriority: 1 };
const FOREIGN = { ...(object.spec as object), service: { name: 'a', namespace: 'b' } };

const STATE = { current: undefined, desired: undefined, wasAtStart: false, isSynced: false, isTakenOver: false };

function check(expected: ServiceAction, ...states: Partial<ServiceState>[]): void {
  for (const state of states) assert.equal(serviceAction({ ...STATE, ...state }), expected, JSON.stringify(state));
}

test('an APIService synchronized at startup is created or restored once', () => {
  const desired = { object, management: 'onstart' } as const;
  check('create', { desired });
  check(undefined, { desired, isSynced: true });
  const atStart = { desired, wasAtStart: true };
  check('update', { ...atStart, current: current('onstart', CHANGED) }, { desired, current: current('true', CHANGED) });
  check(undefined, { ...atStart, current: current('onstart') }, { desired, current: current('onstart', CHANGED) });
  check(undefined, { ...atStart, current: current('onstart', CHANGED), isSynced: true });
  check(
    undefined,
    { ...atStart, current: current(undefined, CHANGED) },
    { ...atStart, current: current('x', CHANGED) },
  );
});

test('a continuously synchronized APIService is restored after each change', () => {
  const desired = { object, management: 'true' } as const;
  check('create', { desired }, { desired, isSynced: true });
  check('update', { desired, isSynced: true, current: current('true', CHANGED) });
  check(undefined, { desired, current: current('true', { ...(object.spec as object), caBundle: '' }) });
  check(undefined, { desired, current: current(undefined, CHANGED) });
});

test('an unneeded APIService is deleted if the server created it', () => {
  check('delete', { current: current('true') }, { current: current('onstart'), wasAtStart: true });
  check(undefined, {}, { current: current(undefined) }, { current: current('onstart') });
  check(undefined, { current: current('onstart'), wasAtStart: true, isSynced: true });
});

test('the APIService of a replaceable group does not exist while an extension API server serves the group', () => {
  const desired = { object, management: 'vacant' } as const;
  check('create', { desired });
  check(undefined, { desired, isSynced: true }, { desired, isTakenOver: true });
  check('delete', { desired, isTakenOver: true, current: current(undefined) });
  check(undefined, { desired, isTakenOver: true, current: current(undefined, FOREIGN) });
  check(undefined, { desired, current: current(undefined, CHANGED) });
});
