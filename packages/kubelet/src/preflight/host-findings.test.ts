import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { decodeManifest, formatFieldPath, LocalObjects, type Pod } from '@podwright/kube-api';
import { allFindings, HOST_CHECK_TIMEOUT_MS } from './host-findings.ts';
import type { PreflightHost } from './preflight.ts';

const directory = mkdtempSync(join(tmpdir(), 'podwright-preflight-'));
after(() => rmSync(directory, { recursive: true }));
mkdirSync(join(directory, 'seccomp/profiles'), { recursive: true });
writeFileSync(join(directory, 'seccomp/profiles/good.json'), '{}');
writeFileSync(join(directory, 'file'), '');

function podOf(spec: string, name = 'web'): Pod {
  const text = `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}, uid: uid-of-${name}}\nspec:\n${spec.replaceAll(/^/gm, '  ')}\n`;
  const { pods, errors } = decodeManifest(text, { file: 'x.yaml' });
  assert.deepEqual(errors, []);
  return pods[0]!;
}

type Given = Pick<PreflightHost, 'node'> & { appArmor?: boolean };

async function findings(spec: string, { node, appArmor }: Given = {}): Promise<string[]> {
  const facts = { name: 'here', labels: {}, maxPods: 10, allowedUnsafeSysctls: [], resources: { cpu: 2000n } };
  const found = await allFindings([podOf(spec)], {
    ...{ nodeName: 'here', seccompRoot: join(directory, 'seccomp'), node },
    facts: { ...facts, appArmor },
  });
  return found.map(({ severity, path, message }) => `${severity} ${formatFieldPath(path)}: ${message}`);
}

const ordinary = 'containers: [{name: a, image: b}]';

test('a hostPath volume whose type does not match the host is a problem', async () => {
  const check = async (path: string, type: string, expected: string | undefined) => {
    const found = await findings(
      `volumes: [{name: v, hostPath: {path: ${join(directory, path)}, type: ${type}}}]\n${ordinary}`,
    );
    const field = 'problem spec.volumes[0].hostPath.path: ';
    const why = `${field}${expected}, as its type ${type} says; the pod waits until it is`;
    assert.deepEqual(found, expected === undefined ? [] : [why], `${path} ${type}`);
  };
  const [file, none] = [join(directory, 'file'), join(directory, 'none')];
  await check('file', 'File', undefined);
  await check('file', '""', undefined);
  await check('none', '""', undefined);
  await check('none', 'DirectoryOrCreate', undefined);
  await check('none', 'FileOrCreate', undefined);
  await check('seccomp', 'Directory', undefined);
  await check('file', 'Directory', `${file} is not a directory`);
  await check('file', 'DirectoryOrCreate', `${file} is not a directory`);
  await check('file', 'Socket', `${file} is not a socket file`);
  await check('none/x', 'FileOrCreate', `the directory of ${none}/x is not there`);
  for (const type of ['Directory', 'File', 'Socket', 'CharDevice', 'BlockDevice'])
    await check('none', type, `${none} is not there`);
});

test('missing seccomp and AppArmor profiles are problems', async () => {
  const profile = (name: string) => `{seccompProfile: {type: Localhost, localhostProfile: ${name}}}`;
  assert.deepEqual(await findings(`securityContext: ${profile('profiles/good.json')}\n${ordinary}`), []);
  assert.deepEqual(
    await findings(
      `securityContext: ${profile('none.json')}\ncontainers: [{name: a, image: b, securityContext: ${profile('bad.json')}}]`,
    ),
    ['spec.securityContext', 'spec.containers[0].securityContext'].map(
      (field, index) =>
        `problem ${field}.seccompProfile.localhostProfile: the seccomp profile ${directory}/seccomp/${['none', 'bad'][index]}.json does not exist; the pod waits until it does`,
    ),
  );
  const appArmor = 'appArmorProfile: {type: Localhost, localhostProfile: podwright-none}';
  const field = 'problem spec.securityContext.appArmorProfile.localhostProfile';
  assert.deepEqual(await findings(`securityContext: {${appArmor}}\n${ordinary}`, { appArmor: true }), [
    `${field}: no AppArmor profile "podwright-none" is loaded on this host; the pod waits until it is`,
  ]);
  assert.match(
    String(await findings(`securityContext: {${appArmor}}\n${ordinary}`, { appArmor: false })),
    /AppArmor is not enabled/,
  );
});

test('a host path that cannot be checked is a problem of the pod that names it', async () => {
  const loop = join(directory, 'loop');
  symlinkSync('loop', loop);
  symlinkSync('loop.json', join(directory, 'seccomp/loop.json'));
  const found = await findings(`volumes: [{name: v, hostPath: {path: ${loop}, type: Directory}}]
securityContext: {seccompProfile: {type: Localhost, localhostProfile: loop.json}}
${ordinary}`);
  assert.equal(found.length, 2, String(found));
  assert.match(
    found[0]!,
    /^problem spec\.volumes\[0\]\.hostPath\.path: \S+\/loop cannot be checked: .*too many symbolic links.*; the pod waits/,
  );
  assert.match(
    found[1]!,
    /^problem spec\.securityContext\S+: \S+\/loop\.json cannot be checked: .*too many symbolic links/,
  );
});

test('all host paths on a hanging file system share one timeout', { timeout: 10_000 }, async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  t.mock.method(fs, 'stat', () => new Promise(() => undefined));
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  const volumes = ['a', 'b'].map((name) => `{name: ${name}, hostPath: {path: /net/${name}, type: Directory}}`);
  const finding = findings(`volumes: [${volumes}]\n${ordinary}`);
  await setImmediate();
  t.mock.timers.tick(HOST_CHECK_TIMEOUT_MS);
  const why = 'cannot be checked: its file system is too slow';
  assert.deepEqual(
    await finding,
    ['a', 'b'].map((name, index) => `note spec.volumes[${index}].hostPath.path: /net/${name} ${why}`),
  );
});

test('a port that is declared by a pod and bound by its process is reported once', async (context) => {
  const server = createServer().listen(0, '127.0.0.1');
  context.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const spec = `hostNetwork: true\ncontainers: [{name: a, image: b, ports: [{containerPort: ${port}}]}]`;
  const holder = podOf(spec, 'holder');
  const found = await findings(spec, { node: { objects: new LocalObjects(), pods: [holder] } });
  assert.equal(found.length, 1, String(found));
  assert.match(found[0]!, /is taken by pod default\/holder$/);
  const namesake = { objects: new LocalObjects(), pods: [podOf(spec)] };
  assert.match(String(await findings(spec, { node: namesake })), /\(process \d+\), which may receive/);
});

test('a host port that is bound by another program is a problem', async (context) => {
  const server = createServer().listen(0, '127.0.0.1');
  context.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const found = await findings(`containers: [{name: a, image: b, ports: [{containerPort: 1, hostPort: ${port}}]}]`);
  assert.match(
    String(found),
    /^problem spec\.containers\[0\]\.ports\[0\]\.hostPort: port .*\/TCP of the host is taken by /,
  );
});
