import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { type ServiceObject, serviceHealth } from './service-health.ts';

type Made = { app?: string; ports?: object[]; phase?: string; isReady?: boolean; namespace?: string };

const podOf = ({ app = 'shop', ports, phase = 'Running', isReady = true, namespace = 'storefront' }: Made): Pod =>
  ({
    metadata: { name: `${app}-x`, namespace, uid: app, labels: { app } },
    spec: { containers: [{ name: 'main', image: 'i', ports }] },
    status: { phase, conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  }) as unknown as Pod;

const serviceOf = (spec: object): ServiceObject => ({
  metadata: { name: 'shop', namespace: 'storefront', uid: 's' },
  spec: { selector: { app: 'shop' }, ports: [{ port: 80, targetPort: 8000 }], ...spec },
});

const declares = [{ name: 'http', containerPort: 8080 }];

test('a Service that cannot answer has a finding', () => {
  const check = (pods: Pod[], cause: string | undefined, spec: object = {}) =>
    assert.equal(serviceHealth(serviceOf(spec), pods)?.finding?.cause, cause, JSON.stringify({ pods, spec }));
  check([podOf({ app: 'other' }), podOf({ namespace: 'elsewhere' })], 'no-selected-pods');
  check([podOf({ isReady: false })], 'no-ready-pods');
  check([podOf({ phase: 'Succeeded' })], 'no-ready-pods');
  check([podOf({ isReady: false })], undefined, { publishNotReadyAddresses: true });
  check([podOf({ ports: declares })], 'wrong-target-port');
  check([podOf({ ports: declares })], undefined, { ports: [{ port: 80, targetPort: 'http' }] });
  check([podOf({ ports: declares })], undefined, { clusterIP: 'None' });
  check([podOf({})], undefined);
  check([podOf({})], 'wrong-target-port', { ports: [{ port: 80, targetPort: 'http' }] });
});

test('the sentence names the ports that the pods declare', () => {
  assert.equal(
    serviceHealth(serviceOf({}), [podOf({ ports: declares })])!.finding!.sentence,
    'port 80 leads to the target port 8000, and its pods declare only http (8080)',
  );
});

test('the endpoints of Services without a selector are not determined by pods', () => {
  assert.equal(serviceHealth(serviceOf({ selector: undefined }), []), undefined);
  assert.equal(serviceHealth(serviceOf({ selector: {} }), []), undefined);
  assert.equal(serviceHealth(serviceOf({ type: 'ExternalName' }), []), undefined);
});
