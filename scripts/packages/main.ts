/**
 * The npm packages: everything in `packages/` that is not private.
 *   node scripts/packages/main.ts pack [DIRECTORY]   builds them and packs them into DIRECTORY (default dist/release/npm)
 *   node scripts/packages/main.ts api                writes their public names to packages/X/api.txt
 *   node scripts/packages/main.ts lint               checks both, without writing
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { apiFindings, publintFindings, typeFindings, writeApiReport } from './lint.ts';
import { pack, stage } from './stage.ts';
import { publishedPackages } from './workspace.ts';

const packages = publishedPackages();
const scratch = mkdtempSync(join(tmpdir(), 'podwright-packages-'));
const staged = (short: string): string => join(scratch, short);

async function lint(): Promise<void> {
  const tarballs = pack(
    packages.map(({ short }) => staged(short)),
    join(scratch, '.tarballs'),
  );
  for (const [index, one] of packages.entries()) {
    const directory = staged(one.short);
    const findings = [
      ...apiFindings(one, directory),
      ...(await publintFindings(directory)),
      ...(await typeFindings(tarballs[index]!)),
    ];
    for (const finding of findings) console.error(`${one.manifest.name}: ${finding}`);
    if (findings.length > 0) process.exitCode = 1;
  }
}

try {
  const [command, directory = 'dist/release/npm'] = process.argv.slice(2);
  stage(packages, scratch);
  if (command === 'pack')
    pack(
      packages.map(({ short }) => staged(short)),
      resolve(directory),
    );
  else if (command === 'api') for (const one of packages) writeApiReport(one, staged(one.short));
  else if (command === 'lint') await lint();
  else throw new Error(`unknown command ${command}`);
} finally {
  rmSync(scratch, { recursive: true });
}
