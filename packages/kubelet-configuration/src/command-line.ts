/** Parses the kubelet's command line like upstream's pflag: `--flag=value`, `--flag value`, `--bool`, `-v4`, and `_` in place of `-`. */
import { resolve } from 'node:path';
import { didYouMean, PodwrightError } from '@podwright/base';
import { formatDuration, IssueList } from '@podwright/kube-api';
import { withoutSecrets } from './configuration-document.ts';
import type { Field } from './fields/field.ts';
import { FIELDS } from './fields/field-table.ts';
import type { GivenField, GivenFields } from './given-fields.ts';

/** A flag handled by the program itself, such as `--help`. It is not in the field table. */
export type OwnFlag = {
  name: string;
  letter?: string;
  /** The value's name in the help text; unset if the flag takes no value. */
  value?: string;
  about: string;
};

export type CommandLine = {
  given: GivenFields;
  /** The given flags that the program itself handles, with their values; '' for a flag that takes no value. */
  own: ReadonlyMap<string, string>;
};

type KnownFlag = { kind: 'field'; name: string; field: Field } | { kind: 'own'; flag: OwnFlag };

/**
 * Parses a command line. Throws `invalid_argument`, naming the flag, its value and what was expected. For an unknown flag, suggests a
 * similar one.
 */
export function parseCommandLine(args: readonly string[], ownFlags: readonly OwnFlag[]): CommandLine {
  const given = new Map<string, GivenField>();
  const own = new Map<string, string>();
  const rest = [...args];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (!/^-./s.test(word) || word === '--')
      throw invalid(`the kubelet has no command "${shorten(word === '--' ? (rest[0] ?? word) : word)}"`);
    const { flag, shown, text } = splitFlag(word, ownFlags);
    const bare = flag.kind === 'own' ? flag.flag.value === undefined : flag.field.type.name === 'bool';
    const value = text ?? (bare ? '' : rest.shift());
    if (value === undefined) throw invalid(`${shown}: needs a value`);
    if (flag.kind === 'own') own.set(flag.flag.name, value);
    else
      given.set(flag.name, {
        value: decodeFlag(flag, shown, { text: bare && text === undefined ? 'true' : value, given }),
        place: shown,
      });
  }
  return { given, own };
}

/** Returns all flags with their given or default values, formatted as Go prints them. Secrets are masked. */
export function flagValues({ given, own }: CommandLine): Record<string, string> {
  const values = [...FIELDS].flatMap(([name, { flag, type, fallback }]) => {
    if (flag === undefined) return [];
    const value = given.get(name)?.value ?? fallback ?? '';
    return [[flag, flagText(type, withoutSecrets(name, value))] as const];
  });
  return Object.fromEntries([...values, ...own]);
}

function flagText({ name }: Field['type'], value: unknown): string {
  if (name === 'duration' && typeof value === 'number') return formatDuration(value);
  if (Array.isArray(value)) return `[${value.join(',')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([key, text]) => `${key}=${text}`)
    .join(',');
}

/** Returns the help text, with one line per flag, sorted by name. */
export function flagHelp(ownFlags: readonly OwnFlag[]): string {
  const rows = [
    ...ownFlags.map(({ name, letter, value, about }) => ({ name, letter, value: value ?? '', about })),
    ...[...FIELDS.values()].flatMap((field) =>
      field.flag === undefined
        ? []
        : [
            {
              name: field.flag,
              letter: field.letter,
              value: field.type.name === 'bool' ? '' : field.type.name,
              about: aboutFlag(field),
            },
          ],
    ),
  ].sort((a, b) => (a.name < b.name ? -1 : 1));
  return rows
    .map(
      ({ name, letter, value, about }) =>
        `  ${`${letter === undefined ? '    ' : `-${letter}, `}--${name} ${value}`.padEnd(52)} ${about}`,
    )
    .join('\n');
}

function aboutFlag({ about, effect, fallback }: Field): string {
  const initial =
    fallback === undefined || fallback === '' || typeof fallback === 'object' ? '' : ` (default: ${fallback})`;
  if (effect.kind === 'nothing') return `${about}; ignored: ${effect.because}`;
  return effect.kind === 'only' ? `${about}; only ${effect.values}: ${effect.because}` : `${about}${initial}`;
}

function splitFlag(
  word: string,
  ownFlags: readonly OwnFlag[],
): { flag: KnownFlag; shown: string; text: string | undefined } {
  const [, dashes = '', rest = ''] = /^(--?)(.*)$/s.exec(word) ?? [];
  if (dashes === '-') {
    const letter = rest[0]!;
    const found = knownFlag((flag) => flag.letter === letter, ownFlags);
    if (found === undefined) throw invalid(`-${letter}: unknown flag`);
    const text = rest.slice(1).replace(/^=/, '');
    return { flag: found, shown: `-${letter}`, text: rest.length === 1 ? undefined : text };
  }
  const at = rest.indexOf('=');
  const name = (at < 0 ? rest : rest.slice(0, at)).replaceAll('_', '-');
  const found = knownFlag((flag) => flag.name === name, ownFlags);
  if (found === undefined)
    throw invalid(`--${shorten(name)}: unknown flag${didYouMean(`--${name}`, flagNames(ownFlags))}`);
  return { flag: found, shown: `--${name}`, text: at < 0 ? undefined : rest.slice(at + 1) };
}

function knownFlag(
  matches: (flag: { name?: string; letter?: string }) => boolean,
  ownFlags: readonly OwnFlag[],
): KnownFlag | undefined {
  const own = ownFlags.find(matches);
  if (own !== undefined) return { kind: 'own', flag: own };
  for (const [name, field] of FIELDS)
    if (matches({ name: field.flag, letter: field.letter })) return { kind: 'field', name, field };
  return undefined;
}

const flagNames = (ownFlags: readonly OwnFlag[]) => [
  ...ownFlags.map(({ name }) => `--${name}`),
  ...[...FIELDS.values()].flatMap(({ flag }) => (flag === undefined ? [] : `--${flag}`)),
];

function decodeFlag(
  { name, field }: { name: string; field: Field },
  shown: string,
  { text, given }: { text: string; given: GivenFields },
): unknown {
  const issues = new IssueList();
  const decoded = field.type.decode(field.type.fromFlag(text, given.get(name)?.value), issues);
  const problem = issues.issues[0];
  if (problem !== undefined) throw invalid(`${shown}: ${problem.message}`);
  return field.type.isPath && typeof decoded === 'string' && decoded !== '' ? resolve(decoded) : decoded;
}

const shorten = (text: string) => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

function invalid(message: string): PodwrightError {
  return new PodwrightError('invalid_argument', message);
}
