import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Schema, type StructType } from '@podwright/kube-schema';
import { describedNames, describeKinds } from './descriptions.ts';

const schema = await Schema.load();
const text = describeKinds();

const KINDS = schema.resources.flatMap((resource) => [resource, ...Object.values(resource.subresources ?? {})]);

/** Returns all structs reachable from the kinds of resources and subresources, including lists. */
function structs(): StructType[] {
  const lists = schema.resources.flatMap((one) => schema.kind({ ...one, kind: `${one.kind}List` }) ?? []);
  const meta = ['meta.v1.DeleteOptions', 'meta.v1.Status', 'meta.v1.Condition'].map((name) => schema.type(name));
  const waiting = [...KINDS.map((kind) => schema.kind(kind)!), ...lists, ...meta];
  const found = new Map<string, StructType>();
  for (let type = waiting.pop(); type !== undefined; type = waiting.pop()) {
    if (found.has(type.name)) continue;
    found.set(type.name, type);
    for (const field of type.byName.values()) if (field.type.includes('.')) waiting.push(schema.type(field.type));
    for (const field of type.fields) if (field.isInlined) waiting.push(schema.type(field.type));
  }
  return [...found.values()];
}

const short = ({ name }: StructType) => name.replace(/\.v\d[^.]*\./, '.');

describe('the descriptions', () => {
  it('cover all kinds', () => {
    const missing = schema.resources.filter((one) => text(schema.kind(one)!) === undefined).map(({ kind }) => kind);
    assert.deepEqual(missing, []);
    assert.equal(text({ name: 'apps.v1.DeploymentList' }), 'A list of Deployment objects.');
  });

  it('cover all fields of pods and what controls them, and most fields of others', () => {
    const check = (...names: string[]) => {
      const fields = names.flatMap((name) => [...schema.type(name).byName.keys()].map((field) => ({ name, field })));
      const missing = fields.filter(({ name, field }) => text({ name }, field) === undefined);
      assert.deepEqual(missing, []);
    };
    check('core.v1.PodSpec', 'core.v1.Container', 'core.v1.Probe', 'core.v1.PodSecurityContext', 'core.v1.VolumeMount');
    check('core.v1.ServiceSpec', 'core.v1.PersistentVolumeClaimSpec', 'core.v1.ConfigMap', 'core.v1.Secret');
    check('apps.v1.DeploymentSpec', 'apps.v1.StatefulSetSpec', 'apps.v1.DaemonSetSpec', 'batch.v1.JobSpec');
    check('batch.v1.CronJobSpec', 'autoscaling.v2.HorizontalPodAutoscalerSpec', 'networking.v1.NetworkPolicySpec');
    check('networking.v1.IngressSpec', 'rbac.v1.PolicyRule', 'storage.v1.StorageClass', 'meta.v1.ObjectMeta');
    assert.ok(describedNames().filter(({ field }) => field !== '').length > 600);
  });

  it('are only of types and fields that exist', () => {
    const fields = structs().flatMap((type) =>
      [...type.byName.keys(), ''].map((field) => ({ type: short(type), field })),
    );
    const unknown = describedNames().filter(({ type, field }) => {
      const isOf = (name: string) => (type.startsWith('*') ? name.endsWith(type.slice(1)) : name === type);
      return !fields.some((one) => one.field === field && isOf(one.type));
    });
    assert.deepEqual(unknown, []);
  });

  it('are sentences', () => {
    for (const { type, field } of describedNames()) {
      const name = type.replace('*', 'a.v1.').replace(/^([a-z]+)\.([A-Z])/, '$1.v1.$2');
      assert.match(text({ name }, field) ?? '', /^[A-Z].*\.$/, `${type} ${field}`);
    }
  });

  it('take the most specific table', () => {
    const check = (name: string, field: string, expected: RegExp) => assert.match(text({ name }, field)!, expected);
    check('core.v1.Container', 'image', /image to run/);
    check('core.v1.EphemeralContainer', 'image', /image to run/);
    check('core.v1.PodCondition', 'status', /^Whether it holds/);
    check('core.v1.Pod', 'status', /^What was observed/);
    check('autoscaling.v1.HorizontalPodAutoscaler', '', /^Changes the number/);
    assert.equal(text({ name: 'core.v1.Pod' }, 'nothing'), undefined);
  });
});
