import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import {
  decodeManifest,
  type ExistingPod,
  LocalObjects,
  type PodSourceName,
  type PodUpdate,
} from '@podwright/kube-api';
import { PodConfig } from './pod-config.ts';

const podText = (name: string, fields: { image?: string; uid?: string } = {}) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, uid: fields.uid },
    spec: { containers: [{ name: 'a', image: fields.image ?? 'b' }] },
  });
const configMapText = (data: string) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { data } });

const snapshot = (files: Record<string, string>) => {
  const decoded = Object.entries(files).map(([file, text]) => decodeManifest(text, { file }));
  return {
    objects: decoded.flatMap(({ objects }) => objects),
    errors: decoded.flatMap(({ errors }) => errors),
    warnings: decoded.flatMap(({ leftOut }) => leftOut),
  };
};

function newConfig(sources: PodSourceName[] = ['file'], running: ExistingPod[] = [], logger = silentLogger) {
  const objects = new LocalObjects();
  const config = new PodConfig({
    sources,
    nodeName: 'node',
    objects,
    runningPods: () => running,
    logger,
  });
  const seen: string[] = [];
  config.onUpdate(({ operation, pods }: PodUpdate) => {
    seen.push(`${operation} ${pods.map(({ metadata }) => metadata.name).join(' ')}`);
  });
  const take = () => seen.splice(0);
  return { config, objects, take };
}

test('pods are added, removed, and updated in place by UID', () => {
  const { config, take } = newConfig();
  config.set('file', snapshot({ 'a.yaml': podText('a', { uid: 'u1' }), 'b.yaml': podText('b') }));
  assert.deepEqual(take(), ['ADD a b']);
  config.set('file', snapshot({ 'a.yaml': podText('a', { uid: 'u1' }), 'b.yaml': podText('b') }));
  assert.deepEqual(take(), []);
  config.set('file', snapshot({ 'a.yaml': podText('a', { uid: 'u1', image: 'c' }) }));
  assert.deepEqual(take(), ['REMOVE b', 'UPDATE a']);
});

test('a pod with a UID is replaced if its QoS class changes, and updated if a resize keeps its class', () => {
  const { config, take } = newConfig();
  const set = (resources: object) => {
    const pod = JSON.parse(podText('a', { uid: 'u' })) as { spec: { containers: object[] } };
    Object.assign(pod.spec.containers[0]!, { resources });
    config.set('file', snapshot({ 'a.yaml': JSON.stringify(pod) }));
    return take();
  };
  assert.deepEqual(set({ requests: { cpu: '20m' } }), ['ADD a']);
  assert.deepEqual(set({ requests: { cpu: '30m' } }), ['UPDATE a']);
  assert.deepEqual(set({}), ['REMOVE a', 'ADD a']);
});

test('a changed pod without a UID in its manifest is a new pod, and the old one is removed first', () => {
  const { config, take } = newConfig();
  config.set('file', snapshot({ 'a.yaml': podText('a') }));
  const [before] = config.pods();
  config.set('file', snapshot({ 'a.yaml': podText('a', { image: 'c' }) }));
  assert.deepEqual(take(), ['ADD a', 'REMOVE a', 'ADD a']);
  assert.notEqual(config.pods()[0]?.metadata.uid, before?.metadata.uid);
  config.set('file', snapshot({ 'a.yaml': podText('a') }));
  assert.equal(config.pods()[0]?.metadata.uid, before?.metadata.uid);
});

test('a pod has its source, file and node in its annotations and spec', () => {
  const { config } = newConfig();
  config.set('file', snapshot({ '/m/a.yaml': podText('a') }));
  const pod = config.pods()[0]!;
  assert.match(pod.metadata.uid, /^[0-9a-f]{32}$/);
  assert.equal(pod.spec.nodeName, 'node');
  const {
    'kubernetes.io/config.seen': seen,
    'podwright.dev/config.content': content,
    ...annotations
  } = pod.metadata.annotations!;
  assert.match(content!, /^[0-9a-f]{32}$/);
  assert.match(seen!, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/);
  assert.deepEqual(annotations, {
    'kubernetes.io/config.hash': pod.metadata.uid,
    'kubernetes.io/config.source': 'file',
    'podwright.dev/config.file': '/m/a.yaml',
  });
  config.set('file', snapshot({ '/m/a.yaml': podText('a', { uid: 'u' }) }));
  assert.equal(config.pods()[0]!.metadata.annotations!['kubernetes.io/config.hash'], 'u');
});

test('a resized pod without a UID in its manifest keeps its UID, but its content hash changes', () => {
  const { config, take } = newConfig();
  const set = (cpu: string) => {
    const pod = JSON.parse(podText('a')) as { spec: { containers: object[] } };
    Object.assign(pod.spec.containers[0]!, { resources: { requests: { cpu } } });
    config.set('file', snapshot({ 'a.yaml': JSON.stringify(pod) }));
    const { uid, annotations } = config.pods()[0]!.metadata;
    return [take(), uid, annotations!['kubernetes.io/config.hash'], annotations!['podwright.dev/config.content']];
  };
  const [added, uid, hash, content] = set('20m');
  const [resized, ...after] = set('30m');
  assert.deepEqual([added, resized], [['ADD a'], ['UPDATE a']]);
  assert.deepEqual(after.slice(0, 2), [uid, hash]);
  assert.notEqual(after[2], content);
});

test('an updated pod keeps its config.seen time', () => {
  const { config } = newConfig();
  const seen = () => config.pods()[0]!.metadata.annotations!['kubernetes.io/config.seen'];
  mock.timers.enable({ apis: ['Date'], now: 1000 });
  try {
    config.set('file', snapshot({ 'a.yaml': podText('a', { uid: 'u' }) }));
    mock.timers.tick(5000);
    config.set('file', snapshot({ 'a.yaml': podText('a', { uid: 'u', image: 'c' }) }));
    assert.equal(seen(), '1970-01-01T00:00:01.000000000Z');
    config.set('file', snapshot({ 'a.yaml': podText('a', { uid: 'v' }) }));
    assert.equal(seen(), '1970-01-01T00:00:06.000000000Z');
  } finally {
    mock.timers.reset();
  }
});

const classed = (spec: object) =>
  JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } },
    spec: { containers: [{ name: 'a', image: 'b' }], runtimeClassName: 'kata', ...spec },
  });
const kata = (more: object) =>
  JSON.stringify({
    ...{ apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name: 'kata' }, handler: 'kata' },
    ...more,
  });

test('a pod gets the overhead and scheduling of its RuntimeClass, even if the class is added later', () => {
  const { config, take } = newConfig();
  const toleration = { key: 'kata', operator: 'Exists' };
  const own = { nodeSelector: { disk: 'ssd' }, tolerations: [toleration] };
  config.set('file', snapshot({ 'a.yaml': classed(own) }));
  assert.equal(config.pods()[0]!.spec.overhead, undefined);
  const scheduling = { nodeSelector: { vm: 'yes' }, tolerations: [toleration, { key: 'x', operator: 'Exists' }] };
  const overhead = { podFixed: { cpu: '250m', memory: '120Mi' } };
  config.set('file', snapshot({ 'a.yaml': classed(own), 'k.yaml': kata({ overhead, scheduling }) }));
  assert.deepEqual(take(), ['ADD a', 'UPDATE a']);
  const { spec } = config.pods()[0]!;
  assert.deepEqual(spec.overhead, { cpu: '250m', memory: '120Mi' });
  assert.deepEqual(spec.nodeSelector, { disk: 'ssd', vm: 'yes' });
  const everyNode = { operator: 'Exists', effect: 'NoExecute' };
  assert.deepEqual(spec.tolerations, [toleration, everyNode, scheduling.tolerations[1]]);
  config.set('file', snapshot({ 'a.yaml': classed(own), 'k.yaml': kata({ overhead, scheduling }) }));
  assert.deepEqual(take(), [], 'no update without a change');
});

test('a pod that conflicts with its RuntimeClass is an error', () => {
  const check = (spec: object, runtimeClass: object, expected: string[]) => {
    const { config } = newConfig();
    config.set('file', snapshot({ 'a.yaml': classed(spec), 'k.yaml': kata(runtimeClass) }));
    assert.deepEqual(config.errors().map(String), expected);
    assert.equal(config.pods().length, expected.length === 0 ? 1 : 0);
  };
  const overhead = { podFixed: { cpu: '250m' } };
  const different =
    'a.yaml:1:1: spec.overhead: Pod\'s Overhead doesn\'t match the one that RuntimeClass "kata" defines; leave it out';
  check({ overhead: { cpu: '0.25' } }, { overhead }, []);
  check({ overhead: { cpu: '300m' } }, { overhead }, [different]);
  check({ overhead: { cpu: '250m', memory: '1Mi' } }, { overhead }, [different]);
  check({ overhead: { cpu: '250m' } }, {}, [different]);
  const selects = (vm: string) => ({ scheduling: { nodeSelector: { vm } } });
  check({ nodeSelector: { vm: 'yes' } }, selects('yes'), []);
  check({ nodeSelector: { vm: 'no' } }, selects('yes'), [
    'a.yaml:1:1: spec.nodeSelector: vm is no, and yes in RuntimeClass "kata"',
  ]);
});

test('the second pod with the same name or UID is an error that names both locations', () => {
  const { config, take } = newConfig(['file', 'http']);
  config.set(
    'file',
    snapshot({ 'a.yaml': podText('a', { uid: 'u' }), 'b.yaml': podText('a'), 'c.yaml': podText('c', { uid: 'u' }) }),
  );
  config.set('http', snapshot({ 'http://x': podText('a') }));
  assert.deepEqual(take(), ['ADD a']);
  assert.deepEqual(config.errors().map(String), [
    'b.yaml:1:1: metadata.name: Pod default/a is already defined at a.yaml:1:1',
    'http://x:1:1: metadata.name: Pod default/a is already defined at a.yaml:1:1',
    'c.yaml:1:1: metadata.uid: UID u is already that of pod default/a; leave it out',
  ]);
});

const fileOf = (config: PodConfig) =>
  config.pods().map(({ metadata }) => metadata.annotations?.['podwright.dev/config.file']);

test('a pod keeps its name and UID, regardless of the names of other pods’ files', () => {
  const { config, take } = newConfig(['file', 'http']);
  config.set('file', snapshot({ 'b.yaml': podText('b', { uid: 'u' }) }));
  config.set('http', snapshot({}));
  const thieves = { '1.yaml': podText('thief', { uid: 'u' }), '2.yaml': podText('b', { uid: 'u', image: 'c' }) };
  config.set('file', snapshot({ ...thieves, 'b.yaml': podText('b', { uid: 'u' }) }));
  assert.deepEqual(take(), ['ADD b']);
  assert.deepEqual(config.errors().map(String), [
    '2.yaml:1:1: metadata.name: Pod default/b is already defined at b.yaml:1:1',
    '1.yaml:1:1: metadata.uid: UID u is already that of pod default/b; leave it out',
  ]);
  // An edited manifest counts as the same manifest, even if its UID changes.
  config.set('file', snapshot({ ...thieves, 'b.yaml': podText('b', { uid: 'v' }) }));
  assert.deepEqual(take(), ['REMOVE b', 'ADD b thief']);
  // But an edit must not claim another pod's UID.
  config.set('file', snapshot({ '1.yaml': podText('thief', { uid: 'v' }), 'b.yaml': podText('b', { uid: 'v' }) }));
  assert.deepEqual(take(), ['REMOVE thief']);
});

test('after a restart the pods in the runtime keep their names and UIDs', () => {
  const running = [{ uid: 'u', namespace: 'default', name: 'b', file: 'b.yaml' }];
  const thieves = { '1.yaml': podText('thief', { uid: 'u' }), '2.yaml': podText('b', { uid: 'u', image: 'c' }) };
  const first = newConfig(['file'], running).config;
  first.set('file', snapshot({ ...thieves, 'b.yaml': podText('b', { uid: 'u' }) }));
  assert.deepEqual(fileOf(first), ['b.yaml']);
  const edited = newConfig(['file'], running).config;
  edited.set('file', snapshot({ '2.yaml': thieves['2.yaml'], 'b.yaml': podText('b', { uid: 'v' }) }));
  assert.deepEqual(fileOf(edited), ['b.yaml']);
});

test('until all sources have been read no other pod gets a UID used in the runtime', () => {
  const running = [{ uid: 'u', namespace: 'default', name: 'b', file: 'http://x' }];
  const { config, take } = newConfig(['file', 'http'], running);
  config.set('file', snapshot({ '1.yaml': podText('thief', { uid: 'u' }) }));
  assert.deepEqual(take(), []);
  config.set('http', snapshot({ 'http://x': podText('b', { uid: 'u' }) }));
  assert.deepEqual(take(), ['ADD b']);
  config.set('http', snapshot({}));
  assert.deepEqual(take(), ['REMOVE b', 'ADD thief']);
});

test('ConfigMaps are stored before pods are reported, and changes to them are reported', () => {
  const { config, objects } = newConfig();
  const events: string[] = [];
  objects.onChange(({ kind, name, object }) =>
    events.push(`${kind} ${name} ${object === undefined ? 'removed' : 'set'}`),
  );
  config.onUpdate(() => events.push(`pods, config map ${objects.get('ConfigMap', 'default', 'c')?.data?.data}`));
  config.set('file', snapshot({ 'a.yaml': podText('a'), 'c.yaml': configMapText('1') }));
  config.set('file', snapshot({ 'a.yaml': podText('a'), 'c.yaml': configMapText('1') }));
  config.set('file', snapshot({ 'a.yaml': podText('a'), 'c.yaml': configMapText('2') }));
  config.set('file', snapshot({ 'a.yaml': podText('a') }));
  assert.deepEqual(events, ['ConfigMap c set', 'pods, config map 1', 'ConfigMap c set', 'ConfigMap c removed']);
});

test('a late listener first gets an ADD of the existing pods', () => {
  const { config } = newConfig(['file', 'http']);
  config.set('file', snapshot({ 'a.yaml': podText('a') }));
  config.set('http', snapshot({}));
  const updates: PodUpdate[] = [];
  config.onUpdate((update) => updates.push(update))();
  assert.deepEqual(
    updates.map(({ operation, source, pods }) => [operation, source, pods.length]),
    [['ADD', 'file', 1]],
  );
});

test('a change to an immutable ConfigMap is an error until its manifest is removed', () => {
  const { config, objects } = newConfig();
  const text = (data: string) => configMapText(data).replace('"data":', '"immutable":true,"data":');
  const data = () => objects.get('ConfigMap', 'default', 'c')?.data;
  config.set('file', snapshot({ 'c.yaml': text('1') }));
  config.set('file', snapshot({ 'c.yaml': text('2') }));
  assert.deepEqual(data(), { data: '1' });
  assert.deepEqual(config.errors().map(String), [
    'c.yaml:1:1: data: Forbidden: field is immutable when `immutable` is set; the ConfigMap stays as it was until it is deleted',
  ]);
  config.set('file', snapshot({}));
  config.set('file', snapshot({ 'c.yaml': text('2') }));
  assert.deepEqual([data(), config.errors()], [{ data: '2' }, []]);
});

test('skipped objects and ignored fields are logged once, with their position', () => {
  const lines: string[] = [];
  const logger = { ...silentLogger, warn: (_fields: unknown, line: string) => void lines.push(line) };
  const { config } = newConfig(['file'], [], logger as typeof silentLogger);
  const service = JSON.stringify({ apiVersion: 'v1', kind: 'Service', metadata: { name: 's' } });
  const files = { 'a.yaml': `${podText('a').replace('"spec":{', '"spec":{"nodeName":"there",')}\n---\n${service}` };
  config.set('file', snapshot(files));
  config.set('file', snapshot(files));
  assert.deepEqual(lines, [
    "a.yaml:3:1: Service s is left out: it needs a cluster's network; give the pod's port a hostPort, or use the pod's address",
    'a.yaml:1:1: spec.nodeName: "there" is ignored: this node is "node", and runs the pod',
  ]);
  assert.deepEqual(config.errors(), []);
});
