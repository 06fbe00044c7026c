/** The life cycle of an object: all verbs of its resource. */
import type { Case } from './cases.ts';
import { copyOf, type Json } from './json.ts';
import type { Transcript } from './transcript.ts';
import type { Sample } from './valid-objects.ts';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const PARTIAL = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json';

export const caseName = (verb: string, { resource, object }: Sample): string =>
  `${verb} ${resource.replace(/\/namespaces\/[^/]+/, '')}/${object.metadata.name}`;

/** Creates the object, after deleting any left by an earlier run. */
export async function fresh(api: Transcript, { resource, object }: Sample): Promise<Json> {
  const path = `${resource}/${object.metadata.name}`;
  await api.send('PATCH', path, '{"metadata":{"finalizers":null}}', {
    type: 'application/merge-patch+json',
    quiet: true,
  });
  await api.send('DELETE', path, { gracePeriodSeconds: 0, propagationPolicy: 'Background' }, { quiet: true });
  return (await api.send('POST', resource, object, { quiet: true })).body;
}

const withMetadata = (object: Json, metadata: Json): Json => {
  const copy = copyOf(object);
  Object.assign(copy.metadata, metadata);
  return copy;
};

export const lifeCycle = (sample: Sample): Case => ({
  name: caseName('life cycle', sample),
  run: async (api) => {
    const { resource, object } = sample;
    const path = `${resource}/${object.metadata.name}`;
    await fresh(api, sample);
    await api.send('DELETE', path, { gracePeriodSeconds: 0 }, { quiet: true });
    await api.get(path);
    await api.post(`${resource}?dryRun=All`, object);
    await api.post(`${resource}?dryRun=Wrong`, object);
    const { body: created } = await api.post(`${resource}?fieldManager=maker`, object);
    await api.post(resource, object);
    await reads(api, path, resource);
    await updates(api, path, created);
    await patches(api, path, sample);
    await applies(api, path, sample);
    await statusWrites(api, path);
    await deletions(api, path);
  },
});

async function reads(api: Transcript, path: string, resource: string): Promise<void> {
  for (const accept of ['application/json', TABLE, PARTIAL, 'text/plain', 'application/yaml']) {
    await api.get(path, { accept });
    await api.get(`${resource}?fieldSelector=metadata.name=${path.split('/').at(-1)}`, { accept });
  }
  await api.get(`${path}?includeObject=Object`, { accept: TABLE });
  await api.get(
    `${resource}?watch=1&timeoutSeconds=1&resourceVersion=0&fieldSelector=metadata.name=${path.split('/').at(-1)}`,
  );
}

async function updates(api: Transcript, path: string, created: Json): Promise<void> {
  await api.put(path, created);
  await api.put(
    `${path}?fieldManager=updater`,
    withMetadata(created, { labels: { ...created.metadata?.labels, tier: 'front' } }),
  );
  await api.put(path, withMetadata(created, { resourceVersion: '1' }));
  await api.put(path, withMetadata(created, { resourceVersion: 'x' }));
  await api.put(path, withMetadata(created, { resourceVersion: undefined, annotations: { b: 'c' } }));
  await api.put(
    path,
    withMetadata(created, { uid: '11111111-2222-3333-4444-555555555555', resourceVersion: undefined }),
  );
  await api.put(path, withMetadata(created, { name: 'other' }));
  await api.put(path, withMetadata(created, { namespace: 'other' }));
  await api.put(path, { ...created, kind: 'Other' });
  await api.put(
    `${path}-missing`,
    withMetadata(created, { name: `${created.metadata?.name}-missing`, resourceVersion: undefined, uid: undefined }),
  );
}

async function patches(api: Transcript, path: string, { object }: Sample): Promise<void> {
  await api.patch(path, 'merge', { metadata: { labels: { merged: 'yes' } } });
  await api.patch(path, 'strategic-merge', {
    metadata: { labels: { strategic: 'yes', merged: null }, finalizers: ['example.com/f'] },
  });
  await api.patch(path, 'strategic-merge', { metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/f'] } });
  await api.patch(path, 'json', [{ op: 'add', path: '/metadata/labels/json', value: 'yes' }]);
  await api.patch(path, 'json', [{ op: 'test', path: '/metadata/labels/json', value: 'no' }]);
  await api.patch(path, 'json', [{ op: 'remove', path: '/metadata/nothing' }]);
  await api.patch(path, 'json', [{ op: 'wrong', path: '/metadata/nothing' }]);
  await api.patch(path, 'json', '{"a":');
  await api.patch(path, 'merge', '{"a":');
  await api.patch(path, 'merge', '[]');
  await api.patch(path, 'strategic-merge', '[]');
  await api.patch(`${path}?fieldValidation=Strict`, 'merge', { unknownField: 1 });
  await api.patch(`${path}?fieldValidation=Warn`, 'merge', { unknownField: 1 });
  await api.patch(path, 'merge', { metadata: { labels: 7 } });
  await api.patch(path, 'merge', { metadata: { name: 'other' } });
  await api.patch(path, 'merge', { apiVersion: 'other/v1' });
  await api.patch(`${path}?force=true`, 'merge', {});
  await api.patch(`${path}-missing`, 'merge', { metadata: { labels: { a: 'b' } } });
  await api.send('PATCH', path, '{}', { type: 'application/json' });
  await api.patch(path, 'merge', { metadata: { resourceVersion: '1' } });
  await api.patch(path, 'merge', { metadata: { annotations: { ...object.metadata.annotations, merged: 'yes' } } });
}

async function applies(api: Transcript, path: string, { object }: Sample): Promise<void> {
  await api.patch(path, 'apply', object);
  await api.patch(`${path}?fieldManager=one`, 'apply', object);
  await api.patch(`${path}?fieldManager=one&force=true`, 'apply', object);
  await api.patch(
    `${path}?fieldManager=one`,
    'apply',
    withMetadata(object, { labels: { ...object.metadata.labels, owner: 'one' } }),
  );
  await api.patch(
    `${path}?fieldManager=two`,
    'apply',
    withMetadata(object, { labels: { ...object.metadata.labels, owner: 'two' } }),
  );
  await api.patch(
    `${path}?fieldManager=two&force=true`,
    'apply',
    withMetadata(object, { labels: { ...object.metadata.labels, owner: 'two' } }),
  );
  const { apiVersion, kind, metadata } = object;
  const bare = { apiVersion, kind, metadata: { name: metadata.name, namespace: metadata.namespace } };
  await api.patch(`${path}?fieldManager=two`, 'apply', bare);
  await api.patch(`${path}?fieldManager=one`, 'apply', { kind, metadata: bare.metadata });
  await api.patch(`${path}?fieldManager=one`, 'apply', {
    ...bare,
    metadata: { ...bare.metadata, managedFields: [{ manager: 'x' }] },
  });
  await api.patch(`${path}?fieldManager=one`, 'apply', 'a: b: c');
  await api.patch(`${path}?fieldManager=one`, 'apply', { ...bare, unknownField: 1 });
  await api.patch(`${path}?fieldManager=${'x'.repeat(200)}`, 'apply', bare);
  await api.patch(`${path}?fieldManager=one&dryRun=All`, 'apply', bare);
  const applied = { ...object, metadata: { ...object.metadata, name: `${metadata.name}-applied` } };
  await api.patch(`${path}-applied?fieldManager=one&dryRun=All`, 'apply', applied);
}

async function statusWrites(api: Transcript, path: string): Promise<void> {
  const { body, status } = await api.get(`${path}/status`);
  if (status !== 200) return;
  await api.put(`${path}/status`, withMetadata(body, { labels: { status: 'yes' } }));
  const conditions = [
    { type: 'Ready', status: 'True', reason: 'Tried', message: 'm', lastTransitionTime: '2026-01-01T00:00:00Z' },
  ];
  await api.patch(`${path}/status`, 'merge', { status: { conditions } });
  await api.patch(`${path}/status`, 'strategic-merge', {
    status: { conditions: [{ ...conditions[0], status: 'Odd' }] },
  });
  await api.patch(`${path}/status?fieldManager=s`, 'apply', {
    apiVersion: body.apiVersion,
    kind: body.kind,
    status: { conditions },
  });
  await api.get(path);
}

async function deletions(api: Transcript, path: string): Promise<void> {
  await api.delete(path, { preconditions: { uid: '11111111-2222-3333-4444-555555555555' } });
  await api.delete(path, { preconditions: { resourceVersion: '1' } });
  await api.delete(path, { propagationPolicy: 'Wrong' });
  await api.delete(path, { propagationPolicy: 'Orphan', orphanDependents: true });
  await api.delete(path, { gracePeriodSeconds: -1, dryRun: ['All'] });
  await api.delete(`${path}?dryRun=All`);
  await api.delete(path, { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['Some'] });
  await api.delete(path, { propagationPolicy: 'Foreground', dryRun: ['All'] });
  await api.patch(path, 'merge', { metadata: { finalizers: ['example.com/f'] } });
  await api.delete(path, { propagationPolicy: 'Background' });
  await api.get(path);
  await api.patch(path, 'merge', { metadata: { finalizers: ['example.com/f', 'example.com/g'] } });
  await api.patch(path, 'merge', { metadata: { finalizers: null } });
  await api.delete(path, { gracePeriodSeconds: 0 });
  await api.get(path);
}
