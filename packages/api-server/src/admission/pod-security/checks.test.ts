import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeViolations, violationsOf } from './checks.ts';
import type { Level } from './policy.ts';

type Spec = Record<string, unknown>;
type Options = { version?: number; annotations?: Record<string, string> };

/** Checks the violations that a pod has of a Pod Security level, formatted on one line. */
function check(
  level: Level,
  spec: Spec,
  expected: string,
  { version = Number.POSITIVE_INFINITY, annotations = {} }: Options = {},
): void {
  assert.equal(describeViolations(violationsOf({ level, version }, { annotations, spec })), expected);
}

/** Returns containers named `a`, `b`, … with these security contexts. */
const containers = (...contexts: Spec[]) => ({
  containers: contexts.map((securityContext, index) => ({ name: 'abcdef'[index], securityContext })),
});
const SAFE = {
  allowPrivilegeEscalation: false,
  runAsNonRoot: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};
const safe = (more: Spec = {}): Spec => ({ ...containers(SAFE), ...more });

test('a pod without settings is allowed by baseline, and needs four settings for restricted', () => {
  check('privileged', { hostNetwork: true }, '');
  check('baseline', { containers: [{ name: 'a' }] }, '');
  check('restricted', safe(), '');
  check(
    'restricted',
    { containers: [{ name: 'a' }], initContainers: [{ name: 'i' }], ephemeralContainers: [{ name: 'e' }] },
    [
      'allowPrivilegeEscalation != false (containers "i", "a", "e" must set securityContext.allowPrivilegeEscalation=false)',
      'unrestricted capabilities (containers "i", "a", "e" must set securityContext.capabilities.drop=["ALL"])',
      'runAsNonRoot != true (pod or containers "i", "a", "e" must set securityContext.runAsNonRoot=true)',
      'seccompProfile (pod or containers "i", "a", "e" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    ].join(', '),
  );
});

test('host access is forbidden by baseline', () => {
  check(
    'baseline',
    { hostNetwork: true, hostPID: true, hostIPC: true },
    'host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)',
  );
  check(
    'baseline',
    {
      volumes: [
        { name: 'v', hostPath: {} },
        { name: 'w', emptyDir: {} },
      ],
    },
    'hostPath volumes (volume "v")',
  );
  check(
    'baseline',
    {
      volumes: [
        { name: 'v', hostPath: {} },
        { name: 'w', hostPath: {} },
      ],
    },
    'hostPath volumes (volumes "v", "w")',
  );
  check(
    'baseline',
    { containers: [{ name: 'a', ports: [{ hostPort: 0 }, { hostPort: 80 }] }] },
    'hostPort (container "a" uses hostPort 80)',
  );
  check(
    'baseline',
    {
      containers: [
        { name: 'a', ports: [{ hostPort: 9 }] },
        { name: 'b', ports: [{ hostPort: 80 }] },
      ],
    },
    'hostPort (containers "a", "b" use hostPorts 80, 9)',
  );
  check(
    'baseline',
    containers({ privileged: true }),
    'privileged (container "a" must not set securityContext.privileged=true)',
  );
  check(
    'baseline',
    containers({ procMount: 'Unmasked' }, { procMount: 'Default' }),
    'procMount (container "a" must not set securityContext.procMount to "Unmasked")',
  );
  check(
    'baseline',
    {
      ...containers({ windowsOptions: { hostProcess: true } }),
      securityContext: { windowsOptions: { hostProcess: true } },
    },
    'hostProcess (pod and container "a" must not set securityContext.windowsOptions.hostProcess=true)',
  );
});

test('probes and hooks may not set a host since 1.34', () => {
  const spec = {
    containers: [
      { name: 'b', livenessProbe: { httpGet: { host: '10.0.0.1' } } },
      { name: 'a', lifecycle: { preStop: { tcpSocket: { host: 'x' } } }, startupProbe: { httpGet: { host: '' } } },
    ],
  };
  check('baseline', spec, 'probe or lifecycle host (containers "a", "b" use probe or lifecycle hosts "10.0.0.1", "x")');
  check('baseline', spec, '', { version: 33 });
});

test('capabilities are restricted', () => {
  const adding = (...add: string[]) => containers({ ...SAFE, capabilities: { add, drop: ['ALL'] } });
  check('baseline', adding('CHOWN', 'NET_BIND_SERVICE'), '');
  check(
    'baseline',
    adding('SYS_ADMIN', 'NET_RAW', 'CHOWN'),
    'non-default capabilities (container "a" must not include "NET_RAW", "SYS_ADMIN" in securityContext.capabilities.add)',
  );
  check('restricted', adding('NET_BIND_SERVICE'), '');
  check(
    'restricted',
    adding('CHOWN'),
    'unrestricted capabilities (container "a" must not include "CHOWN" in securityContext.capabilities.add)',
  );
  check('restricted', adding('CHOWN'), '', { version: 21 });
  check(
    'restricted',
    containers(SAFE, { ...SAFE, capabilities: { add: ['X'] } }),
    'unrestricted capabilities (container "b" must set securityContext.capabilities.drop=["ALL"]; container "b" must not include "X" in securityContext.capabilities.add)',
  );
});

test('sysctls and SELinux types are allowed depending on the version', () => {
  const sysctl = (name: string) => ({ securityContext: { sysctls: [{ name }] } });
  check('baseline', sysctl('kernel.shm_rmid_forced'), '', { version: 0 });
  check('baseline', sysctl('kernel.msgmax'), 'forbidden sysctls (kernel.msgmax)');
  for (const [name, since] of [
    ['ip_local_reserved_ports', 27],
    ['tcp_keepalive_time', 29],
    ['tcp_rmem', 32],
  ] as const) {
    check('baseline', sysctl(`net.ipv4.${name}`), '', { version: since });
    check('baseline', sysctl(`net.ipv4.${name}`), `forbidden sysctls (net.ipv4.${name})`, { version: since - 1 });
  }
  const type = (one: string) => containers({ seLinuxOptions: { type: one } });
  const forbidden = (text: string) =>
    `seLinuxOptions (container "a" set forbidden securityContext.seLinuxOptions: ${text})`;
  check('baseline', type('container_engine_t'), '');
  check('baseline', type('container_engine_t'), forbidden('type "container_engine_t"'), { version: 30 });
  check(
    'baseline',
    {
      ...containers({ seLinuxOptions: { type: 'b', role: 'r' } }),
      securityContext: { seLinuxOptions: { type: 'a', user: 'u' } },
    },
    'seLinuxOptions (pod and container "a" set forbidden securityContext.seLinuxOptions: types "a", "b"; user may not be set; role may not be set)',
  );
});

test('AppArmor profiles are restricted in fields and annotations', () => {
  const key = 'container.apparmor.security.beta.kubernetes.io/a';
  check('baseline', containers({ appArmorProfile: { type: 'Localhost' } }), '', {
    annotations: { [key]: 'localhost/x' },
  });
  check(
    'baseline',
    containers({}),
    `forbidden AppArmor profile (annotation must not set AppArmor profile type to "${key}="unconfined"")`,
    {
      annotations: { [key]: 'unconfined' },
    },
  );
  check(
    'baseline',
    {
      ...containers({ appArmorProfile: { type: 'Unconfined' } }),
      securityContext: { appArmorProfile: { type: 'Odd' } },
    },
    'forbidden AppArmor profiles (pod and container "a" must not set AppArmor profile type to "Odd", "Unconfined")',
  );
});

test('seccomp profiles are restricted in fields, and before 1.19 in annotations', () => {
  const unconfined = { seccompProfile: { type: 'Unconfined' } };
  const message = (who: string) =>
    `seccompProfile (${who} must not set securityContext.seccompProfile.type to "Unconfined")`;
  check('baseline', containers(unconfined), message('container "a"'));
  check('restricted', { ...safe(), securityContext: unconfined }, message('pod'));
  check('restricted', { ...containers({ ...SAFE, seccompProfile: undefined }), securityContext: SAFE }, '');
  const annotations = {
    'seccomp.security.alpha.kubernetes.io/pod': 'unconfined',
    'container.seccomp.security.alpha.kubernetes.io/a': 'docker/default',
  };
  check(
    'baseline',
    containers({}),
    'seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")',
    { version: 18, annotations },
  );
  check('baseline', containers({}), '', { annotations });
});

test('restricted forbids containers running as root', () => {
  const root = (context: Spec) => containers({ ...SAFE, ...context });
  check(
    'restricted',
    root({ runAsNonRoot: false }),
    'runAsNonRoot != true (container "a" must not set securityContext.runAsNonRoot=false)',
  );
  check(
    'restricted',
    { ...safe(), securityContext: { runAsNonRoot: false } },
    'runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false)',
  );
  check('restricted', { ...root({ runAsNonRoot: undefined }), securityContext: { runAsNonRoot: true } }, '');
  check(
    'restricted',
    { ...root({ runAsUser: 0 }), securityContext: { runAsUser: 0 } },
    'runAsUser=0 (pod and container "a" must not set runAsUser=0)',
  );
  check('restricted', root({ runAsUser: 0 }), '', { version: 22 });
});

test('in a user namespace, root and any procMount are allowed since 1.35', () => {
  const spec = {
    ...containers({ ...SAFE, runAsUser: 0, runAsNonRoot: false, procMount: 'Unmasked' }),
    hostUsers: false,
  };
  const procMount = 'procMount (container "a" must not set securityContext.procMount to "Unmasked")';
  check('baseline', spec, '');
  check('baseline', spec, procMount, { version: 34 });
  check('restricted', spec, procMount);
});

test('forbidden volumes are reported by type', () => {
  const volumes = [{ name: 'a', emptyDir: {} }, { name: 'b', hostPath: {} }, { name: 'c', nfs: {} }, { name: 'd' }];
  check(
    'restricted',
    safe({ volumes }),
    'restricted volume types (volumes "b", "c", "d" use restricted volume types "hostPath", "nfs", "unknown")',
  );
  check(
    'restricted',
    safe({ volumes: volumes.slice(1, 2) }),
    'restricted volume types (volume "b" uses restricted volume type "hostPath")',
  );
});

test('Windows pods need no Linux settings since 1.25', () => {
  const spec = { ...containers({ runAsNonRoot: true }), os: { name: 'windows' } };
  check('restricted', spec, '');
  assert.notEqual(violationsOf({ level: 'restricted', version: 24 }, { annotations: {}, spec }).length, 0);
});
