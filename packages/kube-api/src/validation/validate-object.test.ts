import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyDefaults } from '../defaults/defaults.ts';
import { formatFieldPath, IssueList } from '../issue.ts';
import type { PodSpec } from '../objects/types.ts';
import { decodeObject } from '../schema/kinds.ts';
import { validateObject } from './validate-object.ts';

function problems(object: object): string[] {
  const issues = new IssueList();
  const decoded = decodeObject(object, issues);
  assert.deepEqual(issues.issues, []);
  validateObject(applyDefaults(decoded!), issues);
  return issues.issues.map(({ path, message }) => `${formatFieldPath(path)}: ${message}`);
}

const pod = (spec: object, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', ...metadata },
  spec: { containers: [{ name: 'a', image: 'b' }], ...spec },
});

const container = (fields: object, spec: object = {}) =>
  pod({ containers: [{ name: 'a', image: 'b', ...fields }], ...spec });

/** Asserts that the object has exactly the expected issues. Each expected text is the beginning of an issue. */
function check(object: object, expected: string[]): void {
  const found = problems(object);
  const matched =
    found.length === expected.length && found.every((problem, index) => problem.startsWith(expected[index]!));
  if (!matched) assert.deepEqual(found, expected, JSON.stringify(object));
}

test('names used as file names are limited to 255 bytes', () => {
  const problem = (most: number, namespace: string, length: number) => [
    `metadata.name: must be at most ${most} characters in namespace ${namespace}, got ${length}: the directory of the pod's logs`,
  ];
  check(pod({}, { name: 'n'.repeat(210) }), []);
  check(pod({}, { name: 'n'.repeat(211) }), problem(210, 'default', 211));
  check(pod({}, { name: 'n'.repeat(214), uid: 'u'.repeat(32) }), []);
  check(pod({}, { name: 'n'.repeat(220), uid: 'u'.repeat(32), namespace: 'team' }), problem(217, 'team', 220));
  const long = 'must have names of at most 255 bytes, got one of 256';
  const longer = 'must have at most 4095 bytes, got 4096';
  const volumes = [{ name: 'v' }];
  for (const [path, message] of [
    [`a/${'é'.repeat(128)}`, long],
    ['abc/'.repeat(1024), longer],
  ] as const) {
    const volume = (source: object) => pod({ volumes: [{ name: 'v', ...source }] });
    check(volume({ configMap: { name: 'c', items: [{ key: 'k', path }] } }), [
      `spec.volumes[0].configMap.items[0].path: ${message}`,
    ]);
    const mount = { name: 'v', mountPath: '/m' };
    check(container({ volumeMounts: [{ ...mount, subPath: path }] }, { volumes }), [
      `spec.containers[0].volumeMounts[0].subPath: ${message}`,
    ]);
  }
  check(pod({ volumes: [{ name: 'v', hostPath: { path: `/${'x'.repeat(256)}` } }] }), [
    `spec.volumes[0].hostPath.path: ${long}`,
  ]);
  check(container({ volumeMounts: [{ name: 'v', mountPath: `/${'x'.repeat(256)}` }] }, { volumes }), [
    `spec.containers[0].volumeMounts[0].mountPath: ${long}`,
  ]);
});

test('an ordinary pod has no problems', () => {
  check(pod({}), []);
  check(
    pod(
      {
        volumes: [
          { name: 'tmp' },
          { name: 'host', hostPath: { path: '/var/lib/x', type: 'DirectoryOrCreate' } },
          {
            name: 'all',
            projected: {
              sources: [
                { configMap: { name: 'c' } },
                { downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] } },
              ],
            },
          },
        ],
        initContainers: [
          { name: 'init', image: 'b', command: ['true'] },
          { name: 'side', image: 'b', restartPolicy: 'Always', readinessProbe: { tcpSocket: { port: 80 } } },
        ],
        dnsConfig: { searches: ['_tcp.example.com.', '.'], nameservers: ['::1'] },
        tolerations: [{ operator: 'Exists' }],
      },
      { labels: { 'app.kubernetes.io/name': 'x', empty: '' } },
    ),
    [],
  );
});

test('names follow the DNS and label rules', () => {
  check(pod({}, { name: 'Web' }), ['metadata.name: must be lower case letters']);
  check(pod({}, { name: `${'a'.repeat(254)}` }), ['metadata.name: must be at most 253 characters']);
  check(pod({}, { namespace: 'a.b' }), ['metadata.namespace: ']);
  check(pod({}, { uid: '../../etc' }), ['metadata.uid: must be letters']);
  check(pod({}, { labels: { '/x': 'y' } }), ['metadata.labels[/x]: ']);
  check(pod({}, { labels: { x: 'a b' } }), ['metadata.labels.x: ']);
  check(container({ name: 'a_b' }), ['spec.containers[0].name: must be lower case letters']);
  check(pod({ hostname: 'a.b', subdomain: '-' }), ['spec.hostname: ', 'spec.subdomain: ']);
  check(pod({ hostAliases: [{ ip: '1.2.3', hostnames: ['A'] }] }), [
    'spec.hostAliases[0].ip: must be an IP',
    'spec.hostAliases[0].hostnames[0]: ',
  ]);
});

test('at least one container is required, and names are unique', () => {
  check(pod({ containers: [] }), ['spec.containers: must have at least one container']);
  check(pod({ initContainers: [{ name: 'a', image: 'b' }] }), [
    'spec.containers[0].name: container "a" is defined twice',
  ]);
});

test('init containers without restartPolicy Always must not have probes or hooks', () => {
  const hook = { preStop: { exec: { command: ['x'] } } };
  check(
    pod({ initContainers: [{ name: 'i', image: 'b', lifecycle: hook, livenessProbe: { tcpSocket: { port: 1 } } }] }),
    ['spec.initContainers[0].lifecycle: must not be set', 'spec.initContainers[0].livenessProbe: must not be set'],
  );
  check(pod({ initContainers: [{ name: 'i', image: 'b', restartPolicy: 'Always', lifecycle: hook }] }), []);
});

test('restart rules require a restart policy, and are limited in number', () => {
  const rule = { action: 'Restart' as const, exitCodes: { operator: 'In' as const, values: [1] } };
  check(container({ restartPolicy: 'Always' }), []);
  check(container({ restartPolicy: 'Never', restartPolicyRules: [rule] }), []);
  check(container({ restartPolicyRules: [rule] }), [
    'spec.containers[0].restartPolicy: is required while there are restartPolicyRules',
  ]);
  const long = { ...rule, exitCodes: { operator: 'In' as const, values: Array.from({ length: 256 }, () => 1) } };
  check(container({ restartPolicy: 'Never', restartPolicyRules: [...Array.from({ length: 20 }, () => rule), long] }), [
    'spec.containers[0].restartPolicyRules: must have at most 20 rules, got 21',
    'spec.containers[0].restartPolicyRules[20].exitCodes.values: must have at most 255 exit codes, got 256',
  ]);
});

test('each resource has one resize policy, which must not restart containers that never restart', () => {
  const restart = { resourceName: 'cpu' as const, restartPolicy: 'RestartContainer' as const };
  check(container({ resizePolicy: [restart] }), []);
  check(container({ resizePolicy: [restart, restart] }), [
    'spec.containers[0].resizePolicy[1].resourceName: resource "cpu" is used twice',
  ]);
  check(pod({ restartPolicy: 'Never', containers: [{ name: 'a', image: 'b', resizePolicy: [restart] }] }), [
    'spec.containers[0].resizePolicy[0].restartPolicy: must be NotRequired while the restartPolicy of the pod is Never',
  ]);
  check(pod({ initContainers: [{ name: 'i', image: 'b', resizePolicy: [restart] }] }), [
    'spec.initContainers[0].resizePolicy[0].restartPolicy: must not be RestartContainer for init containers without restartPolicy: Always',
  ]);
});

test('a pod cannot be created with ephemeral containers', () => {
  check(pod({ ephemeralContainers: [{ name: 'shell', image: 'b' }] }), [
    'spec.ephemeralContainers: cannot be set on create: `podwright debug` adds one to a running pod',
  ]);
});

test('ports are within range and used only once', () => {
  check(container({ ports: [{ containerPort: 0 }, { containerPort: 65536, name: '-' }] }), [
    'spec.containers[0].ports[0].containerPort: must be between 1 and 65535, got 0',
    'spec.containers[0].ports[1].name: ',
    'spec.containers[0].ports[1].containerPort: must be between',
  ]);
  const http = { containerPort: 80, hostPort: 8080 };
  check(container({ ports: [http, { ...http, protocol: 'UDP' }, { ...http, hostIP: '127.0.0.1' }] }), []);
  check(container({ ports: [http, http] }), ['spec.containers[0].ports[1].hostPort: host port 8080/TCP is used twice']);
  check(container({ ports: [http] }, { hostNetwork: true }), [
    'spec.containers[0].ports[0].hostPort: must equal containerPort (80)',
  ]);
  check(
    container({
      ports: [
        { containerPort: 1, name: 'x' },
        { containerPort: 2, name: 'x' },
      ],
    }),
    ['spec.containers[0].ports[1].name: port name "x" is used twice'],
  );
});

test('mounts reference volumes of the pod, and have unique paths', () => {
  const volumes = [{ name: 'v' }];
  check(
    container(
      {
        volumeMounts: [
          { name: 'v', mountPath: '/a' },
          { name: 'w', mountPath: '/a' },
        ],
      },
      { volumes },
    ),
    [
      'spec.containers[0].volumeMounts[1].mountPath: mount path "/a" is used twice',
      'spec.containers[0].volumeMounts[1].name: the pod has no volume "w"',
    ],
  );
  check(container({ volumeMounts: [{ name: 'v', mountPath: '/a', subPath: '../x' }] }, { volumes }), [
    'spec.containers[0].volumeMounts[0].subPath: must not contain ".."',
  ]);
  check(container({ volumeMounts: [{ name: 'v', mountPath: '/a', mountPropagation: 'Bidirectional' }] }, { volumes }), [
    'spec.containers[0].volumeMounts[0].mountPropagation: ',
  ]);
  check(container({ volumeMounts: [{ name: 'v', mountPath: '/a', recursiveReadOnly: 'Enabled' }] }, { volumes }), [
    'spec.containers[0].volumeMounts[0].recursiveReadOnly: needs readOnly',
  ]);
});

test('volumes have one source, safe paths and valid modes', () => {
  const volume = (source: object) => pod({ volumes: [{ name: 'v', ...source }] });
  check(volume({ emptyDir: {}, hostPath: { path: '/a' } }), [
    'spec.volumes[0].hostPath: must not be given together with emptyDir',
  ]);
  check(volume({ hostPath: { path: 'a' } }), ['spec.volumes[0].hostPath.path: must be an absolute path']);
  check(volume({ hostPath: { path: '/a/../b' } }), ['spec.volumes[0].hostPath.path: must not contain ".."']);
  check(volume({ emptyDir: { sizeLimit: '-1' } }), ['spec.volumes[0].emptyDir.sizeLimit: must not be negative']);
  for (const medium of ['', 'Memory', 'HugePages', 'HugePages-2Mi']) check(volume({ emptyDir: { medium } }), []);
  for (const medium of ['Tape', 'HugePages-', 'HugePages-big', 'hugepages'])
    check(volume({ emptyDir: { medium } }), ['spec.volumes[0].emptyDir.medium: must be Memory, HugePages']);
  check(volume({ nfs: { server: '-o', path: 'export' } }), [
    'spec.volumes[0].nfs.server: must be the name or address of a host',
    'spec.volumes[0].nfs.path: must be an absolute path',
  ]);
  for (const server of ['nas.example', '192.0.2.1', '2001:db8::1', '[2001:db8::1]'])
    check(volume({ nfs: { server, path: '/a b' } }), []);
  for (const server of ['', 'a b', 'a/b', 'a,b'])
    check(volume({ nfs: { server, path: '/' } }), ['spec.volumes[0].nfs.server: must be the name']);
  check(volume({ persistentVolumeClaim: { claimName: '../a' } }), [
    'spec.volumes[0].persistentVolumeClaim.claimName: must be lower case letters',
  ]);
  check(volume({ configMap: { name: 'c', defaultMode: 644 } }), [
    'spec.volumes[0].configMap.defaultMode: must be a file mode between 0 and 0777 (octal), got 644',
  ]);
  check(
    volume({
      secret: {
        secretName: 's',
        items: [
          { key: '..', path: '/abs' },
          { key: 'k', path: '..data' },
          { key: 'k', path: './/..data' },
          { key: 'k', path: './' },
          { key: 'k', path: './a//b/' },
        ],
      },
    }),
    [
      'spec.volumes[0].secret.items[0].key: must not be "."',
      'spec.volumes[0].secret.items[0].path: must be a relative path',
      'spec.volumes[0].secret.items[1].path: must not begin with ".."',
      'spec.volumes[0].secret.items[2].path: must not begin with ".."',
      'spec.volumes[0].secret.items[3].path: must name a file',
    ],
  );
  check(
    volume({
      downwardAPI: {
        items: [
          { path: 'a', fieldRef: { fieldPath: 'spec.nodeName' } },
          { path: 'b', resourceFieldRef: { resource: 'limits.cpu' } },
        ],
      },
    }),
    [
      'spec.volumes[0].downwardAPI.items[0].fieldRef.fieldPath: must be one of',
      'spec.volumes[0].downwardAPI.items[1].resourceFieldRef.containerName: is required',
    ],
  );
  const items = [{ key: 'k', path: 'p' }];
  check(volume({ projected: { sources: [{ secret: { name: 's', items } }, { configMap: { name: 'c', items } }] } }), [
    'spec.volumes[0].projected.sources[1].configMap.items[0].path: path "p" is used twice',
  ]);
  check(pod({ volumes: [{ name: 'v' }, { name: 'v' }] }), ['spec.volumes[1].name: volume "v" is used twice']);
});

test('variables have printable names and one source', () => {
  check(container({ env: [{ name: 'my.var-1', value: '' }, { name: 'a=b' }, { name: '' }] }), [
    'spec.containers[0].env[1].name: must be printable',
    'spec.containers[0].env[2].name: must be printable',
  ]);
  check(container({ env: [{ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'status.podIp' } } }] }), [
    'spec.containers[0].env[0].valueFrom: must not be given together with value',
    'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: must be one of',
  ]);
  check(container({ env: [{ name: 'A', valueFrom: {} }] }), [
    'spec.containers[0].env[0].valueFrom: must have one of fieldRef',
  ]);
  check(
    container({ env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '3' } } }] }),
    ['spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor: must be one of 1, 1k'],
  );
  check(container({ envFrom: [{ configMapRef: { name: 'a' }, secretRef: { name: 'b' } }, {}] }), [
    'spec.containers[0].envFrom[0].secretRef: must not be given together with configMapRef',
    'spec.containers[0].envFrom[1]: must have one of',
  ]);
});

test('arguments and environment variables contain no NUL byte', () => {
  check(container({ command: ['sh', 'a\0b'], args: ['\0'], env: [{ name: 'A', value: '\0' }] }), [
    'spec.containers[0].command[1]: must not contain a zero byte',
    'spec.containers[0].args[0]: must not contain a zero byte',
    'spec.containers[0].env[0].value: must not contain a zero byte',
  ]);
});

test('probes have one handler and positive numbers', () => {
  const tcpSocket = { port: 80 };
  check(container({ livenessProbe: {} }), [
    'spec.containers[0].livenessProbe: must have one of exec, httpGet, tcpSocket, grpc',
  ]);
  check(container({ readinessProbe: { tcpSocket, exec: { command: [] } } }), [
    'spec.containers[0].readinessProbe.tcpSocket: must not be given together with exec',
    'spec.containers[0].readinessProbe.exec.command: must not be empty',
  ]);
  check(container({ livenessProbe: { tcpSocket, successThreshold: 2, periodSeconds: -1 } }), [
    'spec.containers[0].livenessProbe.periodSeconds: must be between 0',
    'spec.containers[0].livenessProbe.successThreshold: must be 1',
  ]);
  check(container({ readinessProbe: { tcpSocket, terminationGracePeriodSeconds: 5 } }), [
    'spec.containers[0].readinessProbe.terminationGracePeriodSeconds: must not be set',
  ]);
  check(container({ livenessProbe: { httpGet: { port: 70_000, httpHeaders: [{ name: 'a b', value: 'x\r\ny' }] } } }), [
    'spec.containers[0].livenessProbe.httpGet.port: must be between 1 and 65535',
    'spec.containers[0].livenessProbe.httpGet.httpHeaders[0].name: must be an HTTP header name',
    'spec.containers[0].livenessProbe.httpGet.httpHeaders[0].value: must not contain line ends',
  ]);
});

test('grace periods may be any 64-bit integer, as in the API server', () => {
  const tcpSocket = { port: 80 };
  for (const terminationGracePeriodSeconds of [2 ** 31, 2 ** 53, 2 ** 63]) {
    const livenessProbe = { tcpSocket, terminationGracePeriodSeconds };
    check(container({ livenessProbe }, { terminationGracePeriodSeconds }), []);
  }
  check(container({ livenessProbe: { tcpSocket, terminationGracePeriodSeconds: 0 } }), [
    'spec.containers[0].livenessProbe.terminationGracePeriodSeconds: must be at least 1, got 0',
  ]);
  const issues = new IssueList();
  const decoded = decodeObject(pod({ terminationGracePeriodSeconds: JSON.parse('9223372036854775807') }), issues);
  const kept = (decoded as { spec: PodSpec }).spec.terminationGracePeriodSeconds!;
  assert.ok(BigInt(JSON.stringify(kept)) < 2n ** 63n, 'an API server can read it');
  decodeObject(pod({ terminationGracePeriodSeconds: 1e19 }), issues);
  const range = 'must be between -9223372036854775808 and 9223372036854775807, got 10000000000000000000';
  assert.deepEqual(
    issues.issues.map(({ message }) => message),
    [range],
  );
});

test('hooks have one handler and end within the grace period', () => {
  check(container({ lifecycle: { preStop: { sleep: { seconds: 31 } } } }), [
    'spec.containers[0].lifecycle.preStop.sleep.seconds: must be between 0 and terminationGracePeriodSeconds (30), got 31',
  ]);
  check(container({ lifecycle: { postStart: {} } }), ['spec.containers[0].lifecycle.postStart: must have one of']);
  for (const stopSignal of ['SIGTERM', 'SIGRTMIN+15', 'SIGRTMAX-14'])
    check(container({ lifecycle: { stopSignal } }, { os: { name: 'linux' } }), []);
  for (const stopSignal of ['SIGFOO', 'SIGRTMIN+16', 'SIGRTMAX-15'])
    check(container({ lifecycle: { stopSignal } }, { os: { name: 'linux' } }), [
      'spec.containers[0].lifecycle.stopSignal: must be a signal',
    ]);
  check(container({ lifecycle: { stopSignal: 'TERM' } }, { os: { name: 'linux' } }), [
    'spec.containers[0].lifecycle.stopSignal: must be a signal',
  ]);
  check(container({ lifecycle: { stopSignal: 'SIGUSR1' } }), [
    'spec.containers[0].lifecycle.stopSignal: needs spec.os.name',
  ]);
});

test('resources are known and positive, and requests do not exceed limits', () => {
  check(container({ resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: 2, memory: '-1' } } }), [
    'spec.containers[0].resources.requests.memory: must not be negative',
    'spec.containers[0].resources.requests.cpu: must be at most the limit of 1, got 2',
  ]);
  check(container({ resources: { limits: { mem: '1' } } }), [
    'spec.containers[0].resources.limits.mem: this node has no resource of that name',
  ]);
  check(container({ resources: { requests: { 'hugepages-2Mi': '2Mi' } } }), [
    'spec.containers[0].resources.requests[hugepages-2Mi]: must equal the limit',
    'spec.containers[0].resources: huge pages need',
  ]);
});

test('unsupported settings, and those that affect the host, are rejected', () => {
  const sysctls = (name: string, spec: object = {}) =>
    pod({ securityContext: { sysctls: [{ name, value: '1' }] }, ...spec });
  check(sysctls('net.ipv4.tcp_syncookies'), []);
  check(sysctls('net/core/somaxconn'), []);
  check(sysctls('vm.swappiness'), [
    'spec.securityContext.sysctls[0].name: "vm.swappiness" is not a setting of a namespace',
  ]);
  check(sysctls('kernel.shm_rmid_forced', { hostIPC: true }), [
    'spec.securityContext.sysctls[0].name: "kernel.shm_rmid_forced" must not be set while hostIPC',
  ]);
  check(sysctls('net/ipv4/conf/eth0.100/rp_filter'), []);
  check(pod({ hostPID: true, shareProcessNamespace: true }), ['spec.shareProcessNamespace: must not be true']);
  check(pod({ os: { name: 'windows' } }), ['spec.os.name: this node runs linux']);
  check(
    container({
      securityContext: { privileged: true, allowPrivilegeEscalation: false, runAsUser: -1, procMount: 'Unmasked' },
    }),
    [
      'spec.containers[0].securityContext.runAsUser: must be between 0',
      'spec.containers[0].securityContext.procMount: Unmasked needs a user namespace: hostUsers: false',
      'spec.containers[0].securityContext.allowPrivilegeEscalation: must not be false for a privileged',
    ],
  );
  check(
    pod({
      securityContext: {
        seccompProfile: { type: 'Localhost', localhostProfile: '../x' },
        appArmorProfile: { type: 'Unconfined', localhostProfile: 'x' },
      },
    }),
    [
      'spec.securityContext.appArmorProfile.localhostProfile: may only be set',
      'spec.securityContext.seccompProfile.localhostProfile: must be a relative path',
    ],
  );
});

test('a pod with its own user namespace shares no other namespaces with the host', () => {
  check(pod({ hostUsers: false }), []);
  check(container({ securityContext: { procMount: 'Unmasked' } }, { hostUsers: false }), []);
  check(pod({ hostUsers: false, hostNetwork: true, hostPID: true, hostIPC: true }), [
    'spec.hostNetwork: must not be true while hostUsers is false',
    'spec.hostPID: must not be true',
    'spec.hostIPC: must not be true',
  ]);
});

test('hostnameOverride excludes setHostnameAsFQDN and hostNetwork', () => {
  check(pod({ hostnameOverride: 'db.example.org', hostname: 'x', subdomain: 'y' }), []);
  check(pod({ hostnameOverride: `${'a'.repeat(60)}.example` }), ['spec.hostnameOverride: must be at most 64']);
  check(pod({ hostnameOverride: 'A', setHostnameAsFQDN: true, hostNetwork: true }), [
    'spec.hostnameOverride: must be lower case',
    'spec.hostnameOverride: must not be given while setHostnameAsFQDN',
    'spec.hostnameOverride: must not be given while hostNetwork',
  ]);
});

test('image volumes and variables from emptyDir files are allowed', () => {
  const volumes = [{ name: 'model', image: { reference: 'm:1' } }, { name: 'tmp' }];
  const file = (volumeName: string, path: string, key = 'A') =>
    container({ env: [{ name: 'A', valueFrom: { fileKeyRef: { volumeName, path, key } } }] }, { volumes });
  check(file('tmp', 'd/env'), []);
  const place = 'spec.containers[0].env[0].valueFrom.fileKeyRef';
  check(file('model', 'env'), [`${place}.volumeName: "model" must be an emptyDir`]);
  check(file('none', 'env'), [`${place}.volumeName: the pod has no volume "none"`]);
  check(file('tmp', '../env', 'A=B'), [`${place}.key: must be printable`, `${place}.path: must not contain ".."`]);
  check(pod({ volumes: [{ name: 'model', image: { reference: '' } }] }), [
    'spec.volumes[0].image.reference: must not be empty',
  ]);
});

test('DNS settings respect the resolver limits', () => {
  check(pod({ dnsPolicy: 'None' }), ['spec.dnsConfig.nameservers: must have at least one address']);
  check(pod({ dnsConfig: { nameservers: ['1.1.1.1', '2.2.2.2', '3.3.3.3', 'x'] } }), [
    'spec.dnsConfig.nameservers: must have at most 3',
    'spec.dnsConfig.nameservers[3]: must be an IP',
  ]);
});

test('ConfigMaps and Secrets have valid keys and base64, and at most 1 MiB', () => {
  const configMap = (fields: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, ...fields });
  const secret = (fields: object) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, ...fields });
  check(configMap({ data: { 'a/b': '' }, binaryData: { x: 'not base64!' } }), [
    'data[a/b]: must be letters',
    'binaryData.x: must be base64',
  ]);
  check(configMap({ data: { a: '' }, binaryData: { a: '' } }), ['binaryData.a: is in data as well']);
  check(configMap({ data: { a: 'x'.repeat((1 << 20) + 1) } }), [': must hold at most 1048576 bytes of data']);
  check(secret({ data: { a: 'A'.repeat(1_300_000) } }), []);
  check(secret({ type: 'kubernetes.io/tls', stringData: { 'tls.crt': 'x' } }), [
    'data[tls.key]: is required for the type kubernetes.io/tls',
  ]);
  check(secret({ type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': '{' } }), [
    'data[.dockerconfigjson]: must be JSON in base64',
  ]);
  check({ apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name: 'r' }, handler: '../x' }, [
    'handler: must be lower case',
  ]);
});

test('pod-level resources must be sufficient for the containers', () => {
  const podLevel = (resources: object, own: object = {}, spec: object = {}) =>
    container({ resources: own }, { resources, ...spec });
  const both = { cpu: '1', memory: '64Mi' };
  check(podLevel({ limits: both }), []);
  check(podLevel({ requests: both, limits: { ...both, 'hugepages-2Mi': '2Mi' } }), []);
  check(podLevel({ requests: { cpu: '2' }, limits: { cpu: '1' } }), ['spec.resources.requests.cpu: must be at most']);
  check(podLevel({ limits: { 'ephemeral-storage': '1Gi' } }), [
    'spec.resources.limits[ephemeral-storage]: is only for',
  ]);
  check(podLevel({ requests: { cpu: '-1' } }), ['spec.resources.requests.cpu: must not be negative']);
  check(podLevel({ requests: { 'hugepages-2Mi': '2Mi', cpu: '1' } }), [
    'spec.resources.requests[hugepages-2Mi]: must equal the limit',
  ]);
  check(podLevel({ requests: { cpu: '1' } }, { requests: { cpu: '1001m' } }), [
    'spec.resources.requests.cpu: must be at least 1001m, the requests of all containers together, got 1',
  ]);
  check(podLevel({ requests: { cpu: '1' }, limits: { cpu: '1' } }, { requests: { cpu: '0' }, limits: { cpu: '2' } }), [
    'spec.resources.limits.cpu: must be at least 2, the limit of container "a"',
  ]);
  check(podLevel({ limits: both }, {}, { os: { name: 'windows' } }), [
    'spec.os.name: ',
    'spec.resources: must not be set',
  ]);
});
