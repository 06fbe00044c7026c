/** The Debian package. It includes Node.js, so it does not need the system's. */
import { chmodSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ZSTD_LEVEL } from './archive.ts';
import { packageLayout, packageVersion, type ReleaseFiles, writeLayout } from './package-files.ts';
import { requiredLibraries } from './required-libraries.ts';
import { run } from './run.ts';

const SCRIPTS = ['postinst', 'prerm', 'postrm'];

export type DebOptions = { version: string; scratch: string; files: ReleaseFiles; epoch: number };

export function makeDeb(output: string, { version, scratch, files, epoch }: DebOptions): void {
  const root = join(scratch, 'deb');
  writeLayout(root, files, packageLayout(files, 'usr/share/zsh/vendor-completions'));
  run('gzip', ['-n', '-9', join(root, 'usr/share/man/man1/podwright.1')]);
  const [kibibytes] = run('du', ['-sk', '--apparent-size', root]).split('\t');
  mkdirSync(join(root, 'DEBIAN'), { mode: 0o755 });
  writeFileSync(join(root, 'DEBIAN/control'), control(version, kibibytes!));
  writeFileSync(join(root, 'DEBIAN/conffiles'), '/etc/podwright/config.toml\n');
  for (const script of SCRIPTS) {
    cpSync(`scripts/release/files/debian/${script}`, join(root, 'DEBIAN', script));
    chmodSync(join(root, 'DEBIAN', script), 0o755);
  }
  // dpkg-deb clamps file times to this time
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(epoch) };
  run('find', [root, '-exec', 'touch', '--no-dereference', '--date', `@${epoch}`, '{}', '+']);
  const options = ['--root-owner-group', '-Zzstd', `-z${ZSTD_LEVEL}`, '--threads-max=1'];
  run('dpkg-deb', ['--build', ...options, root, output], { env });
}

function control(version: string, kibibytes: string): string {
  const { glibc, gcc } = requiredLibraries('x64');
  return `Package: podwright
Version: ${packageVersion(version)}
Architecture: amd64
Maintainer: Podwright contributors <podwright@example.invalid>
Installed-Size: ${kibibytes}
Section: admin
Priority: optional
Depends: libc6 (>= ${glibc}), libstdc++6 (>= ${gcc}), libgcc-s1
Recommends: crun | runc, conmon, catatonit, ca-certificates
Description: runs Kubernetes pods on one Linux machine
 A kubelet and a container runtime in one process, with or without a cluster:
 "podwright run pod.yaml" takes an ordinary Pod manifest. The unit
 podwright.service is not enabled by the installation.
`;
}
