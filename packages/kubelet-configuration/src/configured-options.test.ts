import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completeConfiguration } from './complete-configuration.ts';
import { COMPOSED_OPTIONS } from './composed-options.ts';
import { configuredOptions } from './configured-options.ts';
import { FIELDS, type KubeletConfiguration } from './fields/field-table.ts';
import { configurableOptions } from './options/configurable-options.ts';

const OPTIONS = configurableOptions({ manifestDir: '/m', runtimeEndpoint: '/r', nodeName: 'n' });

function configured(fields: Partial<KubeletConfiguration>) {
  const configuration = { ...completeConfiguration(new Map()), ...fields };
  return configuredOptions(OPTIONS, configuration, (name) => Object.hasOwn(fields, name));
}

test('the fields marked as composing options match the composed options', () => {
  const composing = [...FIELDS].filter(([, { effect }]) => effect.kind === 'sets' && effect.composed !== undefined);
  const composed = new Set<string>(COMPOSED_OPTIONS.flatMap(({ fields }) => fields));
  assert.deepEqual(composing.map(([name]) => name).sort(), [...composed].sort());
});

test('only configured fields change options, and the given options are not modified', () => {
  const before = structuredClone(OPTIONS);
  assert.deepEqual(configured({}), OPTIONS);
  const changed = configured({ maxPods: 7, tlsCertFile: '/c' });
  const { server } = OPTIONS;
  assert.deepEqual(changed, { ...OPTIONS, maxPods: 7, server: { ...server, tls: { ...server.tls, certFile: '/c' } } });
  assert.deepEqual(OPTIONS, before);
});

test('fields that change the same option apply in order', () => {
  assert.deepEqual(configured({ kubeReserved: { cpu: '1', pid: '2' }, systemReserved: { cpu: '3' } }).systemReserved, {
    ...{ cpuMillis: 4000, pids: 2 },
    ...{ memoryBytes: 0, ephemeralStorageBytes: 0 },
  });
  assert.equal(configured({ cgroupsPerQOS: false, cgroupRoot: '/x' }).cgroupRoot, '');
  assert.equal(configured({ enableServer: false, port: 7 }).server.port, 0);
  assert.deepEqual(configured({ ignoreEvictionThreshold: true, evictionHard: { x: '1%' } }).node.evictionHard, {});
});
