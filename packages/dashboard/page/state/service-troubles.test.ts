import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, ServiceObject } from '../api/objects.ts';
import { serviceTroubles } from './service-troubles.ts';
import { type PodView, viewOf } from './trouble.ts';

const NOW = Date.parse('2026-01-01T01:00:00Z');
const OLD = '2026-01-01T00:00:00Z';

function viewOfPod(app: string, { isReady = true, created = OLD } = {}): PodView {
  const pod = {
    metadata: { name: `${app}-1`, namespace: 'store', uid: app, labels: { app }, creationTimestamp: created },
    spec: { containers: [{ name: 'main', image: 'i', ports: [{ name: 'http', containerPort: 8080 }] }] },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  } as unknown as Pod;
  return viewOf(pod, [], NOW);
}

const serviceOf = (name: string, targetPort = 8080, creationTimestamp = OLD): ServiceObject => ({
  metadata: { name, namespace: 'store', uid: name, creationTimestamp },
  spec: { selector: { app: name }, ports: [{ port: 80, targetPort }] },
});

const RECENT = '2026-01-01T00:59:30Z';

test('Services that cannot answer need attention, sorted by name', () => {
  const services = [serviceOf('shop', 8000), serviceOf('mail'), serviceOf('gone'), serviceOf('good')];
  const views = [viewOfPod('shop'), viewOfPod('mail', { isReady: false }), viewOfPod('good')];
  assert.deepEqual(
    serviceTroubles(services, views, NOW).map(({ object, finding }) => `${object.name}: ${finding.cause}`),
    ['gone: no-selected-pods', 'mail: no-ready-pods', 'shop: wrong-target-port'],
  );
});

test('new Services, and those whose pods are starting, do not need attention', () => {
  assert.deepEqual(serviceTroubles([serviceOf('new', 8080, RECENT)], [], NOW), []);
  const starting = viewOfPod('mail', { isReady: false, created: RECENT });
  assert.equal(starting.level, 'starting');
  assert.deepEqual(serviceTroubles([serviceOf('mail')], [starting], NOW), []);
});
