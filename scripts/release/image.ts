/** The image: the executable with the programs and libraries it needs from this host, without a distribution. */
import { cpSync, existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { commitOfBuild } from '../build-facts.ts';
import { writeImageArchive, writeImageLayout } from '../image-archive.ts';
import type { ReleaseFiles } from './package-files.ts';
import { run } from './run.ts';

/** Host programs in the image: OCI runtime, monitor, pod init, nsenter and a shell. */
const PROGRAMS = ['crun', 'conmon', 'catatonit', 'nsenter', 'busybox'];
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';
const DIRECTORIES = ['dev', 'proc', 'sys', 'run', 'tmp', 'etc/podwright', 'var/lib', 'var/log', 'usr/bin', 'usr/sbin'];
/** Directories that are symlinks into /usr, as on the host that the libraries come from. */
const LINKS = { bin: 'usr/bin', sbin: 'usr/sbin', lib: 'usr/lib', lib64: 'usr/lib64' };

export type ImageOptions = { version: string; scratch: string; files: ReleaseFiles; epoch: number };

export async function makeImage(output: string, { version, scratch, files, epoch }: ImageOptions): Promise<void> {
  const root = join(scratch, 'image');
  const { executable, licences } = files;
  for (const directory of [...DIRECTORIES, 'usr/lib', 'usr/lib64'])
    mkdirSync(join(root, directory), { recursive: true });
  for (const [link, target] of Object.entries(LINKS)) symlinkSync(target, join(root, link));
  const programs = PROGRAMS.map(findProgram);
  for (const path of programs) copy(path, join(root, 'usr/bin', basename(path)));
  cpSync(executable, join(root, 'usr/bin/podwright'));
  const libraries = [...new Set([executable, ...programs].flatMap(librariesOf))];
  for (const library of libraries) copyLibrary(root, library);
  for (const applet of run(findProgram('busybox'), ['--list']).split('\n')) {
    const link = join(root, 'usr/bin', applet);
    if (applet !== '' && !existsSync(link)) symlinkSync('busybox', link);
  }
  copy(CERTIFICATES, join(root, CERTIFICATES));
  copyLicences(root, [...programs, ...libraries]);
  const own = join(root, 'usr/share/doc/podwright');
  mkdirSync(own);
  cpSync('LICENSE', join(own, 'copyright'));
  writeFileSync(join(own, 'THIRD-PARTY-LICENSES'), licences);
  const name = `localhost/podwright/podwright:${version}`;
  const config = {
    Env: ['PATH=/usr/bin:/usr/sbin'],
    Entrypoint: ['/usr/bin/podwright'],
    Cmd: ['node'],
    Labels: labelsOf(version),
  };
  await writeImageArchive(output, (layout) =>
    writeImageLayout(layout, {
      ...{ name, root, config, created: epoch },
      origin: 'the release of Podwright and programs of its host',
    }),
  );
}

/**
 * Returns the image's labels, with the image-spec's annotation keys (annotations.md). There is no license label, because the image also
 * contains programs of the host under other licenses.
 */
function labelsOf(version: string): Record<string, string> {
  const revision = commitOfBuild();
  return {
    'org.opencontainers.image.title': 'Podwright',
    'org.opencontainers.image.description': 'Runs Kubernetes pods on one Linux machine',
    'org.opencontainers.image.version': version,
    ...(revision !== '' && { 'org.opencontainers.image.revision': revision }),
  };
}

function findProgram(name: string): string {
  const path = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'].map((directory) => join(directory, name)).find(existsSync);
  if (path === undefined) throw new Error(`make the image: the host has no ${name}`);
  return path;
}

/** Paths of the libraries that the dynamic linker loads for a program; none if it is static. */
function librariesOf(program: string): string[] {
  if (/not a dynamic executable|statically linked/.test(lddOf(program))) return [];
  return [...lddOf(program).matchAll(/(\/\S+) \(0x/g)].map(([, path]) => path!);
}

function lddOf(program: string): string {
  try {
    return run('ldd', [program]);
  } catch (error) {
    return String((error as { stderr?: string }).stderr);
  }
}

/** Copies a library to the path at which the dynamic linker looks for it, which is usually a symlink on the host. */
function copyLibrary(root: string, path: string): void {
  copy(path, join(root, path.startsWith('/usr/') ? path : `/usr${path}`));
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(realpathSync(from), to);
}

function copyLicences(root: string, paths: string[]): void {
  for (const owner of new Set(paths.map(ownerOf))) {
    const file = `/usr/share/doc/${owner}/copyright`;
    copy(file, join(root, file));
  }
}

/** Name of the Debian package that owns the file, which may be recorded under a path through a symlink (`/lib` for `/usr/lib`). */
function ownerOf(path: string): string {
  const real = realpathSync(path);
  for (const candidate of [real, real.replace(/^\/usr/, ''), path]) {
    try {
      return run('dpkg', ['-S', candidate]).split(':')[0]!;
    } catch {
      // dpkg may have recorded the file under its path without or with the symlink to /usr: try the next path
    }
  }
  throw new Error(`make the image: no package of the host owns ${path}, so its licence is unknown`);
}
