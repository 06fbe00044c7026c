import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createErrors, POD, set } from './strategy-checks.fixture.ts';

const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const KEY =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const AT = 'spec.containers[0]';

/** Changes to a valid pod, and the errors reported by upstream. */
const TABLE: readonly (readonly [name: string, changes: Record<string, unknown>, errors: readonly string[]])[] = [
  ['a valid pod', {}, []],
  ['no containers', { 'spec.containers': [] }, ['spec.containers: Required value']],
  ['no name of a container', { 'spec.containers.0.name': '' }, [`${AT}.name: Required value`]],
  ['no image', { 'spec.containers.0.image': '' }, [`${AT}.image: Required value`]],
  [
    'an image with spaces',
    { 'spec.containers.0.image': ' nginx' },
    [`${AT}.image: Invalid value: " nginx": must not have leading or trailing whitespace`],
  ],
  ['a bad name', { 'spec.containers.0.name': 'Web' }, [`${AT}.name: Invalid value: "Web": ${LABEL}`]],
  [
    'a name with a dot',
    { 'spec.containers.0.name': 'a.b' },
    [`${AT}.name: Invalid value: "a.b": must not contain dots`],
  ],
  [
    'a repeated name',
    { 'spec.containers.1': { name: 'web', image: 'x' } },
    ['spec.containers[1].name: Duplicate value: "web"'],
  ],
  [
    'the name of an init container',
    { 'spec.initContainers': [{ name: 'web', image: 'x' }] },
    ['spec.initContainers[0].name: Duplicate value: "web"'],
  ],
  [
    'an unknown restart policy',
    { 'spec.restartPolicy': 'Sometimes' },
    ['spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"'],
  ],
  [
    'an unknown DNS policy',
    { 'spec.dnsPolicy': 'x' },
    [
      'spec.dnsPolicy: Unsupported value: "x": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
    ],
  ],
  [
    'an unknown pull policy',
    { 'spec.containers.0.imagePullPolicy': 'x' },
    [`${AT}.imagePullPolicy: Unsupported value: "x": supported values: "Always", "IfNotPresent", "Never"`],
  ],
  [
    'ports',
    {
      'spec.containers.0.ports': [
        { containerPort: 0 },
        { containerPort: 65536 },
        { containerPort: 1, hostPort: -1, protocol: 'ICMP' },
        { containerPort: 2, name: 'http' },
        { containerPort: 3, name: 'http' },
        { containerPort: 4, name: '-' },
      ],
    },
    [
      `${AT}.ports[0].containerPort: Required value`,
      `${AT}.ports[1].containerPort: Invalid value: 65536: must be between 1 and 65535, inclusive`,
      `${AT}.ports[2].hostPort: Invalid value: -1: must be between 1 and 65535, inclusive`,
      `${AT}.ports[2].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"`,
      `${AT}.ports[4].name: Duplicate value: "http"`,
      `${AT}.ports[5].name: Invalid value: "-": must contain at least one letter (a-z)`,
      `${AT}.ports[5].name: Invalid value: "-": must not begin or end with a hyphen`,
    ],
  ],
  [
    'host ports of two containers',
    {
      'spec.containers.0.ports': [{ containerPort: 80, hostPort: 80 }],
      'spec.containers.1': { name: 'b', image: 'x', ports: [{ containerPort: 81, hostPort: 80 }] },
    },
    ['spec.containers[1].ports[0].hostPort: Duplicate value: "TCP//80"'],
  ],
  [
    'mounts without volumes',
    {
      'spec.containers.0.volumeMounts': [
        { name: 'data', mountPath: '/a' },
        { name: '', mountPath: '/a' },
      ],
    },
    [
      `${AT}.volumeMounts[0].name: Not found: "data"`,
      `${AT}.volumeMounts[1].name: Required value`,
      `${AT}.volumeMounts[1].name: Not found: ""`,
      `${AT}.volumeMounts[1].mountPath: Invalid value: "/a": must be unique`,
    ],
  ],
  [
    'volumes',
    {
      'spec.volumes': [
        { name: 'a', emptyDir: {} },
        { name: 'a', emptyDir: {} },
        { name: 'B', configMap: { name: '' } },
        { name: 'c', emptyDir: {}, secret: { secretName: 'x' } },
        { name: 'd', hostPath: { path: '/a/../b', type: 'x' } },
        { name: 'e', secret: { secretName: 'x', defaultMode: 512, items: [{ key: '', path: '../x' }] } },
      ],
    },
    [
      'spec.volumes[1].name: Duplicate value: "a"',
      'spec.volumes[2].configMap.name: Required value',
      `spec.volumes[2].name: Invalid value: "B": ${LABEL}`,
      'spec.volumes[3].secret: Forbidden: may not specify more than 1 volume type',
      `spec.volumes[4].hostPath.path: Invalid value: "/a/../b": must not contain '..'`,
      'spec.volumes[4].hostPath.type: Unsupported value: "x": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
      'spec.volumes[5].secret.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive',
      'spec.volumes[5].secret.items[0].key: Required value',
      `spec.volumes[5].secret.items[0].path: Invalid value: "../x": must not contain '..'`,
    ],
  ],
  [
    'probes',
    {
      'spec.containers.0.livenessProbe': { successThreshold: 2, tcpSocket: { port: 'UPPER' } },
      'spec.containers.0.readinessProbe': { httpGet: { port: 0, scheme: 'ftp' }, exec: { command: [] } },
      'spec.containers.0.startupProbe': { periodSeconds: -1 },
    },
    [
      `${AT}.livenessProbe.tcpSocket.port: Invalid value: "UPPER": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)`,
      `${AT}.livenessProbe.tcpSocket.port: Invalid value: "UPPER": must contain at least one letter (a-z)`,
      `${AT}.livenessProbe.successThreshold: Invalid value: 2: must be 1`,
      `${AT}.readinessProbe.exec.command: Required value`,
      `${AT}.readinessProbe.httpGet: Forbidden: may not specify more than 1 handler type`,
      `${AT}.startupProbe: Required value: must specify a handler type`,
      `${AT}.startupProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0`,
    ],
  ],
  [
    'variables',
    {
      'spec.containers.0.env': [
        { name: '' },
        { name: 'a=b' },
        { name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        { name: 'B', valueFrom: {} },
        { name: 'C', valueFrom: { fieldRef: { fieldPath: 'metadata.labels' } } },
        { name: 'D', valueFrom: { fieldRef: { fieldPath: 'spec.x' } } },
        { name: 'E', valueFrom: { resourceFieldRef: { resource: 'limits.gpu' } } },
        { name: 'F', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '2' } } },
        { name: 'G', valueFrom: { configMapKeyRef: { name: 'x', key: '' } } },
      ],
      'spec.containers.0.envFrom': [{}],
    },
    [
      `${AT}.env[0].name: Required value`,
      `${AT}.env[1].name: Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than '='`,
      `${AT}.env[2].valueFrom: Invalid value: "": may not be specified when \`value\` is not empty`,
      `${AT}.env[3].valueFrom: Invalid value: "": must specify one of: \`fieldRef\`, \`resourceFieldRef\`, \`configMapKeyRef\`, \`secretKeyRef\` or \`fileKeyRef\``,
      `${AT}.env[4].valueFrom.fieldRef.fieldPath: Unsupported value: "metadata.labels": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"`,
      `${AT}.env[5].valueFrom.fieldRef.fieldPath: Invalid value: "spec.x": error converting fieldPath: field label not supported: spec.x`,
      `${AT}.env[6].valueFrom.resourceFieldRef.resource: Unsupported value: "limits.gpu": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"`,
      `${AT}.env[7].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor's values 1m and 1 are supported with the cpu resource`,
      `${AT}.env[8].valueFrom.configMapKeyRef.key: Required value`,
      `${AT}.envFrom: Invalid value: "": must specify one of: \`configMapRef\` or \`secretRef\``,
    ],
  ],
  [
    'resources',
    {
      'spec.containers.0.resources': {
        limits: { cpu: '-1', memory: '1Gi', 'hugepages-2Mi': '3Mi', gpu: '1', 'vendor.example/gpu': '1500m' },
        requests: { cpu: '-1', memory: '2Gi', 'hugepages-2Mi': '3Mi', gpu: '1', 'vendor.example/gpu': '1500m' },
      },
    },
    [
      `${AT}.resources.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0`,
      `${AT}.resources.limits[gpu]: Invalid value: "gpu": must be a standard resource type or fully qualified`,
      `${AT}.resources.limits[gpu]: Invalid value: "gpu": must be a standard resource for containers`,
      `${AT}.resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi`,
      `${AT}.resources.limits[vendor.example/gpu]: Invalid value: "1500m": must be an integer`,
      `${AT}.resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0`,
      `${AT}.resources.requests[gpu]: Invalid value: "gpu": must be a standard resource type or fully qualified`,
      `${AT}.resources.requests[gpu]: Invalid value: "gpu": must be a standard resource for containers`,
      `${AT}.resources.requests[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi`,
      `${AT}.resources.requests: Invalid value: "2Gi": must be less than or equal to memory limit of 1Gi`,
      `${AT}.resources.requests[vendor.example/gpu]: Invalid value: "1500m": must be an integer`,
    ],
  ],
  [
    'requests of devices without a limit',
    { 'spec.containers.0.resources': { requests: { 'vendor.example/gpu': '1' } } },
    [`${AT}.resources.limits: Required value: Limit must be set for non overcommitable resources`],
  ],
  [
    'an unknown resource claim',
    { 'spec.containers.0.resources': { claims: [{ name: 'gpu' }] } },
    [`${AT}.resources.claims[0]: Not found: "gpu": must be one of the names in pod.spec.resourceClaims which is empty`],
  ],
  [
    'init containers',
    {
      'spec.initContainers': [
        { name: 'a', image: 'x', lifecycle: {}, readinessProbe: { exec: { command: ['true'] } } },
        { name: 'b', image: 'x', restartPolicy: 'Always', readinessProbe: { exec: { command: ['true'] } } },
      ],
    },
    [
      'spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers without restartPolicy=Always',
      'spec.initContainers[0].readinessProbe: Forbidden: may not be set for init containers without restartPolicy=Always',
    ],
  ],
  [
    'ephemeral containers',
    { 'spec.ephemeralContainers': [{ name: 'debug', image: 'x', ports: [{ containerPort: 1 }] }] },
    [
      'spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container',
      'spec.ephemeralContainers: Forbidden: cannot be set on create',
    ],
  ],
  [
    'security contexts',
    {
      'spec.securityContext': {
        runAsUser: -1,
        seccompProfile: { type: 'Localhost' },
        seLinuxChangePolicy: 'MountOption',
      },
      'spec.containers.0.securityContext': { procMount: 'Unmasked', appArmorProfile: { type: 'x' } },
    },
    [
      `${AT}.securityContext.procMount: Invalid value: "Unmasked": \`hostUsers\` must be false to use \`Unmasked\``,
      `${AT}.securityContext.appArmorProfile.type: Unsupported value: "x": supported values: "Localhost", "RuntimeDefault", "Unconfined"`,
      'spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive',
      'spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost',
      'spec.securityContext.seLinuxChangePolicy: Unsupported value: "MountOption": supported values: "Recursive"',
    ],
  ],
  [
    'sysctls',
    {
      'spec.hostNetwork': true,
      'spec.securityContext': {
        sysctls: [
          { name: 'net.core.somaxconn', value: '1' },
          { name: 'A', value: '1' },
          { name: 'kernel.x', value: '1' },
          { name: 'kernel.x', value: '2' },
        ],
      },
    },
    [
      `spec.securityContext.sysctls[0].name: Invalid value: "net.core.somaxconn": may not be specified when 'hostNetwork' is true`,
      'spec.securityContext.sysctls[1].name: Invalid value: "A": must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$',
      'spec.securityContext.sysctls[3].name: Duplicate value: "kernel.x"',
    ],
  ],
  [
    'tolerations',
    {
      'spec.tolerations': [
        { operator: 'Equal' },
        { key: 'a', operator: 'Exists', value: 'x' },
        { key: 'a', effect: 'x' },
        { key: 'a', tolerationSeconds: 1 },
        { key: 'a', operator: 'Lt', value: '1' },
        { key: 'a', operator: 'x' },
      ],
    },
    [
      'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
      `spec.tolerations[1].operator: Invalid value: "x": value must be empty when \`operator\` is 'Exists'`,
      'spec.tolerations[2].effect: Unsupported value: "x": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
      `spec.tolerations[3].effect: Invalid value: "": effect must be 'NoExecute' when \`tolerationSeconds\` is set`,
      'spec.tolerations[4].operator: Unsupported value: "Lt": supported values: "Equal", "Exists", "Lt", "Gt"',
      'spec.tolerations[5].operator: Unsupported value: "x": supported values: "Equal", "Exists"',
    ],
  ],
  [
    'affinity',
    {
      'spec.affinity': {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] },
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 101, preference: {} }],
        },
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: '', matchLabelKeys: ['a'] }],
        },
      },
    },
    [
      'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one node selector term',
      'spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 101: must be in the range 1-100',
      'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set',
      'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required value: can not be empty',
      'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "": name part must be non-empty',
      `spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "": ${KEY}`,
    ],
  ],
  [
    'topology spread constraints',
    {
      'spec.topologySpreadConstraints': [
        { maxSkew: 0, topologyKey: 'a', whenUnsatisfiable: 'ScheduleAnyway', minDomains: 1, labelSelector: {} },
        { maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'ScheduleAnyway', labelSelector: {} },
      ],
    },
    [
      'spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero',
      'spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{a, ScheduleAnyway}"',
      'spec.topologySpreadConstraints[0].minDomains: Invalid value: 1: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway',
    ],
  ],
  [
    'DNS',
    { 'spec.dnsPolicy': 'None', 'spec.hostAliases': [{ ip: '10.0.0.01' }, { ip: 'x', hostnames: ['A'] }] },
    [
      'spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None',
      'spec.hostAliases[0].ip: Invalid value: "10.0.0.01": must not have leading 0s',
      'spec.hostAliases[1].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      `spec.hostAliases[1].hostnames[0]: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
    ],
  ],
  [
    'a user namespace',
    { 'spec.hostUsers': false, 'spec.hostPID': true, 'spec.hostNetwork': true },
    ['spec.hostNetwork: Forbidden: when `hostUsers` is false', 'spec.HostPID: Forbidden: when `hostUsers` is false'],
  ],
  [
    'a token without a service account',
    {
      'spec.volumes': [
        { name: 'a', projected: { sources: [{ serviceAccountToken: { path: 'x', expirationSeconds: 1 } }] } },
      ],
    },
    [
      'spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes',
      'spec.volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set',
    ],
  ],
  [
    'a gated pod with a node',
    { 'spec.nodeName': 'node', 'spec.schedulingGates': [{ name: 'a' }, { name: 'a' }] },
    [
      'spec.schedulingGates[1]: Duplicate value: "a"',
      'spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared',
    ],
  ],
  [
    'resources at pod level',
    {
      'spec.resources': { limits: { cpu: '1', gpu: '1' }, requests: { cpu: '1' } },
      'spec.containers.0.resources': { requests: { cpu: '2' }, limits: { cpu: '2' } },
    },
    [
      'spec.resources.limits[gpu]: Invalid value: "gpu": must be a standard resource type or fully qualified',
      'spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 2',
      'spec.resources.containers[0][cpu].limits: Invalid value: "2": must be less than or equal to pod limits of 1',
    ],
  ],
  [
    'annotations',
    {
      'metadata.annotations': {
        'kubernetes.io/config.mirror': 'x',
        'controller.kubernetes.io/pod-deletion-cost': '01',
        'container.apparmor.security.beta.kubernetes.io/other': 'x',
      },
    },
    [
      'metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "x": must set spec.nodeName if mirror pod annotation is set',
      'metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "01": must be a 32bit integer',
      'metadata.annotations[container.apparmor.security.beta.kubernetes.io/other]: Invalid value: "other": container not found',
      'metadata.annotations[container.apparmor.security.beta.kubernetes.io/other]: Invalid value: "x": invalid AppArmor profile name: "x"',
    ],
  ],
];

for (const [name, changes, errors] of TABLE)
  test(`a pod's errors are upstream's: ${name}`, () => {
    assert.deepEqual(createErrors('pods', set(POD, changes)), errors);
  });
