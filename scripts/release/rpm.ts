/** The RPM package, from the same files as the Debian package. */
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ZSTD_LEVEL } from './archive.ts';
import type { DebOptions } from './deb.ts';
import { packageLayout, packageVersion, writeLayout } from './package-files.ts';
import { requiredLibraries } from './required-libraries.ts';
import { run } from './run.ts';

export function makeRpm(output: string, { version, scratch, files, epoch }: DebOptions): void {
  const top = resolve(scratch, 'rpm');
  const root = join(top, 'root');
  const layout = packageLayout(files, 'usr/share/zsh/site-functions');
  writeLayout(root, files, layout);
  run('gzip', ['-n', '-9', join(root, 'usr/share/man/man1/podwright.1')]);
  run('find', [root, '-exec', 'touch', '--no-dereference', '--date', `@${epoch}`, '{}', '+']);
  const names = [layout.executable, ...Object.keys(layout.files)].map((name) => `/${name.replace(/\.1$/, '.1.gz')}`);
  mkdirSync(join(top, 'SPECS'));
  writeFileSync(join(top, 'SPECS/podwright.spec'), spec(version, { root, names }));
  run(
    'rpmbuild',
    ['-bb', '--quiet', '--target', 'x86_64', '--define', `_topdir ${top}`, join(top, 'SPECS/podwright.spec')],
    {
      env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch) },
    },
  );
  const [built] = readdirSync(join(top, 'RPMS/x86_64'));
  renameSync(join(top, 'RPMS/x86_64', built!), output);
}

/** Disables automatic library dependencies, and the post-build scripts, which would strip the executable. */
function spec(version: string, { root, names }: { root: string; names: string[] }): string {
  const { glibc, glibcxx } = requiredLibraries('x64');
  const files = names.map((name) => `${markOf(name)}${name}`);
  return `%global __os_install_post %{nil}
%global debug_package %{nil}
%global _build_id_links none
%global _buildhost release
%global use_source_date_epoch_as_buildtime 1
%global clamp_mtime_to_source_date_epoch 1
%global _binary_payload w${ZSTD_LEVEL}.zstdio
Name: podwright
Version: ${packageVersion(version)}
Release: 1
Summary: Runs Kubernetes pods on one Linux machine
License: Apache-2.0
AutoReqProv: no
Requires: libc.so.6(GLIBC_${glibc})(64bit), libstdc++.so.6(GLIBCXX_${glibcxx})(64bit), libgcc_s.so.1()(64bit)
Recommends: (crun or runc), conmon, catatonit, ca-certificates
%description
A kubelet and a container runtime in one process, with or without a cluster.
The unit podwright.service is not enabled by the installation.
%install
cp -a ${root}/. %{buildroot}/
%files
%defattr(-,root,root,-)
${files.join('\n')}
%post
${script('postinst')}
%preun
${script('prerm')}
`;
}

/** How rpm treats a file: `rpm -q --licensefiles` lists licenses, and upgrades keep modified configuration files. */
function markOf(name: string): string {
  if (name.startsWith('/etc/')) return '%config(noreplace) ';
  return name.startsWith('/usr/share/doc/') ? '%license ' : '';
}

/** A script from the Debian package. Percent signs are escaped, because they start RPM macros. */
const script = (name: string) => readFileSync(`scripts/release/files/debian/${name}`, 'utf8').replaceAll('%', '%%');
