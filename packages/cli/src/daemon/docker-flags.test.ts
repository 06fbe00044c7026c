import assert from 'node:assert/strict';
import { test } from 'node:test';
import { flagHelp, parseCommandLine } from '@podwright/kubelet-configuration';
import type { ContainerRuntime } from '../settings/container-runtime.ts';
import { DOCKER_FLAGS, dockerLine, isForDocker } from './docker-flags.ts';

const lineOf = (...args: string[]) => dockerLine(parseCommandLine(args, DOCKER_FLAGS));

test('the flag, or else the configuration, selects a Docker Engine', () => {
  const check = (args: string[], inSettings: ContainerRuntime, expected: boolean) =>
    assert.equal(isForDocker(lineOf(...args), inSettings), expected, `${args} with ${inSettings}`);
  check([], 'remote', false);
  check([], 'docker', true);
  check(['--container-runtime=docker'], 'remote', true);
  check(['--container-runtime', 'remote'], 'docker', false);
  check(['--docker-endpoint=unix:///d'], 'docker', true);
  check(['--hairpin-mode=none'], 'remote', false);
});

test('an unknown runtime, and flags that need a Docker Engine, are rejected with a fix', () => {
  const refused = (args: string[], message: RegExp) =>
    assert.throws(() => isForDocker(lineOf(...args), 'remote'), { code: 'invalid_argument', message });
  refused(['--container-runtime=rkt'], /^--container-runtime=rkt: must be docker \(.*\) or remote \(/);
  refused(['--container-runtime=dockr'], /did you mean "docker"\?/);
  refused(['--network-plugin=cni'], /^--network-plugin: is for a Docker Engine; add --container-runtime=docker/);
  refused(['--redirect-container-streaming'], /^--redirect-container-streaming: .*set it to false/);
});

test('flags are converted to dockershim settings', () => {
  const line = lineOf('--network-plugin=cni', '--network-plugin-mtu=1400', '--runtime-cgroups=docker.slice');
  assert.deepEqual(line.settings, { networkPlugin: 'cni', networkPluginMtu: '1400', runtimeCgroups: '/docker.slice' });
  assert.deepEqual(lineOf('--hairpin-mode=hairpin-veth').settings, { hairpinMode: 'hairpin-veth' });
  assert.deepEqual(lineOf('--redirect-container-streaming=false').settings, {});
});

test('no flag is listed twice', () => {
  const names = flagHelp(DOCKER_FLAGS)
    .split('\n')
    .map((line) => /^ +(?:-., )?(--[a-z-]+)/.exec(line)?.[1]);
  assert.ok(names.length > 100);
  assert.deepEqual(
    names.filter((name, index) => name !== undefined && names.indexOf(name) !== index),
    [],
  );
});
