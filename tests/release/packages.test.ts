/** The Debian package in a separate root directory taken from the release's image, and the contents of the RPM package. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { VERSION } from '../../packages/base/src/version.ts';
import { packageVersion } from '../../scripts/release/package-files.ts';
import { buildRelease, type Release } from './release.fixture.ts';

/** File in the root directory that the package's scripts read as their list of mounts. */
const MOUNTS = 'proc/self/mountinfo';

let release: Release;
before(async () => {
  release = await buildRelease();
});
after(() => release.remove());

/** Creates a root directory with a shell and the executable's libraries, but with no packages installed. */
function makeRoot(context: TestContext): string {
  const directory = mkdtempSync('/tmp/pwr-');
  context.after(() => rmSync(directory, { recursive: true }));
  execFileSync('tar', ['-xf', release.image, '-C', directory]);
  const blob = ({ digest }: { digest: string }) => join(directory, 'blobs/sha256', digest.slice('sha256:'.length));
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
  const manifest = read(blob(read(join(directory, 'index.json')).manifests[0]));
  const root = join(directory, 'root');
  mkdirSync(join(root, 'var/lib/dpkg/updates'), { recursive: true });
  execFileSync('tar', ['-xzf', blob(manifest.layers[0]), '-C', root]);
  rmSync(join(root, 'usr/bin/podwright'));
  mkdirSync(join(root, 'proc/self'));
  writeFileSync(join(root, MOUNTS), '25 1 8:1 / / rw - ext4 /dev/sda1 rw\n');
  for (const name of ['status', 'available']) writeFileSync(join(root, 'var/lib/dpkg', name), '');
  return root;
}

/**
 * Runs dpkg, and with it the package's scripts, in the root directory. The dependencies are provided by the image, so dpkg does not know
 * about them.
 */
function dpkg(root: string, args: string[], env: Record<string, string> = {}): string {
  const options = [`--root=${root}`, '--force-depends', '--force-confold', ...args];
  const { status, stdout, stderr } = spawnSync('dpkg', options, { encoding: 'utf8', env: { ...process.env, ...env } });
  assert.equal(status, 0, `dpkg ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout + stderr;
}

const inRoot = (root: string, ...command: string[]) =>
  execFileSync('chroot', [root, '/usr/bin/env', 'PATH=/usr/bin:/usr/sbin', ...command], { encoding: 'utf8' });

test('the Debian package can be installed, run and purged, and keeps a modified configuration', (context) => {
  const root = makeRoot(context);
  const config = join(root, 'etc/podwright/config.toml');
  dpkg(root, ['--install', release.deb]);
  const unit = readFileSync(join(root, 'usr/lib/systemd/system/podwright.service'), 'utf8');
  assert.match(unit, /^Documentation=man:podwright\(1\)$/m);
  assert.equal(inRoot(root, 'podwright', '--version'), `${VERSION}\n`);
  assert.match(inRoot(root, 'kubectl-podwright', '--help'), /^usage: kubectl podwright why\|/);
  assert.deepEqual(globSync('etc/systemd/system/**/podwright*', { cwd: root }), [], 'the unit is enabled');
  for (const file of ['usr/lib/systemd/system/podwright.service', 'usr/share/man/man1/podwright.1.gz'])
    assert.ok(existsSync(join(root, file)), file);
  appendFileSync(config, '# changed\n');
  dpkg(root, ['--install', release.deb]);
  assert.match(readFileSync(config, 'utf8'), /# changed/);
  dpkg(root, ['--remove', 'podwright']);
  assert.ok(!existsSync(join(root, 'usr/bin/podwright')));
  assert.match(readFileSync(config, 'utf8'), /# changed/);
  mkdirSync(join(root, 'var/lib/podwright/runtime'), { recursive: true });
  dpkg(root, ['--purge', 'podwright']);
  for (const path of ['etc/podwright', 'var/lib/podwright']) assert.ok(!existsSync(join(root, path)), path);
});

test('a purge keeps claim volumes unless the user consents', (context) => {
  const root = makeRoot(context);
  const file = join(root, 'var/lib/podwright/kubelet/claims/default/data/file');
  const others = ['var/lib/podwright/runtime/metadata.db', 'var/lib/podwright/kubelet/pods/x'];
  dpkg(root, ['--install', release.deb]);
  for (const path of [file, ...others.map((name) => join(root, name))]) {
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, 'precious');
  }
  assert.match(dpkg(root, ['--purge', 'podwright']), /volumes stay in \/var\/lib\/podwright\/kubelet\/claims/);
  assert.equal(readFileSync(file, 'utf8'), 'precious');
  for (const name of others) assert.ok(!existsSync(join(root, name)), name);
  dpkg(root, ['--install', release.deb]);
  dpkg(root, ['--purge', 'podwright'], { PODWRIGHT_PURGE_VOLUMES: 'yes' });
  assert.ok(!existsSync(join(root, 'var/lib/podwright')));
});

test('a purge removes nothing while something is mounted under the data directory, or if that is unknown', (context) => {
  const root = makeRoot(context);
  const file = join(root, 'var/lib/podwright/kubelet/pods/volumes/host/file');
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, 'precious');
  const mount = '30 25 8:1 /srv /var/lib/podwright/kubelet/pods/volumes/host rw - ext4 /dev/sda1 rw\n';
  for (const change of [() => writeFileSync(join(root, MOUNTS), mount), () => rmSync(join(root, MOUNTS))]) {
    dpkg(root, ['--install', release.deb]);
    change();
    assert.match(dpkg(root, ['--purge', 'podwright']), /volumes may be mounted below/);
    assert.equal(readFileSync(file, 'utf8'), 'precious');
  }
});

test('a purge resolves a link to the data: it finds mounts under it, and removes only files of the node', (context) => {
  const root = makeRoot(context);
  const file = join(root, 'srv/data/kubelet/pods/volumes/host/file');
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, 'precious');
  writeFileSync(join(root, 'srv/data/other'), '');
  symlinkSync('/srv/data', join(root, 'var/lib/podwright'));
  const mount = '30 25 8:1 /srv /srv/data/kubelet/pods/volumes/host rw - ext4 /dev/sda1 rw\n';
  const mounts = readFileSync(join(root, MOUNTS), 'utf8');
  dpkg(root, ['--install', release.deb]);
  writeFileSync(join(root, MOUNTS), mounts + mount);
  assert.match(dpkg(root, ['--purge', 'podwright']), /volumes may be mounted below \/srv\/data/);
  assert.equal(readFileSync(file, 'utf8'), 'precious');
  dpkg(root, ['--install', release.deb]);
  writeFileSync(join(root, MOUNTS), mounts);
  assert.match(dpkg(root, ['--purge', 'podwright']), /other files stay in \/srv\/data: other/);
  assert.deepEqual(readdirSync(join(root, 'srv/data')), ['other']);
});

test('a purge empties a disk mounted at the data directory', (context) => {
  const root = makeRoot(context);
  const data = join(root, 'var/lib/podwright');
  for (const name of ['runtime', 'kubelet', 'lost+found']) mkdirSync(join(data, name), { recursive: true });
  dpkg(root, ['--install', release.deb]);
  appendFileSync(join(root, MOUNTS), '30 25 8:2 / /var/lib/podwright rw - ext4 /dev/sdb1 rw\n');
  dpkg(root, ['--purge', 'podwright']);
  assert.deepEqual(readdirSync(data), ['lost+found']);
});

test('the RPM package has the same files, with the configuration and licenses marked', () => {
  const query = (...args: string[]) =>
    execFileSync('rpm', ['--query', '--package', ...args, release.rpm], { encoding: 'utf8' });
  const files = query('--list').trim().split('\n');
  for (const file of [
    '/usr/bin/podwright',
    '/usr/bin/kubectl-podwright',
    '/usr/lib/systemd/system/podwright.service',
    '/etc/podwright/config.toml',
  ])
    assert.ok(files.includes(file), file);
  assert.equal(query('--configfiles').trim(), '/etc/podwright/config.toml');
  const licences = query('--licensefiles').trim().split('\n').sort();
  assert.deepEqual(
    licences,
    ['THIRD-PARTY-LICENSES', 'copyright'].map((name) => `/usr/share/doc/podwright/${name}`),
  );
  assert.doesNotMatch(query('--requires'), /node/i);
  const script = (name: string) =>
    readFileSync(new URL(`../../scripts/release/files/debian/${name}`, import.meta.url), 'utf8');
  for (const name of ['postinst', 'prerm']) assert.ok(query('--scripts').includes(script(name).trim()), name);
});

test('the packages require the libraries whose symbols the executable uses', (context) => {
  const root = makeRoot(context);
  dpkg(root, ['--install', release.deb]);
  const content = readFileSync(join(root, 'usr/bin/podwright'), 'latin1');
  const minors = [...content.matchAll(/GLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor));
  const newest = Math.max(...minors);
  const depends = execFileSync('dpkg-deb', ['--field', release.deb, 'Depends'], { encoding: 'utf8' });
  assert.match(depends, new RegExp(`^libc6 \\(>= 2\\.${newest}\\), libstdc\\+\\+6 \\(>= \\d+\\), libgcc-s1$`, 'm'));
  const requires = execFileSync('rpm', ['--query', '--package', '--requires', release.rpm], { encoding: 'utf8' });
  assert.match(requires, new RegExp(`^libc\\.so\\.6\\(GLIBC_2\\.${newest}\\)\\(64bit\\)$`, 'm'));
  assert.match(requires, /^libstdc\+\+\.so\.6\(GLIBCXX_3\.4\.\d+\)\(64bit\)$/m);
});

test('a prerelease sorts before its release, and its version has no hyphen, which RPM does not allow', () => {
  assert.equal(packageVersion('1.0.0-rc-1'), '1.0.0~rc.1');
});

test('no file in the release contains the path of the directory where it was built', () => {
  const root = new URL('../..', import.meta.url).pathname.replace(/\/$/, '');
  const content = execFileSync('dpkg-deb', ['--fsys-tarfile', release.deb], { maxBuffer: 2 ** 28 });
  assert.equal(content.indexOf(root), -1);
});
