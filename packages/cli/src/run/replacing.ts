import { once } from 'node:events';
import { PodwrightError } from '@podwright/base';
import type { ApplyResult } from '@podwright/node-api';
import type { NodeClient } from '../client/node-client.ts';
import { escapeLine, printError } from '../output/terminal-text.ts';
import type { AppliedObject } from './run-session.ts';

export type ReplaceOptions = {
  client: Pick<NodeClient, 'apply'>;
  /** Whether to replace existing objects without prompting. */
  force: boolean;
  /** Whether the user can be prompted. False if the manifest is read from standard input. */
  canAsk: boolean;
  /** Aborts the prompt. */
  signal: AbortSignal;
};

/**
 * Applies a manifest. Prompts before replacing existing objects whose content differs. Rejects with `failed_precondition` if the user
 * declines or cannot be prompted.
 */
export async function applyWithConsent(manifest: string, options: ReplaceOptions): Promise<ApplyResult> {
  const { client, force } = options;
  const applied = await client.apply(manifest, { replace: force });
  const replaced = applied.objects.filter(({ action }) => action === 'replaced');
  if (force || replaced.length === 0) return applied;
  await askToReplace(replaced, options);
  options.signal.throwIfAborted();
  return client.apply(manifest);
}

async function askToReplace(replaced: AppliedObject[], options: ReplaceOptions): Promise<void> {
  const names = objectNames(replaced);
  const exist = `${names} already ${replaced.length === 1 ? 'exists' : 'exist'} with other content`;
  if (!options.canAsk)
    throw new PodwrightError(
      'failed_precondition',
      `run: ${exist}; --force replaces ${replaced.length === 1 ? 'it' : 'them'}`,
    );
  process.stderr.write(escapeLine(`${exist}. Replace? [y/N] `));
  if (/^\s*y(es)?\s*$/i.test(await readAnswer(options.signal))) return;
  throw new PodwrightError('failed_precondition', `run: ${names} not replaced; nothing was changed`);
}

/** Formats a list of objects for messages: `pod web, configmap team-a/settings`. */
export function objectNames(objects: Pick<AppliedObject, 'kind' | 'namespace' | 'name'>[]): string {
  return objects
    .map(({ kind, namespace, name }) => {
      const label = namespace === 'default' || namespace === '' ? name : `${namespace}/${name}`;
      return `${kind.toLowerCase()} ${label}`;
    })
    .join(', ');
}

/** Reads a line from standard input; returns '' at the end of the input. */
async function readAnswer(signal: AbortSignal): Promise<string> {
  try {
    const ended = new AbortController();
    process.stdin.once('end', () => ended.abort());
    const [answer] = await once(process.stdin, 'data', { signal: AbortSignal.any([signal, ended.signal]) });
    return String(answer);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Error && error.name === 'AbortError') return '';
    throw error;
  } finally {
    process.stdin.pause();
  }
}

/**
 * Reports the objects that this command has adopted from a `podwright run` process that was killed. `stays`: this command does not remove
 * the objects when it exits.
 */
export function reportAdopted(objects: AppliedObject[], stays: boolean): void {
  if (objects.length === 0) return;
  printError(`${objectNames(objects)}: adopted from a killed run, ${stays ? 'kept' : 'removed at exit'}`);
}

/**
 * Reports objects that already existed and are retained. `ofRuns` has the UIDs of objects that other foreground `podwright run` commands
 * will delete.
 */
export function reportExisting(objects: AppliedObject[], ofRuns: ReadonlySet<string>): void {
  const others = objects.filter(({ uid = '' }) => ofRuns.has(uid));
  const [unchanged, replaced] = [
    objects.filter((object) => object.action === 'unchanged' && !others.includes(object)),
    objects.filter(({ action }) => action === 'replaced'),
  ];
  if (others.length > 0)
    printError(`${objectNames(others)}: created by another 'podwright run', which removes it at exit`);
  if (unchanged.length > 0) printError(`${objectNames(unchanged)} existed before this run and will be kept`);
  if (replaced.length > 0) printError(`${objectNames(replaced)} existed before this run; replaced and kept`);
}
