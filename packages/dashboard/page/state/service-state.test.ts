import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, ServiceObject } from '../api/objects.ts';
import { healthOf, stateOf } from './service-state.ts';

const pod = {
  metadata: { name: 'shop-1', namespace: 'store', uid: 'p', labels: { app: 'shop' } },
  spec: { containers: [{ name: 'main', image: 'i', ports: [{ name: 'http', containerPort: 8080 }] }] },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
} as unknown as Pod;

const serviceOf = (name: string, selector: Record<string, string> | undefined, targetPort: number): ServiceObject => ({
  metadata: { name, namespace: 'store', uid: name },
  spec: { selector, ports: [{ port: 80, targetPort }] },
});

test('each Service of a list has a state', () => {
  const services = [
    serviceOf('good', { app: 'shop' }, 8080),
    serviceOf('wrong', { app: 'shop' }, 8000),
    serviceOf('none', { app: 'shopp' }, 8080),
    serviceOf('manual', undefined, 8080),
  ];
  const health = healthOf(services, [pod]);
  assert.deepEqual(
    services.map(({ metadata }) => stateOf(health.get(metadata.uid!)).text),
    ['1 of 1 ready', 'wrong target port', 'no pods', '–'],
  );
  assert.match(stateOf(health.get('wrong')).reason!, /target port 8000/);
});
