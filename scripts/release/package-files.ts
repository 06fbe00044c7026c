/** The files of a release, as laid out in the archive and in the packages. */
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { SHELL_SCRIPTS } from '../../packages/cli/src/completion/shells.ts';
import { run } from './run.ts';

const EXECUTABLE_MODE = 0o755;
const FILE_MODE = 0o644;
/** The kubectl plugin, which must be in PATH. */
const KUBECTL_PLUGIN = 'kubectl-podwright';

export type ReleaseFiles = { executable: string; licences: string };

/** `files` maps destinations to contents. The executable is only named, because it is large and is copied instead. */
type Layout = { executable: string; files: Record<string, string | Buffer> };

/** The layout of the archive: everything in one directory. */
export function archiveLayout({ licences }: ReleaseFiles): Layout {
  return {
    executable: 'podwright',
    files: {
      'kubectl-podwright': readFileSync('bin/kubectl-podwright'),
      'install.sh': readFileSync('install.sh'),
      'podwright.service': readFileSync('contrib/podwright.service'),
      'podwright.1': manPage(),
      'completions/podwright.bash': SHELL_SCRIPTS.bash,
      'completions/_podwright': SHELL_SCRIPTS.zsh,
      'completions/podwright.fish': SHELL_SCRIPTS.fish,
      LICENSE: readFileSync('LICENSE'),
      'THIRD-PARTY-LICENSES': licences,
    },
  };
}

/** The layout of the packages. `zsh`: where the distribution's zsh looks for completions installed by packages. */
export function packageLayout({ licences }: ReleaseFiles, zsh: string): Layout {
  return {
    executable: 'usr/bin/podwright',
    files: {
      'usr/bin/kubectl-podwright': readFileSync('bin/kubectl-podwright'),
      'etc/podwright/config.toml': readFileSync('scripts/release/files/config.toml'),
      'usr/lib/systemd/system/podwright.service': readFileSync('contrib/podwright.service'),
      'usr/share/man/man1/podwright.1': manPage(),
      'usr/share/bash-completion/completions/podwright': SHELL_SCRIPTS.bash,
      [`${zsh}/_podwright`]: SHELL_SCRIPTS.zsh,
      'usr/share/fish/vendor_completions.d/podwright.fish': SHELL_SCRIPTS.fish,
      'usr/share/doc/podwright/copyright': readFileSync('LICENSE'),
      'usr/share/doc/podwright/THIRD-PARTY-LICENSES': licences,
    },
  };
}

/** Converts a version so that dpkg and rpm sort a pre-release before its release. RPM versions must not contain other hyphens. */
export const packageVersion = (version: string): string => version.replace('-', '~').replaceAll('-', '.');

/** Writes the files to the new directory `root`, with times and modes that do not depend on this checkout. */
export function writeLayout(root: string, { executable }: ReleaseFiles, layout: Layout): void {
  const place = (name: string) => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    return join(root, name);
  };
  cpSync(executable, place(layout.executable));
  chmodSync(join(root, layout.executable), EXECUTABLE_MODE);
  for (const [name, content] of Object.entries(layout.files)) {
    writeFileSync(place(name), content);
    chmodSync(join(root, name), name.endsWith(KUBECTL_PLUGIN) ? EXECUTABLE_MODE : FILE_MODE);
  }
  run('find', [root, '-type', 'd', '-exec', 'chmod', '755', '{}', '+']);
}

function manPage(): string {
  const scratch = mkdtempSync(join(tmpdir(), 'podwright-man-'));
  try {
    const page = join(scratch, 'podwright.1');
    run(process.execPath, ['scripts/man-page.ts', page]);
    return readFileSync(page, 'utf8');
  } finally {
    rmSync(scratch, { recursive: true });
  }
}
