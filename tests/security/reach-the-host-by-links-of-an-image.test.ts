/**
 * An image has links in place of paths that the runtime mounts or copies: volumes (CVE-2022-23648), network files and their directory, the
 * termination log. No host files are read or written through them.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { FixtureEntry } from '../../packages/images/src/unpack/tar-writer.fixture.ts';
import { directory, symlink } from '../unpack/layer.fixture.ts';
import { AttackedRuntime, OCI_RUNTIMES } from './attacked-runtime.fixture.ts';

/** A word that does not otherwise occur in containers. */
const SECRET = 'zebra';
const attacked = new AttackedRuntime();
const { logs } = attacked.runtime.place;
const hostDirectory = join(logs, 'of-the-host');
const messageFile = join(logs, 'message');
/** A relative path that leads from any container's root file system to the host directory. */
const outward = '../'.repeat(30) + hostDirectory.slice(1);
const NAMES = ['zebra', 'hosts', 'hostname', 'resolv.conf', 'termination-log'];

before(async () => {
  await attacked.start();
  mkdirSync(hostDirectory, { recursive: true });
  for (const name of NAMES) writeFileSync(join(hostDirectory, name), SECRET);
  writeFileSync(messageFile, '');
});
after(() => attacked.end());

function assertUntouched(): void {
  assert.deepEqual(readdirSync(hostDirectory).sort(), [...NAMES].sort());
  for (const name of NAMES) assert.equal(readFileSync(join(hostDirectory, name), 'utf8'), SECRET, name);
}

const volumes: [string, FixtureEntry[], string][] = [
  ['absolute', [symlink('v', hostDirectory)], '/v'],
  ['outward', [symlink('v', outward)], '/v'],
  ['below-a-link', [symlink('v', join(hostDirectory, '..'))], '/v/of-the-host'],
  ['through-links', [symlink('v', 'w'), symlink('w', outward)], '/v'],
  ['dots', [], `/${outward}`],
  ['dots-after-a-link', [symlink('v', '/proc/1/root')], `/v/../..${hostDirectory}`],
  ['no-slash', [], outward],
];

/** Images in which a path that the runtime mounts is a symbolic link to a file of the host. */
const files: [string, FixtureEntry[]][] = [
  ['hosts', [symlink('etc/hosts', join(hostDirectory, 'hosts'))]],
  ['hosts-outward', [symlink('etc/hosts', `${outward}/hosts`)]],
  ['hostname', [symlink('etc/hostname', join(hostDirectory, 'hostname'))]],
  ['resolv', [symlink('etc/resolv.conf', join(hostDirectory, 'resolv.conf'))]],
  ['resolv-to-nothing', [symlink('etc/resolv.conf', join(hostDirectory, 'new'))]],
  ['resolv-loop', [symlink('etc/resolv.conf', 'resolv.conf')]],
  ['etc', [symlink('etc', hostDirectory)]],
  ['etc-outward', [symlink('etc', outward)]],
  ['message', [directory('messages'), symlink('messages/termination-log', join(hostDirectory, 'termination-log'))]],
  ['message-below', [symlink('messages', hostDirectory)]],
];

/** Scripts that search the container's root for the secret, and write to all paths where a host file might be mounted. */
const READ = 'grep -rs zebra / --include=zebra --exclude-dir=proc --exclude-dir=sys; ls -R /v 2>/dev/null';
const WRITE = `for file in /etc/hosts /etc/hostname /etc/resolv.conf /messages/termination-log; do
  echo written > $file; cat $file; done 2>&1`;

for (const handler of OCI_RUNTIMES) {
  for (const [name, entries, path] of volumes) {
    test(`${handler}: the volume of the image ${name} contains nothing of the host`, async () => {
      const image = await attacked.image(`${name}-${handler}`, entries, { Volumes: { [path]: {} } });
      const pod = await attacked.pod(`${name}-${handler}`, { handler });
      const script = `${READ}; touch /v/made ${hostDirectory}/made; true`;
      const { out } = await attacked.run(pod, { image: { image }, script }).catch(refused);
      assert.doesNotMatch(out, /zebra/);
      assertUntouched();
      await attacked.remove(pod.podSandboxId);
    });
  }

  for (const [name, entries] of files) {
    test(`${handler}: the link of the image ${name} does not lead to files of the host`, async () => {
      const image = await attacked.image(`file-${name}-${handler}`, entries);
      const pod = await attacked.pod(`file-${name}-${handler}`, { handler });
      const mounts = [{ containerPath: '/messages/termination-log', hostPath: messageFile }];
      const { out } = await attacked.run(pod, { image: { image }, script: WRITE, mounts }).catch(refused);
      assert.doesNotMatch(out, /zebra/);
      assertUntouched();
      await attacked.remove(pod.podSandboxId);
    });
  }
}

/** Treats an error from creating or starting the container as a run without output. */
function refused(error: unknown): { out: string } {
  assert.match(String(error), /(create|start) container/);
  return { out: '' };
}
