import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Schema } from '../schema/schema.ts';
import { decodeJson } from './decode-json.ts';

const schema = await Schema.load();

const refuse = (kind: string, value: unknown, message: string) =>
  assert.throws(() => decodeJson(value, { schema, type: schema.type(kind) }), { code: 'invalid_argument', message });

const DEPLOYMENT = 'apps.v1.Deployment';
const inTemplate = (container: object) => ({ spec: { template: { spec: { containers: [container] } } } });

describe('values of wrong types', () => {
  it('are refused with the words of Go', () => {
    const field = (text: string) => `json: cannot unmarshal ${text}`;
    refuse(
      DEPLOYMENT,
      { spec: { replicas: '3' } },
      field('string into Go struct field DeploymentSpec.spec.replicas of type int32'),
    );
    refuse(
      DEPLOYMENT,
      { spec: { replicas: 3e9 } },
      field('number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32'),
    );
    refuse(
      DEPLOYMENT,
      { spec: { replicas: 1.5 } },
      field('number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32'),
    );
    const containers = 'spec.template.spec.containers';
    refuse(
      DEPLOYMENT,
      inTemplate({ env: [{ value: 1 }] }),
      field(`number into Go struct field EnvVar.${containers}.env.value of type string`),
    );
    refuse(
      DEPLOYMENT,
      inTemplate({ imagePullPolicy: true }),
      field(`bool into Go struct field Container.${containers}.imagePullPolicy of type v1.PullPolicy`),
    );
    refuse(
      DEPLOYMENT,
      inTemplate({ ports: {} }),
      field(`object into Go struct field Container.${containers}.ports of type []v1.ContainerPort`),
    );
    refuse(
      DEPLOYMENT,
      inTemplate({ ports: ['a'] }),
      field(`string into Go struct field Container.${containers}.ports of type v1.ContainerPort`),
    );
    for (const [spec, words] of [
      [
        { volumes: [{ emptyDir: [] }] },
        'array into Go struct field Volume.spec.volumes.VolumeSource.emptyDir of type v1.EmptyDirVolumeSource',
      ],
      [{ volumes: [{ name: 7 }] }, 'number into Go struct field Volume.spec.volumes.name of type string'],
      [
        { volumes: [{ configMap: { name: 7 } }] },
        'number into Go struct field ConfigMapVolumeSource.spec.volumes.VolumeSource.configMap.LocalObjectReference.name of type string',
      ],
      [
        { containers: [{ livenessProbe: { httpGet: { path: 7 } } }] },
        'number into Go struct field HTTPGetAction.spec.containers.livenessProbe.ProbeHandler.httpGet.path of type string',
      ],
      [
        { ephemeralContainers: [{ env: {} }] },
        'object into Go struct field EphemeralContainer.spec.ephemeralContainers.EphemeralContainerCommon.env of type []v1.EnvVar',
      ],
    ] as const)
      refuse('core.v1.Pod', { spec }, field(words));
    refuse(
      'networking.v1.Ingress',
      { spec: { rules: [{ host: 'a', http: [] }] } },
      field('array into Go struct field IngressRule.spec.rules.IngressRuleValue.http of type v1.HTTPIngressRuleValue'),
    );
    refuse(
      'resource.v1.DeviceClass',
      { spec: { config: [{ opaque: [] }] } },
      field(
        'array into Go struct field DeviceClassConfiguration.spec.config.DeviceConfiguration.opaque of type v1.OpaqueDeviceConfiguration',
      ),
    );
    refuse(
      'core.v1.Pod',
      { metadata: { labels: { a: 1 } } },
      field('number into Go struct field ObjectMeta.metadata.labels of type string'),
    );
    refuse(
      'core.v1.Pod',
      { metadata: { labels: [] } },
      field('array into Go struct field ObjectMeta.metadata.labels of type map[string]string'),
    );
    refuse(
      'core.v1.Pod',
      { spec: { containers: [{ resources: { limits: 'a' } }] } },
      field(
        'string into Go struct field ResourceRequirements.spec.containers.resources.limits of type v1.ResourceList',
      ),
    );
    refuse(
      'core.v1.Pod',
      { metadata: { creationTimestamp: 1 } },
      field('number into Go struct field ObjectMeta.metadata.creationTimestamp of type string'),
    );
    refuse(
      'core.v1.Pod',
      { metadata: { uid: 1 } },
      field('number into Go struct field ObjectMeta.metadata.uid of type types.UID'),
    );
    refuse(
      'core.v1.Service',
      { spec: { ports: [{ targetPort: true }] } },
      field('bool into Go struct field ServicePort.spec.ports.targetPort of type int32'),
    );
    refuse('core.v1.Pod', [], field('array into Go value of type v1.Pod'));
    refuse('core.v1.Secret', { data: { a: 'x' } }, 'illegal base64 data at input byte 0');
    refuse('core.v1.Secret', { data: { a: 'YW$=' } }, 'illegal base64 data at input byte 2');
    refuse('core.v1.Secret', { data: { a: 1 } }, field('number into Go struct field Secret.data of type []uint8'));
  });

  it('are refused with the words of the value, before other errors', () => {
    const quantities = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
    refuse(
      'core.v1.Pod',
      { metadata: { uid: 1 }, spec: { containers: [{ resources: { limits: { cpu: 'x' } } }] } },
      quantities,
    );
    const time = '"2006-01-02T15:04:05Z07:00"';
    const created = (creationTimestamp: string) => ({ metadata: { creationTimestamp } });
    refuse('core.v1.Pod', created('foo'), `parsing time "foo" as ${time}: cannot parse "foo" as "2006"`);
    refuse(
      'core.v1.Pod',
      created('2026-01-02 03:04:05Z'),
      `parsing time "2026-01-02 03:04:05Z" as ${time}: cannot parse " 03:04:05Z" as "T"`,
    );
    refuse('core.v1.Pod', created('2026-01-02T03:04:05Zx'), 'parsing time "2026-01-02T03:04:05Zx": extra text: "x"');
    const micro = '"2006-01-02T15:04:05.000000Z07:00"';
    const renewed = { spec: { renewTime: '2026-01-02T03:04:05Z' } };
    refuse(
      'coordination.v1.Lease',
      renewed,
      `parsing time "2026-01-02T03:04:05Z" as ${micro}: cannot parse "Z" as ".000000"`,
    );
    refuse('apiextensions.v1.JSONSchemaProps', { additionalProperties: 1 }, 'boolean or JSON schema expected');
  });

  it('are reported by the first one', () => {
    refuse(
      'core.v1.Pod',
      { metadata: { uid: 1, name: 2 } },
      'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.uid of type types.UID',
    );
  });

  it('are refused with the words of the conversion of maps, if a strategic merge patch results in them', () => {
    const check = (kind: string, value: unknown, message: string) =>
      assert.throws(() => decodeJson(value, { schema, type: schema.type(kind), source: 'map' }), {
        code: 'invalid_argument',
        message,
      });
    const inSpec = (spec: unknown, message: string) => check(DEPLOYMENT, { spec }, message);
    inSpec('a', 'cannot restore struct from: string');
    inSpec(7, 'cannot restore struct from: int64');
    inSpec({ replicas: 'x' }, 'unrecognized type: int32');
    inSpec({ replicas: 1.5 }, 'cannot convert float64 to int32');
    inSpec({ replicas: 3e9 }, 'json: cannot unmarshal number 3000000000 into Go value of type int32');
    inSpec({ paused: 1 }, 'unrecognized type: bool');
    const maxSurge = (value: unknown) => ({ strategy: { rollingUpdate: { maxSurge: value } } });
    inSpec(maxSurge(true), 'json: cannot unmarshal bool into Go value of type int32');
    inSpec(maxSurge(1.5), 'json: cannot unmarshal number 1.5 into Go value of type int32');
    for (const [container, message] of [
      [{ image: 1 }, 'cannot convert int64 to string'],
      [{ imagePullPolicy: 1 }, 'cannot convert int64 to v1.PullPolicy'],
      [{ imagePullPolicy: 1.5 }, 'unrecognized type: string'],
      [{ ports: {} }, 'cannot restore slice from map'],
      [{ resources: { limits: 'a' } }, 'cannot restore map from string'],
    ] as const)
      inSpec(inTemplate(container).spec, message);
    check('core.v1.Pod', { metadata: { labels: [] } }, 'cannot restore map from slice');
    const time = 'json: cannot unmarshal number into Go value of type string';
    check('core.v1.Pod', { metadata: { creationTimestamp: 1 } }, time);
    check('core.v1.Secret', { data: { a: 1 } }, 'cannot restore slice from int64');
    check('core.v1.Secret', { data: { a: 'x' } }, 'error decoding from json: illegal base64 data at input byte 0');
  });

  it('and too deep ones are refused', () => {
    let deep: object = {};
    for (let depth = 0; depth < 2000; depth++) deep = { a: deep };
    refuse('apps.v1.ControllerRevision', { data: deep }, 'exceeded max depth');
  });
});
