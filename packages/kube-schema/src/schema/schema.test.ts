import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Schema } from './schema.ts';

const schema = await Schema.load();

describe('the schema', () => {
  it('finds kinds by group, version and kind', () => {
    const check = (apiVersion: string, kind: string, name: string | undefined) =>
      assert.equal(schema.kindOf({ apiVersion, kind })?.name, name);
    check('v1', 'Pod', 'core.v1.Pod');
    check('apps/v1', 'DeploymentList', 'apps.v1.DeploymentList');
    check('rbac.authorization.k8s.io/v1', 'Role', 'rbac.v1.Role');
    check('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'apiextensions.v1.CustomResourceDefinition');
    check('v1', 'Status', 'meta.v1.Status');
    check('batch/v1', 'DeleteOptions', 'meta.v1.DeleteOptions');
    check('v1', 'PodSpec', undefined);
    check('apps/v1', 'Pod', undefined);
    check('example.com/v1', 'DeleteOptions', undefined);
    check('a/b/v1', 'Pod', undefined);
    check('v1', 'constructor', undefined);
  });

  it('finds resources with what discovery says of them', () => {
    const { singular, shortNames, categories, namespaced, verbs, subresources } = schema.resource('', 'v1', 'pods')!;
    assert.deepEqual([singular, shortNames, categories, namespaced], ['pod', ['po'], ['all'], true]);
    assert.equal(verbs.join(), 'create,delete,deletecollection,get,list,patch,update,watch');
    assert.deepEqual(subresources!.eviction, { group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] });
    assert.equal(schema.resource('', 'v1', 'deployments'), undefined);
  });

  it('has the types of all resources', () => {
    for (const resource of schema.resources) {
      assert.ok(schema.kind(resource), resource.plural);
      for (const below of Object.values(resource.subresources ?? {})) assert.ok(schema.kind(below), below.kind);
    }
  });

  it('has the fields of inlined structs in the struct around them', () => {
    const volume = schema.type('core.v1.Volume');
    assert.equal(volume.byName.get('hostPath')?.type, 'core.v1.HostPathVolumeSource');
    assert.deepEqual(
      [...volume.byNumber.values()].map(({ type }) => type),
      ['string', 'core.v1.VolumeSource'],
    );
    assert.equal(schema.type('core.v1.EphemeralContainer').byName.get('env')?.patch.mergeKey, 'name');
  });

  it('says how fields merge', () => {
    const spec = schema.type('core.v1.PodSpec').byName;
    const volumes = { merge: true, mergeKey: 'name', retainKeys: true, replace: false };
    assert.deepEqual(spec.get('volumes')!.patch, volumes);
    const { listType: ofTolerations, isAtomicMap } = spec.get('tolerations')!;
    assert.deepEqual([ofTolerations, isAtomicMap], ['atomic', false]);
    assert.equal(spec.get('nodeSelector')!.isAtomicMap, true);
    assert.equal(schema.type('meta.v1.LabelSelector').isAtomic, true);
    const { listType, mapKeys } = schema.type('core.v1.ServiceSpec').byName.get('ports')!;
    assert.deepEqual([listType, mapKeys], ['map', ['port', 'protocol']]);
  });

  it('refuses unknown types', () => {
    assert.throws(() => schema.type('core.v1.Nothing'), { code: 'not_found', message: /core\.v1\.Nothing/ });
  });
});
