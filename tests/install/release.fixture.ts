import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const CHECKOUT = join(import.meta.dirname, '../..');

export type ReleaseOptions = {
  version: string;
  arch?: 'x64' | 'arm64';
  /** Content of the release's executable. Default: a script that prints the version. */
  program?: string | Buffer;
  compression?: 'zst' | 'gz';
  extra?: Record<string, string>;
};

/** A directory with install.sh and archives laid out like those of a release. */
export class ReleaseDirectory {
  readonly path = mkdtempSync(join(tmpdir(), 'podwright-release-'));

  constructor() {
    chmodSync(this.path, 0o755); // also for users without root
    copyFileSync(join(CHECKOUT, 'install.sh'), join(this.path, 'install.sh'));
  }

  /** Adds an archive to a subdirectory, including its line in SHA256SUMS. Returns the archive's path in a guest. */
  add(directory: string, { version, arch = 'x64', program, compression = 'gz', extra = {} }: ReleaseOptions): string {
    const top = `podwright-${version}-linux-${arch}`;
    const work = mkdtempSync(join(tmpdir(), 'podwright-archive-'));
    const files: Record<string, string | Buffer> = {
      podwright: program ?? `#!/bin/sh\necho ${version}\n`,
      'kubectl-podwright': `#!/bin/sh\necho plugin ${version}\n`,
      'podwright.service': readFileSync(join(CHECKOUT, 'contrib/podwright.service')),
      'podwright.1': `.TH PODWRIGHT 1 "" "Podwright ${version}"\n`,
      'completions/podwright.bash': `# bash ${version}\n`,
      'completions/_podwright': `#compdef podwright\n# ${version}\n`,
      'completions/podwright.fish': `# fish ${version}\n`,
      LICENSE: readFileSync(join(CHECKOUT, 'LICENSE')),
      ...extra,
    };
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(work, top, name)), { recursive: true });
      writeFileSync(join(work, top, name), content, { mode: name === 'podwright' ? 0o755 : 0o644 });
    }
    const name = `${top}.tar.${compression}`;
    const to = join(this.path, directory);
    mkdirSync(to, { recursive: true });
    const compress = compression === 'gz' ? '--gzip' : '--zstd';
    execFileSync('tar', [compress, '-cf', join(to, name), '-C', work, top]);
    rmSync(work, { recursive: true });
    const sum = createHash('sha256')
      .update(readFileSync(join(to, name)))
      .digest('hex');
    appendFileSync(join(to, 'SHA256SUMS'), `${sum}  ${name}\n`);
    return `/mnt/${directory}/${name}`;
  }

  /** Returns the path on the host for a path in a guest. */
  host(path: string): string {
    return path.replace(/^\/mnt/, this.path);
  }

  remove(): void {
    rmSync(this.path, { recursive: true });
  }
}
