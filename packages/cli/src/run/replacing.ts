import { once } from 'node:events';
import { PodwrightError } from '@podwright/base';
import type { ApplyResult } from '@podwright/node-api';
import type { NodeClient } from '../client/node-client.ts';
import { escapeLine, printError } from '../output/terminal-text.ts';
import type { AppliedObject } from './run-session.ts';

export type ReplaceOptions = {
  client: Pick<NodeClient, 'apply'>;
  /** Replaces without asking. */
  force: boolean;
  /** Whether there is somebody to ask: standard input may be a manifest. */
  canAsk: boolean;
  /** Aborts when the answer is not waited for any more. */
  signal: AbortSignal;
};

/** Applies a manifest; asks before objects are replaced that stand with other content. `failed_precondition` where that is not allowed. */
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
  const stand = `${names} ${replaced.length === 1 ? 'stands' : 'stand'} already, with other content`;
  if (!options.canAsk) throw new PodwrightError('failed_precondition', `run: ${stand}; --force replaces it`);
  process.stderr.write(escapeLine(`${stand}. Replace? [y/N] `));
  if (/^\s*y(es)?\s*$/i.test(await readAnswer(options.signal))) return;
  throw new PodwrightError('failed_precondition', `run: ${names} stays as it is; nothing was changed`);
}

/** `pod web, configmap team-a/settings`. */
export function objectNames(objects: Pick<AppliedObject, 'kind' | 'namespace' | 'name'>[]): string {
  return objects
    .map(({ kind, namespace, name }) => {
      const label = namespace === 'default' || namespace === '' ? name : `${namespace}/${name}`;
      return `${kind.toLowerCase()} ${label}`;
    })
    .join(', ');
}

/** A line of standard input; '' at its end. */
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

/** Says what a killed run had made, which is this one's now. */
export function tellTaken(objects: AppliedObject[], stays: boolean): void {
  if (objects.length === 0) return;
  const what = stays ? 'stays' : 'ends with this one';
  printError(`${objectNames(objects)}: left by a run that was killed, taken over: ${what}`);
}

/** Says what was there before and is left alone; `ofRuns` are the UIDs of what other runs in front have made, and will delete. */
export function tellStood(objects: AppliedObject[], ofRuns: ReadonlySet<string>): void {
  const others = objects.filter(({ uid = '' }) => ofRuns.has(uid));
  const [unchanged, replaced] = [
    objects.filter((object) => object.action === 'unchanged' && !others.includes(object)),
    objects.filter(({ action }) => action === 'replaced'),
  ];
  if (others.length > 0)
    printError(`${objectNames(others)}: another 'podwright run' has made it, and deletes it at its end`);
  if (unchanged.length > 0) printError(`${objectNames(unchanged)} stood before, and will stay`);
  if (replaced.length > 0) printError(`${objectNames(replaced)} stood before and was replaced, and will stay`);
}
