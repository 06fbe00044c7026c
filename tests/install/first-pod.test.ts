/** From a fresh guest to a running pod and back: install.sh, `podwright doctor --fix`, and a node that --uninstall does not stop. */
import assert from 'node:assert/strict';
import { copyFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { debian, Guest } from './guest.fixture.ts';
import { ReleaseDirectory } from './release.fixture.ts';

const CHECKOUT = new URL('../..', import.meta.url).pathname;
const INSTALL = 'sh /mnt/install.sh';
/** Configuration of the guest's node, with a cgroup, bridge and subnet that no other node on the host uses. */
const CONFIGURATION = `
cgroup_parent = "/pw-install"
[network]
bridge = "pwinst0"
subnet = "10.132.251.0/24"
`;
const POD = `
apiVersion: v1
kind: Pod
metadata: { name: web }
spec:
  terminationGracePeriodSeconds: 0
  containers:
    - { name: server, image: localhost/podwright/busybox:1, command: [sleep, "1000"], imagePullPolicy: Never }
`;

const release = new ReleaseDirectory();
let bundle: Bundle;
let guest: Guest;
before(async () => {
  bundle = await buildBundle();
  // runs the bundle with a copy of Node.js, in place of the release's executable, which contains both in a single file
  const program = `#!/bin/sh\nexec /mnt/node ${bundle.program} "$@"\n`;
  copyFileSync(process.execPath, join(release.path, 'node'));
  release.add('release', { version: '0.1.0', program });
  const modules = realpathSync(join(CHECKOUT, 'node_modules'));
  const shared = process.env.PODWRIGHT_TEST_BUNDLE ?? CHECKOUT;
  const paths = [CHECKOUT, modules, dirname(dirname(bundle.program)), shared];
  guest = await Guest.start({ root: await debian('bookworm'), share: release.path, paths: [...new Set(paths)] });
  guest.ok(`mkdir -p /etc/podwright /var/lib/podwright && mount -t tmpfs tmpfs /var/lib/podwright
    printf '%s' '${CONFIGURATION}' > /etc/podwright/config.toml && printf '%s' '${POD}' > /root/web.yaml`);
});
after(async () => {
  guest.run('podwright stop --delete --grace-period 0');
  await guest.stop();
  bundle.remove();
  release.remove();
});

test('missing programs are installed after a prompt, and a pod runs', () => {
  guest.ok(`${INSTALL} /mnt/release`);
  const { code, out } = guest.run('podwright doctor');
  assert.equal(code, 1);
  assert.match(out, /^MISSING conmon +not found\n +apt-get install conmon$/m);
  assert.match(out, /^MISSING OCI runtime +none that works\n +apt-get install crun$/m);

  const commands =
    /apt-get update .*\n +apt-get install -y --no-install-recommends .*(crun conmon|conmon crun)\n.* catatonit\n/;
  guest.fails('podwright doctor --fix', commands);
  guest.fails('podwright doctor --fix', /standard input is no terminal to ask on; --yes/);
  const declined = guest.run("echo n | script -qec 'podwright doctor --fix' /dev/null");
  assert.equal(declined.code, 1);
  assert.match(declined.out, /Run these commands\? \[y\/N\]/);
  guest.fails('podwright doctor --yes', /--yes requires --fix/);
  assert.equal(guest.run('command -v conmon || command -v crun').out, '');

  const fixed = guest.run('podwright doctor --fix --yes -o json');
  assert.equal(fixed.code, 0, `${fixed.out}${fixed.err}`);
  const findings = JSON.parse(fixed.out) as { what: string; level: string }[];
  assert.deepEqual(
    findings.filter(({ what }) => ['conmon', 'crun', 'init'].includes(what)).map(({ level }) => level !== 'missing'),
    [true, true, true],
  );
  assert.match(guest.run('podwright doctor --fix --yes').err, /no package is missing: nothing to install/);

  guest.ok(`podwright load ${bundle.image}`);
  guest.ok('podwright run --detach /root/web.yaml');
  assert.match(guest.ok('podwright ps'), /web +1\/1 +Running/);
});

test('--uninstall removes nothing while a node or its containers are running, and says how to stop them', () => {
  guest.fails(
    `${INSTALL} --uninstall`,
    /the node runs; nothing was removed\n {2}process \d+ .*podwright\.js .*node.*\n {2}containers run: 1, with the state in \/run\/podwright\n {2}end it with:\n {2}podwright stop /,
  );
  guest.ok('podwright stop --keep');
  guest.fails(
    `${INSTALL} --uninstall --purge-data`,
    /pods run, and only a node can end them; nothing was removed\n {2}containers run: 1/,
  );
  guest.ok('podwright run --detach /root/web.yaml && podwright stop --delete');
  const below = '/var/lib/podwright/below';
  guest.ok(`mkdir ${below} && mount -t tmpfs tmpfs ${below}`);
  guest.fails(
    `${INSTALL} --uninstall --purge-data`,
    /file systems are mounted below the data.*\n {2}\/var\/lib\/podwright\/below\n/,
  );
  guest.ok(`umount ${below} && rmdir ${below}`);
  assert.match(
    guest.ok(`${INSTALL} --uninstall`),
    /removed \/usr\/local\/bin\/podwright\n.*kept {4}\/etc\/podwright /s,
  );
  guest.ok('test ! -e /usr/local/bin/podwright && test -e /etc/podwright/config.toml');
});
