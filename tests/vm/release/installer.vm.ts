/** A release installed by install.sh, under systemd: its unit, upgrades, and node crashes. Leaves two pods running for the next boot. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import {
  call,
  cgroupOf,
  containers,
  fails,
  IMAGE,
  isUnified,
  NEXT,
  nodeVersion,
  OLD,
  ok,
  podProcesses,
  podState,
  processes,
  programOf,
  RESTART_MS,
  runPods,
  unitProperty,
  until,
  versionOf,
} from './release.fixture.ts';

const PROGRAM = '/usr/local/bin/podwright';
const UNIT = '/etc/systemd/system/podwright.service';
const [oldVersion, nextVersion] = [versionOf(OLD), versionOf(NEXT)];
/** By default, systemd gives up after this many starts of a unit within an interval. */
const START_LIMIT = 5;
const mainPid = () => unitProperty('MainPID');

/** Waits until systemd has started a node other than `pid` and that node responds. */
async function nextNode(pid: string): Promise<void> {
  await until(() => unitProperty('ActiveState') === 'active' && !['0', pid].includes(mainPid()));
  await nodeVersion();
}

test('from install.sh to running pods', async () => {
  const start = Date.now();
  assert.match(ok(`sh ${OLD}/install.sh ${OLD}`), /Start a node, now and at boot: {2}systemctl enable --now podwright/);
  const installedMs = Date.now() - start;
  assert.equal(call('systemctl is-enabled podwright').out, 'disabled\n');
  ok('systemctl enable --now podwright');
  const startedMs = Date.now() - start;
  await runPods('a', 'b');
  const totalMs = Date.now() - start;
  console.log(
    `installed after ${installedMs} ms, node ready after ${startedMs} ms, two pods ready after ${totalMs} ms`,
  );
  assert.ok(totalMs < 60_000, 'within a minute');
  assert.equal(await nodeVersion(), oldVersion);
  if (isUnified) assert.match(ok('podwright doctor'), /^ok +cgroup driver +systemd:/m);
  assert.match(ok('systemctl status podwright'), /Status: "/);
});

test('systemd-analyze has no complaint about the unit', () => {
  assert.equal(ok(`systemd-analyze verify --man=no ${UNIT}`), '');
  console.log(ok('systemd-analyze security --no-pager podwright | tail -n 1').trim());
});

test('the unit kills only the node, and pods are in another, delegated unit', () => {
  assert.equal(unitProperty('KillMode'), 'process');
  assert.equal(unitProperty('Delegate'), 'yes');
  if (isUnified) assert.equal(unitProperty('Delegate', 'podwright-pods'), 'yes');
  const { monitors, inside } = podProcesses();
  assert.equal(inside.length, 4, 'a shell and a sleep in each of two pods');
  for (const pid of monitors) assert.match(cgroupOf(pid), /^\/system\.slice\/podwright\.service/);
  const unified = /^\/podwright-pods\.service\/pods\/kubepods\//;
  for (const pid of inside) if (isUnified) assert.match(cgroupOf(pid), unified);
});

test('systemctl restart replaces the node and nothing else', async () => {
  const [pods, pid] = [podState(), mainPid()];
  ok('systemctl restart podwright');
  assert.notEqual(mainPid(), pid);
  await nodeVersion();
  assert.equal(podState(), pods);
  assert.equal(ok('podwright exec a -- echo hello'), 'hello\n');
});

test('systemctl stop ends the node and no pod, and the next start takes the pods over', async () => {
  const [pods, processes] = [podState(), podProcesses()];
  ok('systemctl stop podwright');
  assert.equal(unitProperty('Result'), 'success');
  assert.deepEqual(podProcesses(), processes);
  ok('systemctl start podwright');
  await nodeVersion();
  assert.equal(podState(), pods);
  assert.equal(ok('podwright logs b'), 'started\n');
});

test('systemd starts a node again that is killed or hangs, and the pods keep running', async () => {
  const pods = podState();
  const killed = mainPid();
  process.kill(Number(killed), 'SIGKILL');
  await nextNode(killed);
  assert.equal(podState(), pods);

  const dropIn = '/run/systemd/system/podwright.service.d';
  mkdirSync(dropIn, { recursive: true });
  writeFileSync(`${dropIn}/watchdog.conf`, '[Service]\nWatchdogSec=20\n');
  ok('systemctl daemon-reload && systemctl restart podwright');
  await nodeVersion();
  const hanging = mainPid();
  process.kill(Number(hanging), 'SIGSTOP');
  await nextNode(hanging);
  rmSync(dropIn, { recursive: true });
  ok('systemctl daemon-reload && systemctl restart podwright');
  await nodeVersion();
  assert.equal(podState(), pods);
});

test('a node that cannot start is started again until the cause is gone', async () => {
  const pods = podState();
  const config = '/etc/podwright/config.toml';
  // lengthen the start limit's interval: on a slow host, these starts take longer than the default of ten seconds
  const defaults = '/run/systemd/system.conf.d';
  ok(`mkdir -p ${defaults} && printf '[Manager]\\nDefaultStartLimitIntervalSec=1h\\n' > ${defaults}/limit.conf`);
  ok(`systemctl daemon-reload && mkdir -p /etc/podwright && echo 'log_level = "wrong"' > ${config}`);
  fails('systemctl restart podwright', /control process exited with error code/);
  await until(() => Number(unitProperty('NRestarts')) > START_LIMIT || unitProperty('ActiveState') === 'failed');
  assert.equal(unitProperty('ActiveState'), 'activating');
  rmSync(config);
  await nodeVersion();
  ok(`rm -r ${defaults} && systemctl daemon-reload`);
  assert.equal(podState(), pods);
});

test('podwright upgrade restarts the unit into the new release, and back', async () => {
  const pods = podState();
  for (const [release, version, from] of [
    [NEXT, nextVersion, oldVersion],
    [`${OLD}/podwright-${oldVersion}-linux-x64.tar.zst`, oldVersion, nextVersion],
  ] as const) {
    const pid = mainPid();
    const out = ok(`podwright upgrade ${release}`);
    assert.ok(out.includes(`replaced ${PROGRAM}: podwright ${version} instead of ${from}\n`), out);
    assert.ok(out.includes(`restarting the node (podwright ${from}, podwright.service)\n`), out);
    assert.ok(out.includes(`the node runs podwright ${version} (process ${mainPid()})`), out);
    assert.notEqual(mainPid(), pid);
    assert.equal(programOf(mainPid()), PROGRAM);
    assert.equal(await nodeVersion(), version);
    assert.equal(podState(), pods);
  }
});

test('a node that is killed during its upgrade is started again by systemd', async () => {
  const pods = podState();
  for (const [release, version] of [
    [NEXT, nextVersion],
    [OLD, oldVersion],
  ] as const) {
    const upgrade = spawn('podwright', ['upgrade', release], { stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = once(upgrade, 'exit');
    let out = '';
    upgrade.stdout.on('data', (chunk) => (out += chunk));
    const pid = mainPid();
    while (!out.includes('restarting the node')) await once(upgrade.stdout, 'data');
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // systemd has already stopped the node's process
    }
    await exited;
    await nextNode(pid);
    console.log(`upgrade to ${version} with a killed node: exit code ${upgrade.exitCode}, node ${await nodeVersion()}`);
    assert.equal(await nodeVersion(), ok('podwright --version').trim(), 'the installed program is that of the node');
    assert.equal(podState(), pods);
    ok(`podwright upgrade ${release}`);
    assert.equal(await nodeVersion(), version);
  }
  assert.equal(podState(), pods);
});

test('a release whose node does not start is replaced by the one before', async () => {
  const pods = podState();
  const directory = '/root/broken';
  const name = 'podwright-9.0.0-linux-x64.tar.gz';
  mkdirSync(directory);
  const program = `#!/bin/sh
case "$*" in *version*) echo '{"client":"9.0.0","recordFormats":{"runtime":1,"kubelet":1}}' ;; *) exit 7 ;; esac
`;
  writeFileSync(`${directory}/podwright`, program, { mode: 0o755 });
  ok(`cd ${directory} && tar -czf ${name} podwright && sha256sum ${name} > SHA256SUMS`);
  const { code, out } = call(`podwright upgrade ${directory}/${name}`);
  assert.equal(code, 1, out);
  assert.match(out, /the node of podwright 9\.0\.0 does not start/);
  assert.match(out, new RegExp(`started the node of podwright ${oldVersion} again; its containers kept running`));
  assert.equal(await nodeVersion(), oldVersion);
  assert.equal(unitProperty('ActiveState'), 'active');
  assert.equal(podState(), pods);
});

test('install.sh installs another version, and the node runs it after systemctl restart', async () => {
  const pods = podState();
  for (const [release, version, from] of [
    [NEXT, nextVersion, oldVersion],
    [OLD, oldVersion, nextVersion],
  ] as const) {
    assert.match(ok(`sh ${release}/install.sh ${release}`), /A node runs .*'systemctl restart podwright'/);
    assert.equal(await nodeVersion(), from);
    ok('systemctl restart podwright');
    assert.equal(await nodeVersion(), version);
    assert.equal(podState(), pods);
  }
});

test('install.sh refuses to uninstall while pods run', () => {
  const pods = podState();
  const message =
    /the node runs; nothing was removed\n.*containers run: \d+, with the state in \/run\/podwright\n.*podwright stop /s;
  fails('sh /usr/local/lib/podwright/install.sh --uninstall', message);
  ok('systemctl stop podwright');
  fails(
    'sh /usr/local/lib/podwright/install.sh --uninstall',
    /pods run, and only a node can end them; nothing was removed/,
  );
  ok('systemctl start podwright');
  assert.equal(podState(), pods);
});

test('podwright stop ends the service with its pods, and the next start runs the pods again', async () => {
  assert.match(ok('podwright stop'), /its next start also starts/);
  await delay(RESTART_MS);
  assert.equal(unitProperty('ActiveState'), 'inactive');
  assert.deepEqual(podProcesses(), { monitors: [], inside: [] });
  ok('systemctl start podwright');
  await nodeVersion();
  for (const name of ['a', 'b']) ok(`podwright wait pod/${name} --for=condition=Ready --timeout=100s`);
});

test('a pod runs to its end in a scope with a delegated cgroup, as in a CI job, and leaves nothing', async () => {
  const state = '/root/scope';
  mkdirSync(state);
  writeFileSync(
    `${state}/job.yaml`,
    `apiVersion: v1
kind: Pod
metadata: { name: job }
spec:
  restartPolicy: Never
  containers: [{ name: main, image: localhost/podwright/busybox:1, command: [sh, -c, "echo from the scope; exit 3"] }]
`,
  );
  const flags = ['root', 'state', 'pod-logs'].map((name) => `--${name} ${state}/${name}`).join(' ');
  const podwright = `podwright ${flags} --cgroup-parent /job --bridge job0 --subnet 10.84.0.0/24`;
  const job = `${podwright} load ${IMAGE} && { ${podwright} run --once ${state}/job.yaml; code=$?; ${podwright} stop --delete; exit $code; }`;
  const { code, out } = call(`systemd-run --quiet --scope --property=Delegate=yes sh -c '${job}'`);
  assert.equal(code, 3, out);
  assert.match(out, /^from the scope$/m);
  assert.equal(
    call(`ip -o link | grep job0; grep ${state} /proc/self/mountinfo; find /sys/fs/cgroup -name '*job*'`).out,
    '',
  );
  assert.deepEqual(
    processes().filter(({ words }) => words.some((word) => word.startsWith(state))),
    [],
  );
});

test('the pods still run at the end, with the containers of the start', () => {
  assert.deepEqual(
    containers().map((line) =>
      line
        .split(' ')
        .filter((_, index) => index % 2 === 0)
        .join(' '),
    ),
    ['a 0', 'b 0'],
  );
  writeFileSync('/root/before-the-boot.json', JSON.stringify(containers()));
});
