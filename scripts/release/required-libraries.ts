/** The versions of the C and C++ libraries required by the executable and its native parts, derived from their symbols. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nativeParts } from './native-parts.ts';
import { type Architecture, nodeBinary } from './node-binary.ts';
import { run } from './run.ts';

/** `glibcxx` is the libstdc++ symbol version, which was introduced by GCC version `gcc`. */
export type RequiredLibraries = { glibc: string; glibcxx: string; gcc: string };

/** GCC versions by the symbol version that their libstdc++ introduced (https://gcc.gnu.org/onlinedocs/libstdc++/manual/abi.html). */
const GCC: Record<string, string> = {
  '3.4.25': '8',
  '3.4.26': '9',
  '3.4.27': '9',
  '3.4.28': '9.3',
  '3.4.29': '11',
  '3.4.30': '12',
  '3.4.31': '13',
  '3.4.32': '13.2',
  '3.4.33': '14',
};

export function requiredLibraries(architecture: Architecture): RequiredLibraries {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-libraries-'));
  try {
    const files = Object.entries(nativeParts(architecture)).map(([name, content]) => {
      writeFileSync(join(directory, name), content);
      return join(directory, name);
    });
    const symbols = run('readelf', ['--version-info', '--wide', nodeBinary(architecture).stripped, ...files]);
    return librariesOf(symbols);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Parses the output of `readelf --version-info`. */
export function librariesOf(symbols: string): RequiredLibraries {
  const newest = (library: string) => {
    const versions = [...symbols.matchAll(new RegExp(`\\b${library}_([\\d.]+)`, 'g'))].map(([, version]) => version!);
    const [version] = versions.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
    if (version === undefined) throw new Error(`the executable needs no symbol of ${library}`);
    return version;
  };
  const glibcxx = newest('GLIBCXX');
  const gcc = GCC[glibcxx];
  if (gcc === undefined) throw new Error(`no GCC is known for the symbols GLIBCXX_${glibcxx}: add it to the table`);
  return { glibc: newest('GLIBC'), glibcxx, gcc };
}
