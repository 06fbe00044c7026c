/** Faults and bad input for install.sh: each results in a clear error message, and nothing is installed. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { debian, Guest } from './guest.fixture.ts';
import { ReleaseDirectory } from './release.fixture.ts';

const INSTALL = 'sh /mnt/install.sh';
const release = new ReleaseDirectory();
let bookworm: string;
/** Archives of two valid releases in the subdirectory `good`. */
const good = ['1.0.0', '1.1.0'].map((version) => release.add('good', { version }));

before(async () => {
  bookworm = await debian('bookworm');
});
after(() => release.remove());

async function start(t: TestContext): Promise<Guest> {
  const guest = await Guest.start({ root: bookworm, share: release.path });
  t.after(() => guest.stop());
  return guest;
}

/** Creates a directory with a copy of a valid archive and its SHA256SUMS, both modified by `change`. Returns the archive's path. */
function changed(name: string, change: (archive: string, sums: string) => void): string {
  const archive = release.add(name, { version: '1.0.0' });
  const host = release.host(archive);
  change(host, join(dirname(host), 'SHA256SUMS'));
  return archive;
}

const refusals: [string, () => string, RegExp][] = [
  [
    'a truncated archive',
    () => changed('truncated', (archive) => truncateSync(archive, 1000)),
    /is truncated or changed: its SHA-256 .*\n {2}expected [0-9a-f]{64}\n {2}found {4}[0-9a-f]{64} in 1000 bytes/,
  ],
  [
    'a changed archive',
    () => changed('changed', (archive) => copyFileSync(release.host(good[1]!), archive)),
    /1\.0\.0-linux-x64\.tar\.gz is truncated or changed/,
  ],
  [
    'an archive that SHA256SUMS does not list',
    () => changed('no-sums', (_, sums) => writeFileSync(sums, '')),
    /SHA256SUMS in \/mnt\/no-sums does not list podwright-1\.0\.0-linux-x64\.tar\.gz/,
  ],
  [
    'an archive with two checksums',
    () =>
      changed('two-sums', (archive, sums) =>
        writeFileSync(sums, ['a', 'b'].map((digit) => `${digit.repeat(64)}  ${archive.split('/').at(-1)}\n`).join('')),
      ),
    /has no single SHA-256/,
  ],
  [
    'an archive for another architecture',
    () => release.add('arm64', { version: '1.0.0', arch: 'arm64' }),
    /podwright-1\.0\.0-linux-arm64\.tar\.gz is for linux-arm64, and this host is linux-x64/,
  ],
  [
    'a directory without an archive for this architecture',
    () => dirname(release.add('only-arm64', { version: '1.0.0', arch: 'arm64' })),
    /has no archive for linux-x64\n {2}it has: podwright-1\.0\.0-linux-arm64/,
  ],
  [
    'an executable for another architecture',
    () => {
      const program = readFileSync(join(bookworm, 'usr/bin/true'));
      program.writeUInt16LE(183, 18); // e_machine: EM_AARCH64
      return release.add('wrong-executable', { version: '1.0.0', program });
    },
    /the executable does not start on this host: .*Exec format error/,
  ],
  [
    'an executable that cannot load its libraries',
    () => {
      const program =
        '#!/bin/sh\ncase $* in *--trial*) echo "GLIBCXX_3.4.99 not found" >&2; exit 1 ;; esac\necho 1.0.0\n';
      return release.add('lacking-library', { version: '1.0.0', program });
    },
    /the executable does not start on this host: GLIBCXX_3\.4\.99 not found/,
  ],
  [
    'an archive that is none',
    () =>
      changed('no-archive', (archive, sums) => {
        writeFileSync(archive, 'text');
        const sum = createHash('sha256').update('text').digest('hex');
        writeFileSync(sums, `${sum}  ${archive.split('/').at(-1)}\n`);
      }),
    /cannot unpack podwright-1\.0\.0-linux-x64\.tar\.gz into .*not in gzip format/,
  ],
  [
    'a path that does not exist',
    () => '/mnt/nowhere',
    /\/mnt\/nowhere does not exist or is neither an archive nor a directory/,
  ],
  ['a directory without SHA256SUMS', () => '/etc', /\/etc\/SHA256SUMS does not exist\n {2}It contains the checksums/],
];

test('bad releases are refused, and nothing is installed', async (t) => {
  const guest = await start(t);
  const fresh = guest.tree();
  for (const [what, make, message] of refusals) {
    await t.test(what, () => {
      guest.fails(`${INSTALL} ${make()}`, message);
      assert.deepEqual(guest.tree(), fresh);
    });
  }
});

test('an executable built for a newer glibc is rejected', async (t) => {
  const newer = readFileSync(join(await debian('trixie'), 'usr/bin/ls'));
  const guest = await start(t);
  const fresh = guest.tree();
  const archive = release.add('newer-glibc', { version: '1.0.0', program: newer });
  guest.fails(`${INSTALL} ${archive}`, /the executable requires glibc 2\.38, and this host has 2\.36/);
  assert.deepEqual(guest.tree(), fresh);
});

test('a full disk, a read-only /usr and a noexec file system are refused; a noexec /tmp does not matter', async (t) => {
  const guest = await start(t);
  const fresh = guest.tree();
  const big = release.add('big', { version: '1.0.0', program: `#!/bin/sh\necho 1.0.0\n${'#'.repeat(3 << 20)}` });
  guest.ok('mount -t tmpfs -o size=4m tmpfs /usr/local');
  guest.fails(
    `${INSTALL} ${big}`,
    /cannot write \/usr\/local\/bin\/podwright: .*No space left on device\n {2}make space/,
  );
  assert.equal(guest.ok('find /usr/local'), '/usr/local\n');
  guest.ok('umount /usr/local && mount -t tmpfs -o noexec tmpfs /usr/local');
  guest.fails(
    `${INSTALL} ${good[0]}`,
    /does not start on this host: .*Permission denied\n {2}\/usr\/local is on a file system mounted with noexec/,
  );
  guest.ok('umount /usr/local && mount --bind /usr /usr && mount -o remount,bind,ro /usr');
  guest.fails(
    `${INSTALL} ${good[0]}`,
    /cannot write to \/usr\/local: .*Read-only file system\n {2}choose a writable .*--prefix \/opt\/podwright/,
  );
  assert.deepEqual(guest.tree(), fresh);
  guest.ok('mount -t tmpfs -o noexec tmpfs /tmp');
  assert.match(guest.ok(`${INSTALL} --prefix /opt/podwright ${good[0]}`), /\/opt\/podwright\/bin is not in PATH/);
});

test('without root only an installation without the service, in a user directory, works', async (t) => {
  const guest = await start(t);
  const asUser = 'setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/tmp/home';
  guest.ok('mkdir /tmp/home && chown 65534:65534 /tmp/home');
  guest.fails(`${asUser} ${INSTALL} ${good[0]}`, /cannot write to \/usr\/local: .*Permission denied\n {2}use root, or/);
  guest.ok('printf "#!/bin/sh\\n" > /usr/bin/systemctl && chmod 755 /usr/bin/systemctl');
  guest.fails(
    `${asUser} ${INSTALL} ${good[0]}`,
    /the service requires root\n {2}as root: sh \/mnt\/install\.sh \/mnt\/good\/.*\n {2}without the service: --no-service --prefix \/tmp\/home\/\.local/,
  );
  guest.ok(`${asUser} ${INSTALL} --no-service --prefix /tmp/home/.local ${good[0]}`);
  assert.equal(guest.ok('/tmp/home/.local/bin/podwright --version'), '1.0.0\n');
  guest.ok(`${asUser} sh /tmp/home/.local/lib/podwright/install.sh --uninstall --prefix /tmp/home/.local`);
  assert.equal(guest.ok('find /tmp/home'), '/tmp/home\n');
});

test('other existing installations are reported and left unchanged', async (t) => {
  const guest = await start(t);
  guest.ok(`${INSTALL} --prefix /opt/podwright ${good[0]}`);
  const installed = guest.tree();
  guest.fails(
    `${INSTALL} ${good[1]}`,
    /another Podwright is installed here.*\n {2}\/opt\/podwright\/bin\/podwright is another installation by install\.sh; to remove it: sh .*--prefix \/opt\/podwright --uninstall/,
  );
  assert.deepEqual(guest.tree(), installed);
  guest.ok(`${INSTALL} --uninstall --prefix /opt/podwright`);

  guest.ok(
    'mkdir -p /srv/checkout/bin /srv/checkout/packages && touch /srv/checkout/package.json /srv/checkout/bin/podwright',
  );
  guest.ok('ln -s /srv/checkout/bin/podwright /usr/bin/podwright');
  guest.fails(
    `${INSTALL} ${good[1]}`,
    /\/usr\/bin\/podwright is a link to the checkout \/srv\/checkout; to replace it: rm \/usr\/bin\/podwright/,
  );
  guest.ok('rm /usr/bin/podwright');

  guest.ok(`mkdir -p /tmp/deb/DEBIAN /tmp/deb/usr/bin && echo > /tmp/deb/usr/bin/podwright
    printf 'Package: podwright\\nVersion: 1\\nArchitecture: all\\nMaintainer: none\\nDescription: none\\n' > /tmp/deb/DEBIAN/control
    dpkg-deb -b /tmp/deb /tmp/podwright.deb && dpkg -i /tmp/podwright.deb`);
  guest.fails(
    `${INSTALL} ${good[1]}`,
    /\/usr\/bin\/podwright is of the package podwright; upgrade or remove it with apt-get/,
  );
  guest.ok('dpkg -P podwright');

  guest.ok(
    'mkdir -p /etc/systemd/system && echo ExecStart=/usr/bin/podwright node > /etc/systemd/system/podwright.service',
  );
  guest.ok('printf "#!/bin/sh\\n" > /usr/bin/systemctl && chmod 755 /usr/bin/systemctl');
  guest.fails(
    `${INSTALL} ${good[1]}`,
    /podwright\.service starts \/usr\/bin\/podwright, and install\.sh did not install it/,
  );
  guest.ok(`${INSTALL} --no-service ${good[1]}`);
  guest.ok('echo mine > /usr/local/bin/podwright');
  assert.match(guest.ok(`${INSTALL} --uninstall`), /kept {4}\/usr\/local\/bin\/podwright: it was changed after/);
  assert.equal(
    guest.ok('cat /usr/local/bin/podwright /etc/systemd/system/podwright.service'),
    'mine\nExecStart=/usr/bin/podwright node\n',
  );
});

/**
 * Runs the command once for each failpoint of install.sh, each time in a guest set up by `prepare`, and calls `check` if the command was
 * killed. Returns the failpoints at which it was killed.
 */
function killedSteps(guest: Guest, command: string, prepare: () => void, check: (step: string) => void): string[] {
  const files = ['LICENSE', '_podwright', 'podwright']; // the first, one in the middle and the last
  const steps = readFileSync(join(release.path, 'install.sh'), 'utf8').matchAll(
    /^ +step "?([a-z-]+)(\$\{\w+##\*\/\})?"?$/gm,
  );
  const names = [...steps].flatMap(([, name, each]) => (each === undefined ? name! : files.map((file) => name + file)));
  return names.filter((name) => {
    prepare();
    const { code } = guest.run(command, { PODWRIGHT_INSTALL_FAILPOINT: name });
    if (code === 0) return false;
    assert.equal(code, 137, name);
    check(name);
    return true;
  });
}

test('after a kill at any step no final file is incomplete, and installation and removal can be repeated', async (t) => {
  const guest = await start(t);
  const fresh = guest.tree();
  guest.ok(`${INSTALL} ${good[0]}`);
  const first = guest.tree();
  guest.ok(`${INSTALL} ${good[1]}`);
  const second = guest.tree();
  const whole = new Set([...first, ...second]);
  const uninstall = () => assert.doesNotThrow(() => guest.ok(`${INSTALL} --uninstall`));
  const isWhole = (step: string) =>
    assert.deepEqual(
      guest
        .tree()
        .filter(
          (line) =>
            line.startsWith('./usr/local/') && !/podwright-new|\/staging|\/installed/.test(line) && !whole.has(line),
        ),
      [],
      step,
    );

  const install = `${INSTALL} ${good[0]}`;
  const killed = killedSteps(guest, install, uninstall, (step) => {
    isWhole(step);
    uninstall();
    assert.deepEqual(guest.tree(), fresh, `uninstalled after a kill at ${step}`);
    assert.equal(guest.run(install, { PODWRIGHT_INSTALL_FAILPOINT: step }).code, 137);
    guest.ok(install);
    assert.deepEqual(guest.tree(), first, `repeated after a kill at ${step}`);
  });
  assert.equal(killed.length, 13, killed.join(' '));

  const upgrade = `${INSTALL} ${good[1]}`;
  const interrupted = killedSteps(
    guest,
    upgrade,
    () => guest.ok(install),
    (step) => {
      isWhole(step);
      assert.match(guest.ok('podwright --version'), /^1\.[01]\.0$/m, step);
      guest.ok(upgrade);
      assert.deepEqual(guest.tree(), second, step);
    },
  );
  assert.ok(interrupted.length > 9, interrupted.join(' '));

  const removal = killedSteps(
    guest,
    `${INSTALL} --uninstall`,
    () => guest.ok(install),
    (step) => {
      isWhole(step);
      uninstall();
      assert.deepEqual(guest.tree(), fresh, step);
    },
  );
  assert.equal(removal.length, 4, removal.join(' '));
});
