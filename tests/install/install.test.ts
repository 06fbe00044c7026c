/** install.sh in fresh guests: Debian 12 and 13 without systemd, and a system with only busybox. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { busyboxRoot, debian, Guest, SUITES } from './guest.fixture.ts';
import { ReleaseDirectory } from './release.fixture.ts';

const INSTALL = 'sh /mnt/install.sh';
const roots = {} as Record<(typeof SUITES)[number], string>;
const release = new ReleaseDirectory();

before(async () => {
  await Promise.all(SUITES.map(async (suite) => (roots[suite] = await debian(suite))));
  release.add('first', { version: '1.0.0', extra: { 'NOTICE-first': 'only in the first version' } });
  release.add('second', { version: '1.1.0' });
  release.add('both', { version: '1.0.0' });
  release.add('both', { version: '1.1.0' });
  release.add('both', { version: '1.1.0', compression: 'zst' });
  release.add('both', { version: '1.1.0', arch: 'arm64' });
});
after(() => release.remove());

async function start(t: TestContext, root: string): Promise<Guest> {
  const guest = await Guest.start({ root, share: release.path });
  t.after(() => guest.stop());
  return guest;
}

test('shellcheck finds nothing', () => {
  execFileSync('shellcheck', ['--shell=sh', join(import.meta.dirname, '../../install.sh')], { stdio: 'inherit' });
});

for (const suite of SUITES) {
  test(`${suite}: a release is installed, and uninstalled without a trace`, async (t) => {
    const guest = await start(t, roots[suite]);
    const fresh = guest.tree();
    const said = guest.ok(`${INSTALL} /mnt/first`);
    assert.match(said, /^Installed Podwright 1\.0\.0 \(linux-x64\), verified against SHA256SUMS:$/m);
    assert.match(said, /^ {2}\/usr\/local\/bin\/podwright$/m);
    assert.match(said, /Pods also require crun or runc, conmon: 'podwright doctor --fix'/);
    assert.match(said, /Pods with shareProcessNamespace also require catatonit: 'podwright doctor --fix'/);
    assert.match(said, /This host has no systemd, so no service was installed\..*init script:\n {2}podwright node >/);
    assert.equal(guest.ok('podwright --version'), '1.0.0\n');
    assert.equal(guest.ok('kubectl-podwright'), 'plugin 1.0.0\n');
    assert.match(guest.ok('cat /usr/local/share/man/man1/podwright.1'), /Podwright 1\.0\.0/);
    assert.match(guest.ok('cat /usr/local/share/bash-completion/completions/podwright'), /bash 1\.0\.0/);
    assert.match(guest.ok('ls /usr/local/share/doc/podwright'), /LICENSE\nNOTICE-first/);
    const installed = guest.tree();
    assert.match(guest.ok(`${INSTALL} /mnt/first`), /already installed in \/usr\/local: nothing changed/);
    assert.deepEqual(guest.tree(), installed);

    guest.ok('mkdir -p /var/lib/podwright/volumes && echo data > /var/lib/podwright/volumes/file');
    const removed = guest.ok('sh /usr/local/lib/podwright/install.sh --uninstall');
    assert.match(removed, /^removed \/usr\/local\/bin\/podwright$/m);
    assert.match(removed, /^kept {4}\/var\/lib\/podwright \(\S+\): --uninstall --purge-data removes it$/m);
    assert.equal(guest.ok('cat /var/lib/podwright/volumes/file'), 'data\n');
    assert.match(guest.ok(`${INSTALL} --uninstall --purge-data`), /^removed \/var\/lib\/podwright$/m);
    assert.deepEqual(guest.tree(), fresh);
    assert.match(guest.ok(`${INSTALL} --uninstall`), /is not installed in \/usr\/local/);
  });
}

test('a new version replaces all files of the previous one', async (t) => {
  const guest = await start(t, roots.bookworm);
  guest.ok(`${INSTALL} /mnt/second`);
  const fresh = guest.tree();
  guest.ok(`${INSTALL} --uninstall && ${INSTALL} /mnt/first`);
  guest.ok(`${INSTALL} /mnt/second/podwright-1.1.0-linux-x64.tar.gz`);
  assert.deepEqual(guest.tree(), fresh);
});

test('a program replaced by podwright upgrade is removed too', async (t) => {
  const guest = await start(t, roots.bookworm);
  const fresh = guest.tree();
  guest.ok(`${INSTALL} /mnt/first`);
  guest.ok(`printf '#!/bin/sh\\necho "\\"recordFormats\\": {}"\\n' > /usr/local/bin/podwright`);
  assert.match(guest.ok(`${INSTALL} --uninstall`), /^removed \/usr\/local\/bin\/podwright$/m);
  assert.deepEqual(guest.tree(), fresh);
});

test('a purge removes data behind a link, and empties a disk mounted at the data directory', async (t) => {
  const guest = await start(t, roots.bookworm);
  guest.ok(`${INSTALL} /mnt/first
    mkdir -p /srv/data/kubelet/pods /srv/host && touch /srv/data/node.log /srv/host/file
    ln -s /srv/data /var/lib/podwright && mount --bind /srv/host /srv/data/kubelet/pods`);
  guest.fails(`${INSTALL} --uninstall --purge-data`, /mounted below the data.*\n {2}\/srv\/data\/kubelet\/pods\n/);
  guest.ok('test -e /srv/host/file && umount /srv/data/kubelet/pods');
  assert.match(guest.ok(`${INSTALL} --uninstall --purge-data`), /^removed \/var\/lib\/podwright and \/srv\/data$/m);
  guest.ok('test ! -L /var/lib/podwright && test ! -e /srv/data');

  guest.ok(`mkdir /var/lib/podwright && mount -t tmpfs tmpfs /var/lib/podwright
    mkdir /var/lib/podwright/runtime /var/lib/podwright/lost+found`);
  assert.match(guest.ok(`${INSTALL} --uninstall --purge-data`), /^emptied \/var\/lib\/podwright of files of the node/m);
  assert.equal(guest.ok('ls /var/lib/podwright'), 'lost+found\n');
});

test('the archive for the host is chosen from a directory, and the zstd one only if the host has zstd', async (t) => {
  const guest = await start(t, roots.bookworm);
  guest.fails(`${INSTALL} /mnt/both`, /several versions: choose one with --version\n {2}1\.0\.0 1\.1\.0/);
  guest.fails(
    `${INSTALL} --version 2.0.0 /mnt/both`,
    /no archive of version 2\.0\.0 for linux-x64\n {2}it has: podwright-1\.0\.0-linux-x64/,
  );
  assert.match(guest.ok(`${INSTALL} --version 1.1.0 /mnt/both`), /Installed Podwright 1\.1\.0/);
  const archive = '/mnt/both/podwright-1.1.0-linux-x64.tar.zst';
  guest.fails(
    `${INSTALL} ${archive}`,
    /compressed with zstd, which is not installed\n {2}install the package zstd, or use a \.tar\.gz/,
  );
});

test('release and archive URLs are downloaded', async (t) => {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url!);
    try {
      response.end(readFileSync(join(release.path, request.url!)));
    } catch {
      response.writeHead(404).end();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const guest = await start(t, roots.bookworm);
  guest.fails(`${INSTALL} ${url}/second`, /cannot download .*SHA256SUMS: neither curl nor wget is installed/);
  copyFileSync('/bin/busybox', join(release.path, 'wget'));
  guest.ok('cp /mnt/wget /usr/local/bin/wget');
  assert.match(await guest.later(`${INSTALL} ${url}/second/`), /Installed Podwright 1\.1\.0/);
  assert.match(
    await guest.later(`cat /mnt/install.sh | sh -s -- ${url}/first/podwright-1.0.0-linux-x64.tar.gz`),
    /Installed Podwright 1\.0\.0/,
  );
  assert.deepEqual(paths, [
    '/second/SHA256SUMS',
    '/second/podwright-1.1.0-linux-x64.tar.gz',
    '/first/SHA256SUMS',
    '/first/podwright-1.0.0-linux-x64.tar.gz',
  ]);
  await assert.rejects(guest.later(`${INSTALL} ${url}/nowhere`), /cannot download .*\/nowhere\/SHA256SUMS/);
});

test('a redirect from https to http is not followed', async (t) => {
  const guest = await start(t, roots.bookworm);
  const fake = (name: string, script: string) =>
    guest.ok(`printf '#!/bin/sh\n%s\n' '${script}' > /usr/local/bin/${name} && chmod 755 /usr/local/bin/${name}`);
  const install = `${INSTALL} https://example.invalid/first`;
  fake('wget', 'echo "  Location: http://example.invalid/first" >&2; cp /mnt/first/SHA256SUMS "$3"');
  guest.fails(install, /cannot download .*: it was redirected from https to http/);
  fake('curl', 'echo "curl $*" >&2; exit 1');
  guest.fails(install, /cannot download .*: curl --proto =https -fsSL/);
});

test('only one call at a time installs or uninstalls, and other users cannot block it', async (t) => {
  const guest = await start(t, roots.bookworm);
  guest.ok(`${INSTALL} /mnt/first`);
  guest.ok(`cd /usr/local/lib/podwright
    setpriv --reuid 65534 --clear-groups flock . sleep 1000 > /dev/null 2>&1 &
    for try in $(seq 50); do flock -n /usr/local/lib/podwright true || exit 0; sleep 0.1; done; exit 1`);
  guest.ok(`${INSTALL} /mnt/first`);
  guest.ok('! setpriv --reuid 65534 --clear-groups flock -n /usr/local/lib/podwright/lock true 2> /dev/null');
  for (const call of ['/mnt/second', '--uninstall'])
    guest.fails(`flock /usr/local/lib/podwright/lock ${INSTALL} ${call}`, /another install\.sh is working on/);
  guest.ok(`${INSTALL} --uninstall && test ! -e /usr/local/lib/podwright`);
});

test('a version that cannot read the node’s records is rejected', async (t) => {
  const guest = await start(t, roots.bookworm);
  const program =
    '#!/bin/sh\nprintf \'{\\n  "recordFormats": {\\n    "runtime": 1,\\n    "kubelet": 1\\n  }\\n}\\n\'\n';
  const archive = release.add('formats', { version: '1.0.0', program });
  guest.ok(`mkdir -p /var/lib/podwright/kubelet && cd /var/lib/podwright/kubelet
    echo '{"format":2,"version":"0.9.0"}' > format.json`);
  guest.fails(`${INSTALL} ${archive}`, /cannot read the records of the node: their format is 2, and it reads 1/);
  guest.ok(`sed -i s/2/1/ /var/lib/podwright/kubelet/format.json && ${INSTALL} ${archive}`);
});

test('the programs of busybox are sufficient, and a musl host is rejected', async (t) => {
  const root = busyboxRoot('lib64/ld-linux-x86-64.so.2');
  t.after(() => rmSync(root, { recursive: true }));
  const guest = await start(t, root);
  const fresh = guest.tree();
  assert.match(
    guest.ok(`${INSTALL} --prefix /opt/podwright /mnt/first`),
    /no systemd[\s\S]*--uninstall --prefix \/opt\/podwright/,
  );
  assert.equal(guest.ok('/opt/podwright/bin/podwright --version'), '1.0.0\n');
  guest.ok('sh /opt/podwright/lib/podwright/install.sh --uninstall --prefix /opt/podwright');
  assert.deepEqual(guest.tree(), fresh);
  guest.ok('rm /lib64/ld-linux-x86-64.so.2 && touch /lib/ld-musl-x86_64.so.1');
  guest.fails(
    `${INSTALL} /mnt/first`,
    /has the C library musl \(\/lib\/ld-musl-x86_64\.so\.1\), and the executable requires glibc/,
  );
});

test('processes of other users and containers do not prevent the removal, regardless of their command lines', async (t) => {
  const guest = await start(t, roots.bookworm);
  guest.ok(`${INSTALL} /mnt/first && cd /tmp
    cp /usr/bin/perl podwright && cp /usr/bin/perl conmon && chmod 755 podwright conmon && echo 'sleep 1000' > node
    mkdir oci && echo 'sleep 1000' > monitor
    set -- monitor --bundle /run/podwright/oci/bundles/abc
    {
      setpriv --reuid 65534 --clear-groups ./podwright -w node &
      setpriv --reuid 65534 --clear-groups ./conmon "$@" &
      unshare --pid --fork ./podwright -w node &
      perl -e '$0 = "podwright node"; sleep 1000' &
    } > /dev/null 2>&1
    for try in $(seq 50); do [ "$(grep -lsE '^([.]/(podwright|conmon)|podwright node)' /proc/[0-9]*/cmdline | wc -l)" -ge 4 ] && exit; sleep 0.1; done; exit 1`);
  assert.match(guest.ok(`${INSTALL} --uninstall`), /^removed \/usr\/local\/bin\/podwright$/m);
});

test('control characters in a node’s command line are not printed', async (t) => {
  const guest = await start(t, roots.bookworm);
  guest.ok(`${INSTALL} /mnt/first && cd /tmp && cp /usr/bin/perl podwright
    echo 'sleep 1000' > node && { ./podwright -w node "$(printf '\\033[2K')" & } > /dev/null 2>&1
    until grep -qs '^./podwright' /proc/[0-9]*/cmdline; do sleep 0.1; done`);
  guest.fails(`${INSTALL} --uninstall`, /process \d+ .*podwright -w node \?\[2K/);
});

/** Fake systemctl that records its calls: a guest is just a directory, so systemd is not running. */
const SYSTEMCTL = '#!/bin/sh\necho "$*" >> /tmp/systemctl\n';

test('with systemd the unit is installed, and an upgrade backs up a modified one', async (t) => {
  const guest = await start(t, roots.trixie);
  guest.ok(
    `printf '%s' '${SYSTEMCTL}' > /usr/bin/systemctl && chmod 755 /usr/bin/systemctl && mkdir -p /run/systemd/system`,
  );
  const fresh = guest.tree();
  assert.match(guest.ok(`${INSTALL} /mnt/first`), /systemctl enable --now podwright/);
  const unit = '/etc/systemd/system/podwright.service';
  assert.match(guest.ok(`cat ${unit}`), /^ExecStart=\/usr\/local\/bin\/podwright node$/m);
  assert.equal(guest.ok('cat /tmp/systemctl'), 'daemon-reload\n');
  guest.ok(`${INSTALL} --no-service /mnt/second`);
  guest.ok(`test -e ${unit}`);
  guest.ok(`echo '# mine' >> ${unit}`);
  assert.match(guest.ok(`${INSTALL} /mnt/first`), /podwright\.service was changed here: saved as .*\.service\.old/);
  assert.match(guest.ok(`tail -n 1 ${unit}.old && rm ${unit}.old`), /# mine/);
  // processes whose command lines look like the node daemon's and a container monitor's, but which do nothing
  guest.ok(`cp /usr/bin/perl /tmp/podwright && cp /usr/bin/perl /tmp/conmon
    echo 'sleep 1000' > /tmp/node && mkdir -p /tmp/oci && echo 'sleep 1000' > /tmp/monitor
    cd /tmp && { ./podwright -w node & ./conmon monitor --bundle /run/podwright/oci/bundles/abc & } > /dev/null 2>&1`);
  guest.fails(
    `${INSTALL} --uninstall`,
    /node runs.*\n {2}process \d+ .*\n {2}containers run: 1, with the state in \/run\/podwright\n {2}end it with:\n {2}podwright stop /,
  );
  guest.ok(
    'for process in /proc/[1-9]*; do case $(tr "\\0" " " < $process/cmdline) in ./*) kill $(basename $process) ;; esac; done',
  );
  guest.ok(': > /tmp/systemctl');
  guest.ok(`${INSTALL} --uninstall`);
  assert.equal(guest.ok('cat /tmp/systemctl'), 'disable -q podwright\ndaemon-reload\n');
  assert.deepEqual(guest.tree(), fresh);
});
