/** The Node.js included in the executable. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { npmArchive } from './npm-archive.ts';

export const ARCHITECTURES = ['x64', 'arm64'] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

/** The Node.js version that checkouts run and are tested with, as set in scripts/setup.sh. */
export const NODE_VERSION = /^NODE_VERSION=.*:-([\d.]+)\}/m.exec(readFileSync('scripts/setup.sh', 'utf8'))?.[1] ?? '';
/** Integrity hashes of the npm packages that contain this version of Node.js. */
const INTEGRITY = {
  x64: 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  arm64: 'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
};

export type NodeBinary = {
  program: string;
  /** The binary without symbols. They cannot be stripped from the finished executable, which would then crash. */
  stripped: string;
  licence: string;
};

export function nodeBinary(architecture: Architecture): NodeBinary {
  const directory = npmArchive({
    name: `node-linux-${architecture}`,
    version: NODE_VERSION,
    integrity: INTEGRITY[architecture],
    files: ['bin/node', 'LICENSE'],
    prepare: strip,
  });
  return {
    program: join(directory, 'bin/node'),
    stripped: join(directory, 'node'),
    licence: join(directory, 'LICENSE'),
  };
}

/** Tries the strip programs this host may have; binutils can only strip its own architecture. */
function strip(cwd: string): void {
  const failures: string[] = [];
  for (const program of ['strip', 'aarch64-linux-gnu-strip', 'x86_64-linux-gnu-strip', 'llvm-strip']) {
    try {
      execFileSync(program, ['-o', 'node', 'bin/node'], { cwd, stdio: 'pipe' });
      return;
    } catch (error) {
      failures.push((error as Error).message.trim());
    }
  }
  throw new Error(`strip Node.js: install binutils, and llvm for another architecture: ${failures.join('; ')}`);
}
