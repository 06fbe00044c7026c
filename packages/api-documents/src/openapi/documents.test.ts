import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type JsonObject, Schema } from '@podwright/kube-schema';
import { describeKinds } from './descriptions/descriptions.ts';
import { documentV2 } from './document-v2.ts';
import { documentV3 } from './document-v3.ts';

const schema = await Schema.load();
const info = { version: 'v1.36.0', describe: describeKinds() };
const resourcesOf = (...groups: string[]) => schema.resources.filter(({ group }) => groups.includes(group));

// biome-ignore lint/suspicious/noExplicitAny: documents of any depth
type Json = Record<string, any>;
const of = (document: JsonObject): Json => JSON.parse(JSON.stringify(document));
const core = of(documentV3(schema, resourcesOf(''), info));
const apps = of(documentV3(schema, resourcesOf('apps'), info));
const both = of(documentV2(schema, resourcesOf('', 'apps'), info));
const deployments = '/apis/apps/v1/namespaces/{namespace}/deployments';

/** Returns a document's references to definitions that it does not contain. */
function brokenReferences(document: Json): string[] {
  const text = JSON.stringify(document);
  const found = [...text.matchAll(/"\$ref":"#\/([^"]*)\/([^"/]*)"/g)];
  assert.ok(found.length > 50);
  const at = (path: string) => path.split('/').reduce((value: Json | undefined, key) => value?.[key], document);
  return found.filter(([, path = '', name = '']) => at(path)?.[name] === undefined).map(([reference]) => reference);
}

describe('documents', () => {
  it('define all that they refer to', () => {
    for (const document of [core, apps, both]) assert.deepEqual(brokenReferences(document), []);
  });

  it('give each operation another name', () => {
    for (const document of [core, apps, both]) {
      const items = Object.values(document.paths as Json).flatMap((item: Json) => Object.values(item));
      const ids = items.map((operation: Json) => operation.operationId).filter((id) => id !== undefined);
      assert.equal(new Set(ids).size, ids.length);
    }
  });

  it('have what kubectl needs to validate: the kind of patches and the parameter fieldValidation', () => {
    const { patch } = apps.paths[`${deployments}/{name}`];
    assert.deepEqual(patch['x-kubernetes-group-version-kind'], { group: 'apps', version: 'v1', kind: 'Deployment' });
    assert.deepEqual(
      patch.parameters.map(({ name }: Json) => name),
      ['dryRun', 'fieldManager', 'fieldValidation', 'force'],
    );
    assert.equal(patch['x-kubernetes-action'], 'patch');
    assert.equal(patch.operationId, 'patchAppsV1NamespacedDeployment');
  });
});

describe('paths', () => {
  it('have an operation for each verb', () => {
    const check = (document: Json, path: string, methods: string) => {
      const found = Object.keys(document.paths[path] ?? {}).filter((key) => key !== 'parameters');
      assert.equal(found.sort().join(), methods, path);
    };
    check(apps, deployments, 'delete,get,post');
    check(apps, `${deployments}/{name}`, 'delete,get,patch,put');
    check(apps, `${deployments}/{name}/scale`, 'get,patch,put');
    check(apps, '/apis/apps/v1/deployments', 'get');
    check(apps, '/apis/apps/v1/', 'get');
    check(core, '/api/v1/namespaces', 'get,post');
    check(core, '/api/v1/namespaces/{name}/finalize', 'put');
    check(core, '/api/v1/namespaces/{namespace}/bindings', 'post');
    check(core, '/api/v1/namespaces/{namespace}/pods/{name}/exec', 'get,post');
    check(core, '/api/v1/namespaces/{namespace}/pods/{name}/eviction', 'post');
    check(core, '/api/v1/nodes/{name}/proxy/{path}', 'delete,get,head,options,patch,post,put');
    check(core, '/api/v1/bindings', '');
    check(both, `${deployments}/{name}/status`, 'get,patch,put');
  });

  it('have the parameters that all their operations share', () => {
    const names = (list: Json[]) => list.map(({ name }) => name).join();
    assert.equal(names(apps.paths[deployments].parameters), 'namespace,pretty');
    const log = core.paths['/api/v1/namespaces/{namespace}/pods/{name}/log'];
    assert.match(names(log.parameters), /^container,follow,.*,name,namespace,pretty,.*,tailLines,timestamps$/);
    assert.equal(log.get.operationId, 'readCoreV1NamespacedPodLog');
    assert.deepEqual(log.get.responses[200].content['text/plain'].schema, { type: 'string' });
  });

  it('name the kinds of other groups', () => {
    const { put } = apps.paths[`${deployments}/{name}/scale`];
    const { requestBody } = put;
    assert.deepEqual(put['x-kubernetes-group-version-kind'], { group: 'autoscaling', version: 'v1', kind: 'Scale' });
    assert.match(requestBody.content['*/*'].schema.$ref, /\.autoscaling\.v1\.Scale$/);
  });
});

describe('definitions', () => {
  const container = core.components.schemas['io.k8s.api.core.v1.Container'];

  it('have types, formats, required fields and how lists merge', () => {
    assert.deepEqual(container.required, ['name']);
    const { description, ...ports } = container.properties.ports;
    assert.match(description, /^Ports on which/);
    assert.deepEqual(ports, {
      type: 'array',
      items: { $ref: '#/components/schemas/io.k8s.api.core.v1.ContainerPort' },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['containerPort', 'protocol'],
      'x-kubernetes-patch-merge-key': 'containerPort',
      'x-kubernetes-patch-strategy': 'merge',
    });
    const { protocol, containerPort } = core.components.schemas['io.k8s.api.core.v1.ContainerPort'].properties;
    assert.deepEqual([protocol.default, protocol.type], ['TCP', 'string']);
    assert.deepEqual([containerPort.format, containerPort.type, containerPort.default], ['int32', 'integer', 0]);
  });

  it('refer to others, with a description and a default next to the reference', () => {
    const { description, ...resources } = container.properties.resources;
    assert.equal(typeof description, 'string');
    const name = 'io.k8s.api.core.v1.ResourceRequirements';
    assert.deepEqual(resources, { allOf: [{ $ref: `#/components/schemas/${name}` }], default: {} });
    const { description: _, ...ofV2 } = both.definitions['io.k8s.api.core.v1.Container'].properties.resources;
    assert.deepEqual(ofV2, { $ref: `#/definitions/${name}` });
  });

  it('name the kinds, and list those that exist in each group version', () => {
    const kinds = (name: string) => apps.components.schemas[name]['x-kubernetes-group-version-kind'];
    assert.deepEqual(kinds('io.k8s.api.apps.v1.Deployment'), [{ group: 'apps', kind: 'Deployment', version: 'v1' }]);
    assert.deepEqual(kinds('io.k8s.api.autoscaling.v1.Scale'), [
      { group: 'autoscaling', kind: 'Scale', version: 'v1' },
    ]);
    assert.deepEqual(kinds('io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions'), [
      { group: '', kind: 'DeleteOptions', version: 'v1' },
      { group: 'apps', kind: 'DeleteOptions', version: 'v1' },
    ]);
    assert.equal(container['x-kubernetes-group-version-kind'], undefined);
  });

  it('of values with two types are unions in OpenAPI v3', () => {
    const name = 'io.k8s.apimachinery.pkg.util.intstr.IntOrString';
    const { description, ...ofV3 } = core.components.schemas[name];
    assert.equal(typeof description, 'string');
    assert.deepEqual(ofV3, { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] });
    assert.equal(both.definitions[name].type, 'string');
  });
});
