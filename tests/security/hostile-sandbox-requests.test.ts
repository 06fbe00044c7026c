/**
 * A CRI client passes on values chosen by a pod's author that contain paths to other files, additional lines or settings, or more
 * permissions than the pod may have. All are rejected before they take effect.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { errorCode } from '@podwright/base';
import { NamespaceMode } from '@podwright/cri';
import { AttackedRuntime } from './attacked-runtime.fixture.ts';

const attacked = new AttackedRuntime();
const { place } = attacked.runtime;
const REFUSED = /^(invalid_argument|failed_precondition|permission_denied|not_found)$/;
const outward = '../'.repeat(20);

before(() => attacked.start());
after(() => attacked.end());

type More = NonNullable<Parameters<AttackedRuntime['pod']>[1]>;

/** Host settings that a pod must not change. */
const hostSettings = () =>
  ['core_pattern', 'hostname', 'panic'].map((name) => readFileSync(`/proc/sys/kernel/${name}`, 'utf8'));

async function assertRefused(name: string, more: More): Promise<void> {
  const before = hostSettings();
  const outcome = await attacked.pod('hostile', more).catch((error: unknown) => error);
  assert.ok(outcome instanceof Error, `${name} was taken`);
  assert.match(errorCode(outcome), REFUSED, name);
  assert.deepEqual(hostSettings(), before, name);
  assert.deepEqual(await attacked.runtime.remains(), [], name);
}

test('malformed host names, name servers, log directories and ports are refused', async () => {
  const table: [string, More][] = [
    ['a host name with a line', { hostname: 'a\n127.0.0.1 evil' }],
    ['a host name that is a path', { hostname: `${outward}etc` }],
    ['a host name that is too long', { hostname: 'x'.repeat(65) }],
    ['a name server with a line', { dnsConfig: { servers: ['1.1.1.1\noptions trust-ad'] } }],
    ['a search domain with a line', { dnsConfig: { searches: ['a\nnameserver 6.6.6.6'] } }],
    ['an option with a line', { dnsConfig: { options: ['ndots:1\nnameserver 6.6.6.6'] } }],
    ['a log directory with dots', { logDirectory: `/var/log/${outward}tmp` }],
    ['a log directory that is not absolute', { logDirectory: 'logs' }],
    ['an invalid port', { portMappings: [{ containerPort: 80, hostPort: 70_000 }] }],
    ['an invalid address', { portMappings: [{ containerPort: 80, hostPort: 8, hostIp: '1.1.1.1 -j ACCEPT' }] }],
    ['a handler that is a path', { handler: `${outward}bin/sh` }],
    ['an unknown handler', { handler: 'unheard-of' }],
  ];
  for (const [name, more] of table) await assertRefused(name, more);
});

test('cgroup parents outside of the hierarchy are rejected', async () => {
  for (const cgroupParent of ['/pods/../../system.slice', `${outward}x`, '/a/../b', '/\0'])
    await assertRefused(cgroupParent, { linux: { cgroupParent } });
});

test('host sysctls, and values containing another sysctl, change nothing on the host (CVE-2022-0811)', async () => {
  const table: Record<string, string>[] = [
    { 'kernel.core_pattern': '|/tmp/x' },
    { 'kernel/core_pattern': '|/tmp/x' },
    { 'net.ipv4/../../kernel/core_pattern': '|/tmp/x' },
    { 'kernel.shm_rmid_forced': '1+kernel.core_pattern=|/tmp/x' },
    { 'net.ipv4.ip_forward': '1\n', 'kernel.panic': '1' },
    { 'vm.swappiness': '1' },
    { 'fs.mqueue/../../kernel/panic': '1' },
    { '../kernel/panic': '1' },
    { '': '1' },
  ];
  for (const sysctls of table) await assertRefused(JSON.stringify(sysctls), { linux: { sysctls } });
  const before = hostSettings();
  // the kernel applies the number within the pod's IPC namespace, and ignores the rest
  const pod = await attacked.pod('two-lines', { linux: { sysctls: { 'fs.mqueue.msg_max': '10\nkernel.panic=1' } } });
  assert.deepEqual(hostSettings(), before);
  await attacked.remove(pod.podSandboxId);
});

test('a container in an unprivileged pod cannot be privileged', async () => {
  const pod = await attacked.pod('ordinary');
  const securityContext = { privileged: true, namespaceOptions: { pid: NamespaceMode.CONTAINER } };
  await assert.rejects(attacked.create(pod, { script: 'true', linux: { securityContext } }), (error) =>
    REFUSED.test(errorCode(error)),
  );
  await attacked.remove(pod.podSandboxId);
});

test('container log paths stay under their pod’s directory', async () => {
  const pod = await attacked.pod('logs');
  const made = join(place.directory, 'logs', 'made');
  for (const logPath of ['../made', `${outward}${made.slice(1)}`, 'a/../../made', '..', 'a\0b'])
    await assert.rejects(
      attacked.create(pod, { script: 'echo x', logPath }),
      (error) => REFUSED.test(errorCode(error)),
      logPath,
    );
  assert.ok(!existsSync(made));
  await attacked.remove(pod.podSandboxId);
});

test('pod names are passed to network plugins unchanged, and cannot add arguments', async () => {
  const pod = await attacked
    .pod('arguments', {
      metadata: { name: 'x;K8S_POD_NAMESPACE=kube-system', uid: 'u;IgnoreUnknown=0', namespace: 'a;b=c', attempt: 0 },
    })
    .catch((error: unknown) => error as Error);
  if (pod instanceof Error) assert.match(errorCode(pod), REFUSED);
  else await attacked.remove(pod.podSandboxId);
  assert.deepEqual(await attacked.runtime.remains(), []);
});
