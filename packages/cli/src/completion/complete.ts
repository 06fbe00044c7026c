import type { Command } from 'commander';
import { escapeLine } from '../output/terminal-text.ts';
import { commandContext } from '../settings/command-context.ts';
import type { ConfigFlags } from '../settings/config-flags.ts';

import { namesOnNode } from './names.ts';
import { type Question, readQuestion } from './wanted.ts';

/** Completions are inserted unquoted, so only words without special shell characters are offered. */
const PLAIN = /^[\w.:/@=+%,-]+$/;

/**
 * `podwright __complete -- WORD…`: prints completions for the last word, one per line, as `WORD<tab>DESCRIPTION`. The line `:files` or
 * `:directories` makes the shell complete paths, and `:nospace` keeps it from appending a space. If no node is running, no names are
 * printed. Errors are never reported.
 */
export async function complete(program: Command, words: string[]): Promise<void> {
  const question = readQuestion(program, words);
  const { wanted, begun, before, operands } = question;
  if (wanted.kind === 'nothing') return;
  if (wanted.kind === 'file') return console.log(':files');
  if (wanted.kind === 'directory') return console.log(':directories');
  if (wanted.kind === 'copied') return completeCopied(question);
  const found = wanted.kind === 'words' ? wanted.words : (await names(question)).map((word) => ({ word, about: '' }));
  const fitting = found.filter(
    ({ word }) => word.startsWith(begun) && PLAIN.test(word) && !operands.includes(before + word),
  );
  const lines = fitting.map(({ word, about }) => `${before}${word}\t${escapeLine(about)}`);
  if (fitting.length === 1 && fitting[0]!.word.endsWith('=')) lines.push(':nospace');
  for (const line of new Set(lines)) console.log(line);
}

/** Completes an argument of `cp`: files on this host, and `POD:`. Paths inside a pod are not completed. */
async function completeCopied(question: Question): Promise<void> {
  const { begun } = question;
  if (begun.includes(':') && !/^[./]/.test(begun)) return;
  console.log(':files');
  const pods = (await names(question)).filter((name) => name.startsWith(begun) && PLAIN.test(name));
  for (const name of pods) console.log(`${name}:\t`);
  if (pods.length > 0) console.log(':nospace');
}

async function names(question: Question): Promise<string[]> {
  const flag = (name: keyof ConfigFlags) => question.options.get(name);
  const given = { config: flag('config'), root: flag('root'), state: flag('state') };
  try {
    const { config } = await commandContext(given);
    return (await namesOnNode(config, question)).sort();
  } catch {
    return [];
  }
}
