/** `podwright upgrade` with running pods: to a newer release and back, with broken and damaged releases, and killed at each step. */
import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { after, before, test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { forever, NodePlace, podManifest } from '../pods/node.fixture.ts';
import { StartedProgram } from '../pods/started-program.ts';
import { buildRelease, install, type Release, sha256, writeRelease } from './release.fixture.ts';

/** A program that reports its version, as required by the upgrade's trial run, but does not start a node. */
const BROKEN = `#!${process.execPath}
if (process.argv.includes('version')) console.log('{"client":"0.3.0"}');
else process.exit(7);
`;

let bundle: Bundle;
let place: NodePlace;
let [old, next, broken]: Release[] = [];
let program: string;
let daemon: StartedProgram;

const podwright = (...args: string[]) => new StartedProgram([program, ...place.flags(), ...args]);
async function call(...args: string[]) {
  const started = podwright(...args);
  started.child.stdin!.end();
  return await started.ended();
}
async function ok(...args: string[]): Promise<string> {
  const { code, out, err } = await call(...args);
  assert.equal(code, 0, `${args.join(' ')}: ${out}${err}${daemon.err.slice(-2000)}`);
  return out;
}
const installed = () =>
  [old!, next!].find(({ directory }) => sha256(`${directory}/podwright`) === sha256(program))?.version;

type NodeVersion = { node: string; nodeBuild: string };
const versionOfNode = async () => (JSON.parse(await ok('version', '-o', 'json')) as NodeVersion).node;

/** Returns the IDs, restart counts and start times of all containers, which an upgrade must not change. */
async function containers(): Promise<string[]> {
  const { items } = JSON.parse(await ok('ps', '-o', 'json')) as { items: Pod[] };
  return items.flatMap(({ metadata, status }) =>
    status!.containerStatuses!.map(
      ({ containerID, restartCount, state }) =>
        `${metadata.name} ${containerID} ${restartCount} ${state.running?.startedAt}`,
    ),
  );
}

async function startNode(): Promise<void> {
  daemon = podwright('node');
  await place.until(async () => daemon.child.exitCode !== null || (await call('ps')).code === 0);
  assert.equal(daemon.child.exitCode, null, daemon.err);
}

before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.98.32.0/24');
  [old, next] = [await buildRelease(place.path('input'), '0.1.0'), await buildRelease(place.path('input'), '0.2.0')];
  broken = writeRelease(place.path('input'), '0.3.0', BROKEN);
  program = install(old, place.path('program'));
  await startNode();
  await ok('load', bundle.image);
  const pods = ['a', 'b'].map((name) => podManifest(name, `echo ${name}; ${forever}`)).join('---\n');
  await ok('apply', place.file('pods.yaml', pods));
  for (const name of ['a', 'b']) await ok('wait', `pod/${name}`, '--for=condition=Ready', '--timeout=60s');
});
after(async () => {
  await place.remove();
  bundle.remove();
});

test('the node runs the new release in the same process and its pods keep running, and likewise after a downgrade', async () => {
  const pods = await containers();
  assert.equal(pods.length, 2);
  for (const [release, from] of [
    [next!, old!],
    [old!, next!],
  ] as const) {
    const out = await ok('upgrade', release === next ? release.archive : release.directory);
    assert.match(out, new RegExp(`replaced ${program}: podwright ${release.version} instead of ${from.version}`));
    assert.match(out, new RegExp(`the node runs podwright ${release.version} \\(process ${daemon.child.pid}\\)`));
    assert.equal(installed(), release.version);
    assert.equal(await versionOfNode(), release.version);
    assert.deepEqual(await containers(), pods);
    assert.equal(await ok('exec', 'a', '--', 'echo', 'hello'), 'hello\n');
    assert.equal(await ok('logs', 'b'), 'b\n');
    assert.deepEqual(
      readdirSync(dirname(program)).filter((name) => name.startsWith('.')),
      [],
    );
  }
  assert.match(await ok('upgrade'), /^the node already runs podwright 0\.1\.0$/m);
});

test('a run in the foreground continues while the node restarts, and shows each line of its pod once', async () => {
  const script = 'trap "exit 0" TERM; i=0; while :; do i=$((i+1)); echo "line $i"; sleep 0.2; done';
  const run = podwright('run', place.file('run.yaml', podManifest('counting', script)));
  await run.until(/^line 5$/m);
  for (const { archive } of [next!, old!]) {
    await ok('upgrade', archive);
    const count = run.out.match(/^line /gm)!.length;
    await run.until(new RegExp(`^line ${count + 5}$`, 'm'));
  }
  run.child.kill('SIGINT');
  const { out } = await run.ended();
  const lines = out.match(/^line .*$/gm)!;
  assert.deepEqual(
    lines,
    lines.map((_, index) => `line ${index + 1}`),
  );
  assert.equal((await containers()).length, 2);
});

test('commands of a different version work with the node, and name both versions', async () => {
  const [pods, own] = [await containers(), program];
  program = install(next!, place.path('other'));
  try {
    assert.deepEqual(await containers(), pods);
    assert.equal(await ok('exec', 'a', '--', 'echo', 'hello'), 'hello\n');
    const skew = /the node runs podwright 0\.1\.0, this command is 0\.2\.0: 'podwright upgrade' restarts the node/;
    assert.match((await ok('status')).replaceAll(/\s+/g, ' '), skew);
    assert.match(await ok('version'), skew);
    const { code, err } = await call('upgrade');
    assert.equal(code, 1);
    assert.match(err, new RegExp(`its command is still of the other version: .*${own}`));
  } finally {
    program = own;
  }
  assert.deepEqual(await containers(), pods);
});

test('releases that are damaged, incomplete, for a different machine or of a different version change nothing', async () => {
  const [before, pods] = [sha256(program), await containers()];
  const copy = place.path('input/copy');
  const cases: [what: RegExp, spoil: (archive: string) => string | undefined, given?: string][] = [
    [/is damaged or incomplete/, (archive) => void truncateSync(archive, 100_000)],
    [/read the checksums .*\/SHA256SUMS/, () => void rmSync(`${copy}/SHA256SUMS`)],
    [/has no line for/, () => void writeFileSync(`${copy}/SHA256SUMS`, '')],
    [/is for mips64, and this machine is/, (archive) => moved(archive, archive.replace(process.arch, 'mips64'))],
    [/is not named podwright-VERSION-linux-/, (archive) => moved(archive, `${copy}/release.tar.zst`)],
    [/has no file podwright-VERSION-linux-/, (archive) => void rmSync(archive), copy],
    [/has version 0\.2\.0/, (archive) => renamed(archive, '0.4.0')],
    [/is a package: install it/, () => '/tmp/podwright.deb'],
  ];
  for (const [message, spoil, given] of cases) {
    cpSync(next!.directory, copy, { recursive: true });
    const archive = `${copy}/${basename(next!.archive)}`;
    const spoiled = spoil(archive) ?? given ?? archive;
    const { code, out, err } = await call('upgrade', spoiled);
    assert.equal(code, 1, out);
    assert.match(err.replaceAll(/\s+/g, ' '), message);
    rmSync(copy, { recursive: true });
    assert.equal(sha256(program), before);
  }
  assert.equal(await versionOfNode(), '0.1.0');
  assert.deepEqual(await containers(), pods);
});

function moved(from: string, to: string): string {
  renameSync(from, to);
  return to;
}

/** Renames a release archive as if it were another version's, and updates its checksum. */
function renamed(archive: string, version: string): string {
  const path = moved(archive, archive.replace('0.2.0', version));
  writeFileSync(`${dirname(path)}/SHA256SUMS`, `${sha256(path)}  ${basename(path)}\n`);
  return path;
}

test('a release whose node fails to start is replaced by the previous one, whose node keeps the pods running', async () => {
  const pods = await containers();
  const { code, out } = await call('upgrade', broken!.directory);
  assert.equal(code, 1);
  assert.match(out, /the node of podwright 0\.3\.0 does not start: .*has exited/);
  assert.match(out, /started the node of podwright 0\.1\.0 again/);
  assert.equal(installed(), '0.1.0');
  assert.equal(await versionOfNode(), '0.1.0');
  assert.deepEqual(await containers(), pods);
});

test('an upgrade killed at any step leaves one of the versions intact, and the next upgrade succeeds', async () => {
  const pods = await containers();
  for (const [index, step] of [/verified/, /runs on this host/, /replaced/, /restarting/].entries()) {
    const target = index % 2 === 0 ? next! : old!;
    const upgrade = podwright('upgrade', target.archive);
    await upgrade.until(step);
    upgrade.child.kill('SIGKILL');
    await upgrade.ended().catch(() => undefined);
    assert.ok(installed(), `neither version after ${step}`);
    await place.until(async () => (await call('ps')).code === 0);
    assert.deepEqual(await containers(), pods);
    await ok('upgrade', target.archive);
    assert.equal(await versionOfNode(), target.version);
  }
  assert.deepEqual(await containers(), pods);
});

test('a node killed while restarting into a release is started again', async () => {
  const pods = await containers();
  const { pid } = JSON.parse(await ok('status', '-o', 'json')) as { pid: number };
  const upgrade = podwright('upgrade', next!.archive);
  await upgrade.until(/restarting/);
  process.kill(pid, 'SIGKILL');
  const { code } = await upgrade.ended();
  assert.equal(code, 1);
  assert.equal(installed(), '0.1.0');
  assert.equal(await versionOfNode(), '0.1.0');
  assert.deepEqual(await containers(), pods);
});

test('a version that cannot read newer records is rejected before it changes anything', async () => {
  await ok('stop', '--keep');
  const formats = { runtime: place.path('root/runtime/format.json'), kubelet: place.path('root/kubelet/format.json') };
  for (const file of Object.values(formats))
    assert.equal(readFileSync(file, 'utf8'), '{"format":1,"version":"0.1.0"}\n');
  for (const file of Object.values(formats)) {
    const before = readFileSync(file, 'utf8');
    writeFileSync(file, '{"format":2,"version":"0.9.0"}\n');
    const found = snapshot();
    const { code, err } = await call('node');
    assert.equal(code, 1);
    assert.match(
      err.replaceAll(/\s+/g, ' '),
      /podwright 0\.9\.0 has written the records in \S+ in format 2, and podwright 0\.1\.0 reads formats up to 1; nothing was changed: start podwright 0\.9\.0 again/,
    );
    const upgrade = await call('upgrade', next!.directory);
    assert.equal(upgrade.code, 1);
    assert.match(upgrade.err.replaceAll(/\s+/g, ' '), /podwright 0\.9\.0 has written .* and podwright 0\.2\.0 reads/);
    assert.deepEqual(snapshot(), found);
    assert.equal(installed(), '0.1.0');
    writeFileSync(file, before);
  }
  await startNode();
  assert.equal((await containers()).length, 2);
});

/** Returns the files in the node's root directory, with digests for those that hold records. */
function snapshot(): string[] {
  const names = readdirSync(place.path('root'), { recursive: true, encoding: 'utf8' }).sort();
  const records = names.filter((name) => /\.(?:json|db|db-wal)$/.test(name));
  return [...names, ...records.map((name) => `${name} ${sha256(place.path('root', name))}`)];
}
