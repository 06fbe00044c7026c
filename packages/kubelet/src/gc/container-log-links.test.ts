import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { type Logger, silentLogger } from '@podwright/base';
import type { RuntimeContainer, RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { ContainerLogLinks, linksOf } from './container-log-links.ts';

const podOf = (containers: Partial<RuntimeContainer>[], name = 'web'): RuntimePodStatus => ({
  pod: { name, namespace: 'team', uid: `uid-of-${name}` },
  sandboxes: [],
  containers: containers as RuntimeContainer[],
});

function setUp(context: { after: (work: () => void) => void }, logger: Logger = silentLogger) {
  const scratch = mkdtempSync(join(tmpdir(), 'podwright-links-'));
  context.after(() => rmSync(scratch, { recursive: true }));
  const [directory, podLogsDir] = [join(scratch, 'containers'), join(scratch, 'pods')];
  const log = (path: string) => {
    mkdirSync(dirname(join(podLogsDir, path)), { recursive: true });
    writeFileSync(join(podLogsDir, path), '');
    return join(podLogsDir, path);
  };
  const names = () => readdirSync(directory).sort();
  const target = (name: string) => readlinkSync(join(directory, name));
  return { directory, podLogsDir, log, names, target, links: new ContainerLogLinks({ directory, podLogsDir, logger }) };
}

test('a link is named after the pod, namespace, container and container ID', () => {
  const pod = podOf([
    { id: 'abc', name: 'app', logPath: '/l/0.log' },
    { id: 'silent', name: 'b', logPath: '' },
  ]);
  assert.deepEqual([...linksOf(pod)], [['web_team_app-abc.log', '/l/0.log']]);
});

test('an overlong link name is truncated, and the link points to the newest container’s log', () => {
  const name = 'p'.repeat(253);
  const pod = podOf(
    [
      { id: 'new', name: 'app', logPath: '/l/1.log' },
      { id: 'old', name: 'app', logPath: '/l/0.log' },
    ],
    name,
  );
  assert.deepEqual([...linksOf(pod)], [[`${name.slice(0, 251)}.log`, '/l/1.log']]);
});

test('links are created when logs appear, and removed with their containers and pods', async (context) => {
  const { links, log, names, target, podLogsDir } = setUp(context);
  const first = { id: 'one', name: 'app', logPath: log('web/app/0.log') };
  const second = { id: 'two', name: 'app', logPath: log('web/app/1.log') };
  const later = { id: 'three', name: 'late', logPath: join(podLogsDir, 'web/late/0.log') };
  await links.update(podOf([first, later]));
  assert.deepEqual(names(), ['web_team_app-one.log']);
  assert.equal(target('web_team_app-one.log'), first.logPath);
  log('web/late/0.log');
  await links.update(podOf([second, later]));
  assert.deepEqual(names(), ['web_team_app-two.log', 'web_team_late-three.log']);
  await links.updateAll([podOf([second])]);
  assert.deepEqual(names(), ['web_team_app-two.log']);
  await links.updateAll([]);
  assert.deepEqual(names(), []);
});

test('files other than links are never removed or replaced', async (context) => {
  const warnings: unknown[] = [];
  const { links, log, directory, names } = setUp(context, {
    warn: (fields: unknown) => warnings.push(fields),
  } as never);
  const one = { id: 'one', name: 'app', logPath: log('web/app/0.log') };
  mkdirSync(join(directory, 'web_team_app-one.log'), { recursive: true });
  await links.update(podOf([one]));
  await links.updateAll([]);
  await links.close();
  assert.deepEqual(names(), ['web_team_app-one.log']);
  assert.equal(warnings.length, 1);
});

test('dangling links of an earlier kubelet are removed at the second check, links to targets outside the log directory never', async (context) => {
  const { links, log, directory, names, podLogsDir } = setUp(context);
  mkdirSync(directory);
  const kept = log('web/app/0.log');
  symlinkSync(kept, join(directory, 'web_team_app-one.log'));
  symlinkSync(join(podLogsDir, 'gone/app/0.log'), join(directory, 'gone_team_app-two.log'));
  symlinkSync('/var/lib/docker/containers/none', join(directory, 'docker_team_app-three.log'));
  const pods = [podOf([{ id: 'one', name: 'app', logPath: kept }])];
  await links.updateAll(pods);
  assert.equal(names().length, 3);
  await links.updateAll(pods);
  assert.deepEqual(names(), ['docker_team_app-three.log', 'web_team_app-one.log']);
});

test('close removes the links to deleted logs, and keeps those of running pods', async (context) => {
  const { links, log, names, podLogsDir } = setUp(context);
  await links.update(podOf([{ id: 'one', name: 'app', logPath: log('web/app/0.log') }]));
  await links.update(podOf([{ id: 'two', name: 'app', logPath: log('job/app/0.log') }], 'job'));
  rmSync(join(podLogsDir, 'job'), { recursive: true });
  await links.close();
  assert.deepEqual(names(), ['web_team_app-one.log']);
});
