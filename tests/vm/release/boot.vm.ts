/**
 * After the guest has booted with the disk from installer.vm.ts: the pods run again, nothing has leaked, and uninstalling leaves nothing
 * behind.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  call,
  containers,
  fails,
  nodeVersion,
  OLD,
  ok,
  podProcesses,
  traces,
  until,
  versionOf,
} from './release.fixture.ts';

const UNINSTALL = 'sh /usr/local/lib/podwright/install.sh --uninstall';
/** Number of sandboxes that a node creates in advance. */
const SPARE_SANDBOXES = 2;
const before = JSON.parse(readFileSync('/root/before-the-boot.json', 'utf8')) as string[];
const idOf = (line: string) => line.split(' ')[1]!;

test('the enabled node starts at boot, and each pod has one new container', async () => {
  assert.equal(await nodeVersion(), versionOf(OLD));
  for (const name of ['a', 'b']) ok(`podwright wait pod/${name} --for=condition=Ready --timeout=100s`);
  const now = containers();
  assert.deepEqual(
    now.map((line) => line.split(' ')[0]),
    ['a', 'b'],
  );
  for (const line of now) assert.ok(!before.some((other) => idOf(other) === idOf(line)), line);
  for (const name of ['a', 'b']) {
    assert.equal(ok(`podwright exec ${name} -- cat /data/starts`), 'start\nstart\n', 'the volume is the same');
    assert.equal(ok(`podwright logs ${name}`), 'started\n');
  }
  assert.equal(podProcesses().inside.length, 4);
});

test('the host has the mounts, interfaces and processes of these pods only', async () => {
  await until(() => traces().mounts.filter((path) => path.endsWith('/rootfs')).length === 2);
  const { links, mounts, processes } = traces();
  assert.ok(links.filter((name) => name.startsWith('veth')).length <= 2 + SPARE_SANDBOXES, links.join(' '));
  assert.ok(mounts.filter((path) => path.endsWith('/net')).length <= 2 + SPARE_SANDBOXES, mounts.join(' '));
  assert.equal(processes.filter((words) => words.includes('conmon')).length, 2);
  assert.equal(processes.filter((words) => words.endsWith('podwright node ')).length, 1, processes.join('\n'));
});

test('the documented steps end the node and its pods, and install.sh removes its files', async () => {
  fails(UNINSTALL, /the node runs; nothing was removed/);
  ok('podwright stop');
  assert.match(ok(`${UNINSTALL} --purge-data`), /removed \/usr\/local\/bin\/podwright\n/);
  for (const path of ['/usr/local/bin/podwright', '/usr/local/lib/podwright', '/etc/systemd/system/podwright.service'])
    assert.ok(!existsSync(path), path);
  for (const path of ['/var/lib/podwright', '/etc/podwright', '/run/podwright']) assert.ok(!existsSync(path), path);
  assert.equal(call('find /etc/systemd /run/systemd/system -name "podwright*" ! -name "podwright-vm*"').out, '');
  const nothing = { links: [], mounts: [], units: [], cgroups: [], processes: [], rules: [], namespaces: [] };
  assert.deepEqual(traces(), nothing);
});
