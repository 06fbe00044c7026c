import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject, Pod } from '@podwright/kube-api';
import type { ViewReader } from '../view-reader.ts';
import { configEdit, lastEdit } from './config-edit.ts';

const CREATED = '2026-01-01T00:00:00Z';

function configMapOf(name: string, ...times: [time: string, field: string][]): KubeObject {
  const managedFields = times.map(([time, field]) => ({ manager: 'kubectl-edit', time, fieldsV1: { [field]: {} } }));
  return { metadata: { name, creationTimestamp: CREATED, ...{ managedFields } } };
}

test('the last change to the data after creation is an edit', () => {
  const edited = configMapOf(
    'a',
    [CREATED, 'f:data'],
    ['2026-01-01T03:00:00Z', 'f:data'],
    ['2026-01-01T02:00:00Z', 'f:data'],
    ['2026-01-01T04:00:00Z', 'f:metadata'],
  );
  const text = 'ConfigMap a was edited at 2026-01-01T03:00:00Z by kubectl-edit';
  assert.deepEqual(lastEdit(edited), { at: '2026-01-01T03:00:00Z', text });
  assert.equal(lastEdit(configMapOf('a', [CREATED, 'f:data'])), undefined);
  assert.equal(lastEdit(undefined), undefined);
});

test('edits long before the pod was created are not considered the cause', async () => {
  const maps: Record<string, KubeObject> = {
    old: configMapOf('old', ['2026-01-01T01:00:00Z', 'f:data']),
    young: configMapOf('young', ['2026-01-01T04:30:00Z', 'f:data']),
  };
  const reader = { get: async (_resource: object, _namespace: string, name: string) => maps[name] };
  const edit = (created: string, ...names: string[]) => {
    const volumes = names.map((name) => ({ name, configMap: { name } }));
    const metadata = { name: 'p', namespace: 'default', uid: 'u', creationTimestamp: created };
    const pod = { metadata, spec: { containers: [], volumes } } as unknown as Pod;
    return configEdit(reader as unknown as ViewReader, pod);
  };
  assert.match((await edit('2026-01-01T05:00:00Z', 'old', 'young', 'absent'))!.text, /^ConfigMap young /);
  assert.equal(await edit('2026-01-01T05:00:00Z', 'old'), undefined);
  assert.match((await edit('2026-01-01T01:30:00Z', 'old'))!.text, /^ConfigMap old /);
});
