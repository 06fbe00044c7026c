import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createErrors, POD, set } from './strategy-checks.fixture.ts';

const AT = 'spec.containers[0]';
const WINDOWS = 'windows options cannot be set for a linux pod';
const NOT_ON_WINDOWS = 'Forbidden: cannot be set for a windows pod';
const HOST_PROCESS = 'securityContext.windowsOptions.hostProcess';

/** Rarely used rules: changes to a valid pod, and the errors reported by upstream. */
const TABLE: readonly (readonly [name: string, changes: Record<string, unknown>, errors: readonly string[]])[] = [
  ['an operating system without a name', { 'spec.os': {} }, ['spec.os.name: Required value']],
  [
    'an unknown operating system',
    { 'spec.os.name': 'plan9' },
    ['spec.os: Unsupported value: "plan9": supported values: "linux", "windows"'],
  ],
  [
    'Windows options of a Linux pod',
    {
      'spec.os.name': 'linux',
      'spec.securityContext.windowsOptions': { runAsUserName: 'a' },
      'spec.containers.0.securityContext.windowsOptions': { runAsUserName: 'a' },
    },
    [
      `spec.securityContext.windowsOptions: Forbidden: ${WINDOWS}`,
      `${AT}.securityContext.windowsOptions: Forbidden: ${WINDOWS}`,
    ],
  ],
  [
    'Linux fields of a Windows pod',
    {
      'spec.os.name': 'windows',
      'spec.hostPID': true,
      'spec.shareProcessNamespace': false,
      'spec.securityContext.fsGroup': 1,
      'spec.containers.0.securityContext': { privileged: false, runAsUser: 1 },
    },
    [
      `spec.securityContext.fsGroup: ${NOT_ON_WINDOWS}`,
      `spec.hostPID: ${NOT_ON_WINDOWS}`,
      `spec.shareProcessNamespace: ${NOT_ON_WINDOWS}`,
      `${AT}.securityContext.privileged: ${NOT_ON_WINDOWS}`,
      `${AT}.securityContext.runAsUser: ${NOT_ON_WINDOWS}`,
    ],
  ],
  [
    'Windows options',
    {
      'spec.securityContext.windowsOptions': { gmsaCredentialSpec: '', runAsUserName: '' },
    },
    [
      'spec.securityContext.windowsOptions.gmsaCredentialSpec: Invalid value: "": gmsaCredentialSpec cannot be an empty string',
      'spec.securityContext.windowsOptions.runAsUserName: Invalid value: "": runAsUserName cannot be an empty string',
    ],
  ],
  [
    'host processes of some containers',
    {
      'spec.containers.0.securityContext.windowsOptions.hostProcess': true,
      'spec.containers.1': { name: 'b', image: 'b' },
    },
    [
      'spec: Invalid value: "": If pod contains any hostProcess containers then all containers must be HostProcess containers',
      'spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers',
    ],
  ],
  [
    'host processes of a container against the pod',
    {
      'spec.hostNetwork': true,
      'spec.securityContext.windowsOptions.hostProcess': false,
      'spec.containers.0.securityContext.windowsOptions.hostProcess': true,
    },
    [
      `${AT}.${HOST_PROCESS}: Invalid value: true: pod hostProcess value must be identical if both are specified, was false`,
    ],
  ],
  [
    'profiles without a type',
    { 'spec.securityContext.seccompProfile': {}, 'spec.containers.0.securityContext.appArmorProfile': {} },
    [
      `${AT}.securityContext.appArmorProfile.type: Required value: type is required when appArmorProfile is set`,
      'spec.securityContext.seccompProfile.type: Required value: type is required when seccompProfile is set',
    ],
  ],
  [
    'a long host name override',
    { 'spec.hostnameOverride': 'a'.repeat(65), 'spec.setHostnameAsFQDN': true },
    [
      'spec.hostnameOverride: Forbidden: may not be specified when setHostnameAsFQDN is true',
      'spec.hostnameOverride: Too long: may not be more than 64 bytes',
    ],
  ],
  ['the longest host name override', { 'spec.hostnameOverride': 'a'.repeat(64) }, []],
  [
    'files of keys',
    {
      'spec.volumes': [
        { name: 'v', emptyDir: {} },
        { name: 'w', hostPath: { path: '/' } },
      ],
      'spec.containers.0.env': [
        { name: 'A', valueFrom: { fileKeyRef: { volumeName: 'v', path: '', key: '' } } },
        { name: 'B', valueFrom: { fileKeyRef: { volumeName: 'w', path: '../a', key: 'B=' } } },
        { name: 'C', valueFrom: { fileKeyRef: { volumeName: 'x', path: 'a', key: 'C' } } },
        { name: 'D', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'a/b', key: 'D' } } },
      ],
    },
    [
      `${AT}.env[0].valueFrom.fileKeyRef.key: Required value`,
      `${AT}.env[0].valueFrom.fileKeyRef.path: Required value`,
      `${AT}.env[1].valueFrom.fileKeyRef.key: Invalid value: "B=": a valid environment variable name must consist only of printable ASCII characters other than '='`,
      `${AT}.env[1].valueFrom.fileKeyRef.path: Invalid value: "../a": must not contain '..'`,
      `${AT}.env[1].valueFrom.fileKeyRef.volumeName: Invalid value: "w": referenced volume must be of type emptyDir`,
      `${AT}.env[2].valueFrom.fileKeyRef.volumeName: Not found: "x"`,
    ],
  ],
];

for (const [name, changes, errors] of TABLE)
  test(`${name} of a pod: ${errors.length} errors`, () =>
    assert.deepEqual(createErrors('pods', set(POD, changes)), errors));

const NOT_AN_IQN = 'must be valid format starting with iqn, eui, or naa';
const BAD_FORMAT = 'must be valid format';
const MANAGED = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const IQN = 'iqn.2026-01.com.example:storage';
const ISCSI = { targetPortal: 'a', iqn: IQN, lun: 0 };

const SOURCES: readonly (readonly [source: string, value: object, errors: readonly string[]])[] = [
  ['nfs', { server: '', path: 'a' }, ['server: Required value', 'path: Invalid value: "a": must be an absolute path']],
  [
    'gitRepo',
    { repository: '', directory: '/a' },
    ['repository: Required value', 'directory: Invalid value: "/a": must be a relative path'],
  ],
  [
    'awsElasticBlockStore',
    { volumeID: '', partition: 256 },
    ['volumeID: Required value', 'partition: Invalid value: 256: must be between 1 and 255, inclusive'],
  ],
  ['iscsi', ISCSI, []],
  ['iscsi', { ...ISCSI, iqn: '', targetPortal: '' }, ['targetPortal: Required value', 'iqn: Required value']],
  ['iscsi', { ...ISCSI, iqn: 'x' }, [`iqn: Invalid value: "x": ${NOT_AN_IQN}`]],
  ['iscsi', { ...ISCSI, iqn: `${IQN}:b c:d` }, [`iqn: Invalid value: "${IQN}:b c:d": ${BAD_FORMAT}`]],
  ['iscsi', { ...ISCSI, iqn: 'iqn.2026-01.com:' }, [`iqn: Invalid value: "iqn.2026-01.com:": ${BAD_FORMAT}`]],
  ['iscsi', { ...ISCSI, iqn: `eui.${'0'.repeat(16)}`, initiatorName: `naa.${'F'.repeat(32)}` }, []],
  ['iscsi', { ...ISCSI, initiatorName: 'eui.0' }, [`initiatorname: Invalid value: "eui.0": ${BAD_FORMAT}`]],
  [
    'iscsi',
    { ...ISCSI, lun: 256, chapAuthSession: true },
    ['lun: Invalid value: 256: must be between 0 and 255, inclusive', 'secretRef: Required value'],
  ],
  ['flocker', {}, [': Required value: one of datasetName and datasetUUID is required']],
  [
    'flocker',
    { datasetName: 'a/b', datasetUUID: 'c' },
    [
      ': Invalid value: "resource": datasetName and datasetUUID can not be specified simultaneously',
      'datasetName: Invalid value: "a/b": must not contain \'/\'',
    ],
  ],
  [
    'quobyte',
    { registry: 'a', volume: '' },
    [
      'registry: Invalid value: "a": must be a host:port pair or multiple pairs separated by commas',
      'volume: Required value',
    ],
  ],
  ['quobyte', { registry: 'a:1,[::1]:2', volume: 'v' }, []],
  ['fc', { targetWWNs: ['a'] }, ['lun: Required value: lun is required if targetWWNs is specified']],
  ['fc', {}, ['targetWWNs: Required value: must specify either targetWWNs or wwids, but not both']],
  [
    'flexVolume',
    { driver: 'a', options: { 'a.k8s.io/b': 'c', 'k8s.example/b': 'c' } },
    ['options[a.k8s.io/b]: Invalid value: "a.k8s.io/b": kubernetes.io and k8s.io namespaces are reserved'],
  ],
  [
    'azureDisk',
    { diskName: 'a', diskURI: 'b', kind: 'Managed', cachingMode: 'x' },
    [
      'cachingMode: Unsupported value: "x": supported values: "None", "ReadOnly", "ReadWrite"',
      `diskURI: Unsupported value: "b": supported values: "${MANAGED}"`,
    ],
  ],
  ['storageos', { secretRef: {} }, ['volumeName: Required value', 'secretRef.name: Required value']],
  [
    'scaleIO',
    { secretRef: { name: 'a' } },
    ['gateway: Required value', 'system: Required value', 'volumeName: Required value'],
  ],
];

for (const [index, [source, value, errors]] of SOURCES.entries())
  test(`volume ${index + 1}, ${source}: ${errors.length} errors`, () => {
    const found = createErrors('pods', set(POD, { 'spec.volumes': [{ name: 'v', [source]: value }] }));
    const at = `spec.volumes[0].${source}`;
    assert.deepEqual(
      found,
      errors.map((error) => (error.startsWith(':') ? `${at}${error}` : `${at}.${error}`)),
    );
  });

test('a long hostile iSCSI volume name takes little time', () => {
  const before = process.cpuUsage();
  const iqn = 'iqn.2026-01.'.repeat(50_000);
  assert.equal(createErrors('pods', set(POD, { 'spec.volumes': [{ name: 'v', iscsi: { ...ISCSI, iqn } }] })).length, 1);
  const { user } = process.cpuUsage(before);
  assert.ok(user < 2_000_000, `${user} µs`);
});
