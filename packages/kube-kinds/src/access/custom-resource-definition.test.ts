import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  changed,
  created,
  createErrors,
  decoded,
  subresourceUpdate,
  updateErrors,
} from '../strategy-checks.fixture.ts';
import { CUSTOM_RESOURCE_DEFINITION as DEFINITION } from './custom-resource-definition.ts';

const schema = { openAPIV3Schema: { type: 'object' } };
const VERSION = { name: 'v1', served: true, storage: true, schema };
const OLD_VERSION = { ...VERSION, name: 'v1beta1', storage: false };
const BASE = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'foos.example.com' },
  spec: { group: 'example.com', scope: 'Namespaced', names: { plural: 'foos', kind: 'Foo' }, versions: [VERSION] },
};
const withSpec = (spec: object, more: object = {}) => changed(BASE, { spec, ...more } as never);
const check = (spec: object, ...errors: string[]) => assert.deepEqual(createErrors(DEFINITION, withSpec(spec)), errors);

test('a definition gets default names, a conversion and its stored version', () => {
  const { spec, status } = created(DEFINITION, { ...BASE, status: { storedVersions: ['v0'] } });
  assert.deepEqual(spec, {
    ...BASE.spec,
    names: { plural: 'foos', singular: 'foo', kind: 'Foo', listKind: 'FooList' },
    conversion: { strategy: 'None' },
  });
  assert.deepEqual(status, { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] });
  const service = { name: 's', namespace: 'n' };
  const webhook = { clientConfig: { service }, conversionReviewVersions: ['v1'] };
  const filled = decoded(DEFINITION, withSpec({ conversion: { strategy: 'Webhook', webhook } })).spec as {
    conversion: unknown;
  };
  assert.deepEqual(filled.conversion, {
    strategy: 'Webhook',
    webhook: { ...webhook, clientConfig: { service: { ...service, port: 443 } } },
  });
});

test('a new storage version is added to the stored versions', () => {
  const status = { storedVersions: ['v1'], acceptedNames: { plural: 'foos', kind: 'Foo' }, conditions: [] };
  const versions = [
    { ...VERSION, storage: false },
    { ...VERSION, name: 'v2' },
  ];
  const prepared = DEFINITION.prepareForUpdate?.(
    decoded(DEFINITION, withSpec({ versions })),
    decoded(DEFINITION, { ...BASE, status }),
  );
  assert.deepEqual(prepared?.status, { ...status, storedVersions: ['v1', 'v2'] });
});

test('invalid groups, scopes and names have upstream’s errors', () => {
  check({});
  assert.deepEqual(createErrors(DEFINITION, { ...BASE, metadata: { name: 'x' } }), [
    'metadata.name: Invalid value: "x": must be spec.names.plural+"."+spec.group',
  ]);
  assert.deepEqual(createErrors(DEFINITION, withSpec({ group: 'example' }, { metadata: { name: 'foos.example' } })), [
    'spec.group: Invalid value: "example": should be a domain with at least one dot',
  ]);
  check({ scope: '' }, 'spec.scope: Required value');
  check({ scope: 'x' }, 'spec.scope: Unsupported value: "x": supported values: "Cluster", "Namespaced"');
  check(
    { names: { kind: '' } },
    'spec.names.singular: Required value',
    'spec.names.kind: Required value',
    'spec.names.listKind: Required value',
  );
  check(
    { names: { listKind: 'Foo' } },
    'spec.names.listKind: Invalid value: "Foo": kind and listKind may not be the same',
  );
  const words =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
  check({ names: { shortNames: ['F'] } }, `spec.names.shortNames[0]: Invalid value: "F": ${words}`);
  check(
    { names: { kind: 'Foo_' } },
    `spec.names.singular: Invalid value: "foo_": ${words}`,
    `spec.names.kind: Invalid value: "Foo_": may have mixed case, but should otherwise match: ${words}`,
    `spec.names.listKind: Invalid value: "Foo_List": may have mixed case, but should otherwise match: ${words}`,
  );
});

test('invalid versions have upstream’s errors, with internal-version paths', () => {
  check({ versions: [{ ...VERSION, schema: undefined }] }, 'spec.versions[0].schema.openAPIV3Schema: Required value');
  const start = (spec: object) =>
    createErrors(DEFINITION, withSpec(spec)).map((error) => error.replace(/Invalid value: \[.*\]: /, ''));
  assert.deepEqual(start({ versions: [VERSION, { ...VERSION, schema: undefined }] }), [
    'spec.versions[1].schema.openAPIV3Schema: Required value',
    'spec.versions: must contain unique version names',
    'spec.versions: must have exactly one version marked as storage version',
  ]);
  check(
    { versions: [{ ...VERSION, deprecationWarning: 'x' }] },
    'spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions',
  );
  check(
    { versions: [{ ...VERSION, deprecated: true, deprecationWarning: 'a\u0007' }] },
    'spec.versions[0].deprecationWarning: Invalid value: "a\\u0007": must only contain printable UTF-8 characters; non-printable character found at index 1',
  );
  const additionalPrinterColumns = [{ name: '', type: 'x', format: 'y', jsonPath: 'a' }];
  const columns = (field: string) => [
    `${field}.name: Required value`,
    `${field}.type: Invalid value: "x": must be one of boolean,date,integer,number,string`,
    `${field}.format: Invalid value: "y": must be one of byte,date,date-time,double,float,int32,int64,password`,
    `${field}.JSONPath: Invalid value: "a": must be a simple json path starting with .`,
  ];
  check({ versions: [{ ...VERSION, additionalPrinterColumns }] }, ...columns('spec.additionalPrinterColumns[0]'));
  check(
    { versions: [VERSION, { ...OLD_VERSION, additionalPrinterColumns }] },
    ...columns('spec.versions[1].additionalPrinterColumns[0]'),
  );
  const scale = { specReplicasPath: '.status.x', statusReplicasPath: '', labelSelectorPath: 'x' };
  check(
    { versions: [{ ...VERSION, subresources: { scale } }] },
    'spec.subresources.scale.specReplicasPath: Invalid value: ".status.x": should be a json path under .spec',
    'spec.subresources.scale.statusReplicasPath: Required value',
    'spec.subresources.scale.labelSelectorPath: Invalid value: "x": must be a simple json path starting with .',
  );
  check(
    {
      versions: [
        { ...VERSION, selectableFields: [{ jsonPath: '' }, { jsonPath: '.spec.a' }, { jsonPath: '.spec.a' }] },
      ],
    },
    'spec.selectableFields[0].jsonPath: Required value',
    'spec.selectableFields[2].jsonPath: Duplicate value: ".spec.a"',
  );
  check(
    { preserveUnknownFields: true },
    'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
  );
});

test('invalid conversions have upstream’s errors', () => {
  const conversion = (value: object, ...errors: string[]) =>
    check({ conversion: value }, ...errors.map((error) => `spec.conversion.${error}`));
  conversion({ strategy: 'x' }, 'strategy: Unsupported value: "x": supported values: "None", "Webhook"');
  conversion(
    { strategy: 'Webhook' },
    'webhookClientConfig: Required value: required when strategy is set to Webhook',
    'conversionReviewVersions: Required value',
  );
  const webhook = { clientConfig: { url: 'https://a' }, conversionReviewVersions: ['v2'] };
  conversion(
    { strategy: 'Webhook', webhook },
    'conversionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1',
  );
  conversion(
    { strategy: 'None', webhook },
    'webhookClientConfig: Forbidden: should not be set when strategy is not set to Webhook',
    'conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook',
  );
});

test('a definition that preserves unknown fields cannot have webhook conversion, and may lack schemas', () => {
  const versions = [{ ...VERSION, schema: undefined }];
  const webhook = { clientConfig: { url: 'https://a' }, conversionReviewVersions: ['v1'] };
  const old = withSpec({ versions, preserveUnknownFields: true });
  assert.deepEqual(updateErrors(DEFINITION, old, old), []);
  assert.deepEqual(updateErrors(DEFINITION, withSpec({ versions }), old), [
    'spec.versions[0].schema.openAPIV3Schema: Required value: because otherwise all fields are pruned',
  ]);
  const converted = withSpec({ versions, preserveUnknownFields: true, conversion: { strategy: 'Webhook', webhook } });
  assert.deepEqual(updateErrors(DEFINITION, converted, old), [
    'spec.conversion.strategy: Invalid value: "Webhook": must be None if spec.preserveUnknownFields is true',
  ]);
});

test('Kubernetes API groups need an approval', () => {
  const key = 'api-approved.kubernetes.io';
  const errors = (annotation?: string) =>
    createErrors(
      DEFINITION,
      withSpec(
        { group: 'x.k8s.io' },
        { metadata: { name: 'foos.x.k8s.io', annotations: annotation === undefined ? {} : { [key]: annotation } } },
      ),
    );
  const must = `protected groups must have approval annotation "${key}"`;
  const see = 'see https://github.com/kubernetes/enhancements/pull/1111';
  assert.deepEqual(errors(), [`metadata.annotations[${key}]: Required value: ${must}, ${see}`]);
  assert.deepEqual(errors('x'), [
    `metadata.annotations[${key}]: Invalid value: "x": ${must} with either a URL or a reason starting with "unapproved", ${see}`,
  ]);
  assert.deepEqual(errors('unapproved, a test'), []);
  assert.deepEqual(errors('https://github.com/x'), []);
});

const ESTABLISHED = { conditions: [{ type: 'Established', status: 'True' }], storedVersions: ['v1'] };

test('the group and plural name are immutable, and once established also the scope and kind', () => {
  const change = { scope: 'Cluster', names: { kind: 'Bar', plural: 'bars' } };
  const plural = 'spec.names.plural: Invalid value: "bars": field is immutable';
  assert.deepEqual(updateErrors(DEFINITION, withSpec(change), BASE), [plural]);
  assert.deepEqual(updateErrors(DEFINITION, withSpec(change), { ...BASE, status: ESTABLISHED }), [
    'spec.scope: Invalid value: "Cluster": field is immutable',
    'spec.names.kind: Invalid value: "Bar": field is immutable',
    plural,
  ]);
});

test('a version in which objects may be stored cannot be removed', () => {
  const versions = [{ ...VERSION, name: 'v2' }];
  assert.deepEqual(updateErrors(DEFINITION, withSpec({ versions }), { ...BASE, status: ESTABLISHED }), [
    'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions',
  ]);
});

test('a status update preserves the spec, and accepted names must be valid', () => {
  const object = withSpec(
    { scope: 'Cluster' },
    { status: { ...ESTABLISHED, acceptedNames: { plural: 'Foos', kind: 'Foo' } } },
  );
  const result = subresourceUpdate(DEFINITION, 'status', { object, old: BASE });
  assert.match(result.errors.join(), /^status.acceptedNames.plural: Invalid value: "Foos": /);
  assert.equal((result.object.spec as { scope: string }).scope, 'Namespaced');
});

test('formats ignored by the server cause a warning', () => {
  const properties = {
    a: { type: 'string', format: 'date-time' },
    b: { type: 'string', format: 'x' },
    c: { type: 'integer', format: 'int64' },
    d: { type: 'object', format: 'date' },
  };
  const object = decoded(
    DEFINITION,
    withSpec({ versions: [{ ...VERSION, schema: { openAPIV3Schema: { type: 'object', properties } } }] }),
  );
  assert.deepEqual(DEFINITION.warnings?.(object, undefined), ['unrecognized format "x"', 'unrecognized format "date"']);
  assert.deepEqual(DEFINITION.warnings?.(object, object), []);
});
