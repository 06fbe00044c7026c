/** The Debian package under systemd: installation, upgrade and downgrade with running pods, removal, purge. */
import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import {
  call,
  fails,
  NEXT,
  nodeVersion,
  OLD,
  ok,
  podProcesses,
  podState,
  RESTART_MS,
  runPods,
  traces,
  unitProperty,
  versionOf,
} from './release.fixture.ts';

const CONFIG = '/etc/podwright/config.toml';
const CLAIMS = '/var/lib/podwright/kubelet/claims';
const [oldVersion, nextVersion] = [versionOf(OLD), versionOf(NEXT)];
const debOf = (release: string) => `${release}/podwright_${versionOf(release)}_amd64.deb`;
/** Install command that asks no questions and keeps the administrator's configuration. */
const INSTALL = 'dpkg --force-confdef --force-confold --install';
const NOTHING = { links: [], mounts: [], units: [], cgroups: [], processes: [], rules: [], namespaces: [] };

const CLAIM = `apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: precious }
spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Mi } } }
---
apiVersion: v1
kind: Pod
metadata: { name: writer }
spec:
  restartPolicy: Never
  volumes: [{ name: data, persistentVolumeClaim: { claimName: precious } }]
  containers:
    - name: main
      image: localhost/podwright/busybox:1
      command: [sh, -c, echo precious > /data/file]
      volumeMounts: [{ name: data, mountPath: /data }]
`;

async function startNode(): Promise<void> {
  ok('systemctl enable --now podwright');
  await nodeVersion();
}

test('the package does not enable its unit; enabled, it runs pods', async () => {
  ok(`dpkg -i ${debOf(OLD)}`);
  assert.equal(call('systemctl is-enabled podwright').out, 'disabled\n');
  assert.equal(call('systemctl is-active podwright').out, 'inactive\n');
  assert.equal(ok('systemd-analyze verify --man=no /usr/lib/systemd/system/podwright.service'), '');
  await startNode();
  await runPods('a', 'b');
  writeFileSync('/root/claim.yaml', CLAIM);
  ok(
    'podwright run --detach /root/claim.yaml && podwright wait pod/writer --for=jsonpath={.status.phase}=Succeeded --timeout=100s',
  );
  fails(`podwright upgrade ${NEXT}`, /a package owns it: call 'apt install/);
});

test('an upgrade and a downgrade restart the node and no pod, and keep a changed configuration', async () => {
  appendFileSync(CONFIG, '\n# changed by the administrator\n');
  const changed = readFileSync(CONFIG, 'utf8');
  const pods = podState();
  for (const [release, version] of [
    [NEXT, nextVersion],
    [OLD, oldVersion],
  ] as const) {
    const pid = unitProperty('MainPID');
    ok(`dpkg -i ${debOf(release)}`);
    assert.equal(await nodeVersion(), version);
    assert.notEqual(unitProperty('MainPID'), pid);
    assert.equal(readFileSync(CONFIG, 'utf8'), changed);
    assert.equal(podState(), pods);
    assert.match(ok('podwright upgrade'), /^the node already runs podwright/);
    assert.equal(call('systemctl is-enabled podwright').out, 'enabled\n');
  }
});

test('a package with another configuration keeps that of the administrator, and adds its own', () => {
  const changed = readFileSync(CONFIG, 'utf8');
  ok(`rm -rf /root/deb && dpkg-deb -R ${debOf(NEXT)} /root/deb && echo '# of the package' >> /root/deb${CONFIG} &&
    dpkg-deb -Znone --root-owner-group -b /root/deb /root/other.deb && ${INSTALL} /root/other.deb`);
  assert.equal(readFileSync(CONFIG, 'utf8'), changed);
  assert.match(readFileSync(`${CONFIG}.dpkg-dist`, 'utf8'), /# of the package/);
});

test('a stopped node stays stopped over an upgrade', async () => {
  const processes = podProcesses();
  ok(`systemctl stop podwright && ${INSTALL} ${debOf(OLD)}`);
  assert.equal(unitProperty('ActiveState'), 'inactive');
  assert.deepEqual(podProcesses(), processes);
  fails(
    'dpkg -r podwright',
    /containers run, and only a node can stop them .*\n {2}start it with 'podwright node', call 'podwright stop'/,
  );
  assert.equal(ok('podwright --version'), `${oldVersion}\n`);
  ok('systemctl start podwright');
  await nodeVersion();
});

test('a removal stops the node and its pods for good, and keeps configuration and data', async () => {
  ok('dpkg -r podwright');
  await delay(RESTART_MS);
  assert.deepEqual(traces(), NOTHING);
  assert.ok(!existsSync('/usr/bin/podwright'));
  assert.ok(!existsSync('/etc/systemd/system/multi-user.target.wants/podwright.service'), 'no enabled unit remains');
  assert.match(readFileSync(CONFIG, 'utf8'), /# changed by the administrator/);
});

test('installed again, the package finds the pods and volumes of before', async () => {
  ok(`${INSTALL} ${debOf(NEXT)}`);
  await startNode();
  for (const name of ['a', 'b']) ok(`podwright wait pod/${name} --for=condition=Ready --timeout=100s`);
  assert.equal(ok(`cat ${CLAIMS}/*/*/file`), 'precious\n');
});

test('a purge removes everything but volumes, and these too with consent', async () => {
  assert.match(ok('dpkg -P podwright'), /volumes stay in \/var\/lib\/podwright\/kubelet\/claims/);
  await delay(RESTART_MS);
  assert.deepEqual(traces(), NOTHING);
  assert.equal(ok(`cat ${CLAIMS}/*/*/file`), 'precious\n');
  const remaining = ok('find /var/lib/podwright -mindepth 1 -maxdepth 2').trim().split('\n').sort();
  assert.deepEqual(remaining, ['/var/lib/podwright/kubelet', CLAIMS]);
  assert.ok(!existsSync('/etc/podwright') && !existsSync('/run/podwright'));
  ok(`${INSTALL} ${debOf(NEXT)}`);
  ok('dpkg -P podwright', { PODWRIGHT_PURGE_VOLUMES: 'yes' });
  assert.ok(!existsSync('/var/lib/podwright'));
  assert.equal(call('find /etc /usr /run/systemd -name "podwright*" ! -name "podwright-vm*"').out, '');
});
