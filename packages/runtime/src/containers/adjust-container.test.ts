import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ContainerAdjustmentSchema, create, type MessageInitShape } from '@podwright/nri';
import type { NriHooks } from '../nri/nri-hooks.ts';
import type { ContainerRecord } from '../records/container-record.ts';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import { adjustContainer } from './adjust-container.ts';
import type { ContainerSpecs } from './container-specs.ts';

/** Applies an adjustment on a host that supports all of its settings except `unsupported`. Returns the OCI spec's `linux` field. */
async function linuxOf(
  adjust: MessageInitShape<typeof ContainerAdjustmentSchema>,
  unsupported: string[] = [],
): Promise<Record<string, unknown>> {
  const nri = { containerCreating: async () => create(ContainerAdjustmentSchema, adjust) } as unknown as NriHooks;
  const specs = {
    unsupported: () => unsupported,
    withCdiDevices: async (spec: unknown) => spec,
    withLimits: (spec: unknown) => spec,
  } as unknown as ContainerSpecs;
  const record = { config: { name: 'main', resources: { unified: {} } } } as ContainerRecord;
  const made = { record, sandbox: {} as SandboxRecord };
  const { spec } = await adjustContainer({ nri, specs }, made, { process: {}, linux: {} } as never);
  return spec.linux as unknown as Record<string, unknown>;
}

test('an RDT class is the container’s CLOS, which plugins may complete or remove', async () => {
  const resources = { rdtClass: { value: 'gold' } };
  assert.deepEqual((await linuxOf({ linux: { resources } })).intelRdt, { closID: 'gold' });
  const schemata = { value: ['L3:0=f'] };
  const completed = await linuxOf({ linux: { resources, rdt: { schemata, enableMonitoring: { value: true } } } });
  assert.deepEqual(completed.intelRdt, { closID: 'gold', schemata: ['L3:0=f'], enableMonitoring: true });
  const renamed = await linuxOf({ linux: { resources, rdt: { closId: { value: 'silver' } } } });
  assert.deepEqual(renamed.intelRdt, { closID: 'silver' });
  assert.equal((await linuxOf({ linux: { resources, rdt: { remove: true } } })).intelRdt, undefined);
});

test('settings that the host does not support fail the creation and are named', async () => {
  await assert.rejects(linuxOf({ linux: {} }, ['RDT class', 'scheduler']), {
    code: 'failed_precondition',
    message: 'adjust container main: this host does not support RDT class, scheduler',
  });
});
