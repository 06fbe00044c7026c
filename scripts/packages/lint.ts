/** Checks packed packages from a user's perspective: publint, Are The Types Wrong, and the API reports in `packages/X/api.txt`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkPackage, createPackageFromTarballData, type Problem } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { apiReport } from './api-report.ts';
import type { WorkspacePackage } from './workspace.ts';

/**
 * Resolution modes that cannot work with these packages: node10 does not support `exports`, and `require` in Node.js 16 cannot load ES
 * modules.
 */
const OLD_RESOLUTIONS = new Set(['node10', 'node16-cjs']);

/** publint's findings in a staged package, including suggestions. */
export async function publintFindings(directory: string): Promise<string[]> {
  const { messages, pkg } = await publint({ pkgDir: directory, pack: false, strict: true });
  return messages.map((message) => `publint: ${formatMessage(message, pkg, { color: false }) ?? message.code}`);
}

/** The problems TypeScript would have with the declarations in a tarball. */
export async function typeFindings(tarball: string): Promise<string[]> {
  const analysis = await checkPackage(createPackageFromTarballData(readFileSync(tarball)));
  if (!analysis.types) return ['attw: there are no types'];
  return analysis.problems.filter((problem) => !isOld(problem)).map((problem) => `attw: ${JSON.stringify(problem)}`);
}

const isOld = (problem: Problem): boolean => 'resolutionKind' in problem && OLD_RESOLUTIONS.has(problem.resolutionKind);

const reportPath = ({ directory }: WorkspacePackage): string => join(directory, 'api.txt');

export function writeApiReport(one: WorkspacePackage, staged: string): void {
  writeFileSync(reportPath(one), apiReport(staged));
}

export function apiFindings(one: WorkspacePackage, staged: string): string[] {
  const path = reportPath(one);
  const before = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return before === apiReport(staged)
    ? []
    : [`the public names differ from packages/${one.short}/api.txt: run make api`];
}
