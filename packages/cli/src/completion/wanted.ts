import { type Argument, type Command, Option } from 'commander';
import { kindOfWord, OBJECT_KINDS, type ObjectKind, POD } from '../client/object-names.ts';
import { TOPIC_NAMES } from '../help/show-help.ts';

/** What to offer as completions for the word at the cursor. */
export type Wanted =
  | { kind: 'words'; words: { word: string; about: string }[] }
  | { kind: 'pod' | 'image' | 'namespace' | 'file' | 'directory' }
  /** An argument of `cp`: a path on this host, or POD:PATH. */
  | { kind: 'copied' }
  | { kind: 'object'; of: ObjectKind }
  /** An object of a type that may exist only in a Kubernetes API. */
  | { kind: 'typed'; type: string }
  | { kind: 'container'; pod: string | undefined }
  | { kind: 'nothing' };

/** The command line up to the cursor, parsed. */
export type Question = {
  wanted: Wanted;
  /** The part of the word at the cursor that has been typed so far; for `--option=value`, only the part after the equals sign. */
  begun: string;
  /** The part of the word at the cursor that precedes `begun`, such as `--option=`. */
  before: string;
  /** The positional arguments before the cursor, and the values of options by name. */
  operands: string[];
  options: Map<string, string>;
};

/** Maps an argument's placeholder or an option's name to what it is completed with. */
const KINDS: Record<string, Exclude<Wanted['kind'], 'words' | 'object' | 'typed'>> = {
  ...{ pod: 'pod', object: 'pod', container: 'container', image: 'image', namespace: 'namespace' },
  ...{ from: 'copied', to: 'copied' },
  ...{ file: 'file', path: 'file', config: 'file', authfile: 'file', input: 'file', source: 'file', dir: 'directory' },
};

/** The types offered as completions for commands that accept only some types, by command. */
const TYPES: Record<string, string[]> = { top: ['pods', 'nodes'] };

const WORKLOAD_TYPES = ['deployments', 'statefulsets', 'daemonsets', 'replicasets'];

/** The option `-n`, which is accepted before the verb as well as after it. */
const LEADING_NAMESPACE = new Option('-n, --namespace <name>');

/** Parses the words after the program's name. The last one, which may be empty, is the word at the cursor. */
export function readQuestion(program: Command, words: string[]): Question {
  const begun = words.at(-1) ?? '';
  const reader = new Reader(program);
  for (const word of words.slice(0, -1)) reader.take(word);
  const parsed = { operands: reader.operands, options: reader.options };
  if (reader.awaiting !== undefined) return { ...parsed, wanted: ofOption(reader.awaiting, reader), begun, before: '' };
  const [, flag, value] = /^(--[^=]+)=(.*)$/s.exec(begun) ?? [];
  const option = flag === undefined || reader.onlyOperands ? undefined : reader.find(flag);
  if (option !== undefined) return { ...parsed, wanted: ofOption(option, reader), begun: value!, before: `${flag}=` };
  const argument = begun.startsWith('-') && !reader.onlyOperands ? undefined : reader.argument;
  const wanted = argument && ofObject(argument, reader);
  if (wanted === undefined) return { ...parsed, wanted: ofWord(reader, begun), begun, before: '' };
  const [, type = '', name] = /^([^/]+)\/(.*)$/s.exec(begun) ?? [];
  const of = kindOfWord(type);
  if (of === undefined && type !== '')
    return { ...parsed, wanted: { kind: 'typed', type }, begun: name!, before: `${type}/` };
  if (of === undefined || (of !== POD && !takesTypes(argument!))) return { ...parsed, wanted, begun, before: '' };
  return { ...parsed, wanted: { kind: 'object', of }, begun: name!, before: `${type}/` };
}

/** Whether an argument may be a type, as in `TYPE NAME` or `TYPE/NAME`, rather than the name of an object of a fixed kind. */
const takesTypes = (argument: Argument) => argument.name() === 'type' || argument.variadic;

/** Returns what to complete for an argument that names objects: a type, an object of the type named before, or a pod. */
function ofObject(argument: Argument, { command, operands }: Reader): Wanted | undefined {
  const [first = ''] = operands;
  const name = argument.name();
  if (name === 'type') return choices(TYPES[command.name()] ?? OBJECT_KINDS.map(({ plural }) => plural));
  if (name === 'workload') return first === '' ? choices(WORKLOAD_TYPES) : { kind: 'typed', type: first };
  if (name !== 'name' && KINDS[name] !== 'pod') return undefined;
  const of = name === 'name' || takesTypes(argument) ? kindOfWord(first) : undefined;
  if (of !== undefined) return { kind: 'object', of };
  if (name !== 'name') return { kind: 'pod' };
  return first === '' || first.includes('/') ? undefined : { kind: 'typed', type: first };
}

/** Parses a command line word by word, like commander. */
class Reader {
  command: Command;
  readonly operands: string[] = [];
  readonly options = new Map<string, string>();
  /** The option that takes the next word as its value. */
  awaiting: Option | undefined;
  onlyOperands = false;
  readonly program: Command;

  constructor(program: Command) {
    this.command = program;
    this.program = program;
  }

  take(word: string): void {
    if (this.awaiting !== undefined) {
      this.options.set(this.awaiting.name(), word);
      this.awaiting = undefined;
    } else if (this.onlyOperands || !word.startsWith('-') || word === '-') this.#takeOperand(word);
    else if (word === '--') this.onlyOperands = true;
    else if (word.startsWith('--')) this.#takeLong(word);
    else this.#takeShort(word);
  }

  find(flag: string): Option | undefined {
    const leading = this.command === this.program ? [LEADING_NAMESPACE] : [];
    return [...this.known(), ...leading].find(({ long, short }) => long === flag || short === flag);
  }

  /** The declared argument that corresponds to the next positional argument. */
  get argument(): Argument | undefined {
    const { registeredArguments: all } = this.command;
    return all[this.operands.length] ?? (all.at(-1)?.variadic ? all.at(-1) : undefined);
  }

  /** Returns the command's own options, followed by the global ones. */
  known(): Option[] {
    return [
      ...new Set([
        ...this.command.createHelp().visibleOptions(this.command),
        ...this.command.options,
        ...this.program.options,
      ]),
    ];
  }

  #takeOperand(word: string): void {
    const below =
      this.operands.length === 0 ? this.command.commands.find((one) => namesOf(one).includes(word)) : undefined;
    if (below === undefined) this.operands.push(word);
    else this.command = below;
  }

  #takeLong(word: string): void {
    const [flag = '', ...value] = word.split('=');
    const option = this.find(flag);
    if (option === undefined || !takesValue(option)) return;
    if (value.length > 0) this.options.set(option.name(), value.join('='));
    else if (option.required) this.awaiting = option;
  }

  /** Parses a group of short options: `-it`, `-n NAME`, `-nNAME`. */
  #takeShort(word: string): void {
    for (let at = 1; at < word.length; at++) {
      const option = this.find(`-${word[at]}`);
      if (option === undefined || !takesValue(option)) continue;
      if (at + 1 < word.length) this.options.set(option.name(), word.slice(at + 1).replace(/^=/, ''));
      else this.awaiting = option;
      return;
    }
  }
}

const takesValue = (option: Option): boolean => option.required || option.optional;
const namesOf = (command: Command): string[] => [command.name(), ...command.aliases()];

function ofOption(option: Option, reader: Reader): Wanted {
  if (option.argChoices !== undefined) return choices(option.argChoices);
  const placeholder = /[<[]([^>\].]+)/.exec(option.flags)?.[1] ?? '';
  // take the format names from the option's description, which lists them
  if (placeholder === 'format')
    return choices(option.description.split(/, | or /).map((word) => word.replace(/=.*/, '=')));
  return ofName(KINDS[option.name()] === undefined ? placeholder : option.name(), reader);
}

function ofWord(reader: Reader, begun: string): Wanted {
  const { command, operands, onlyOperands } = reader;
  if (begun.startsWith('-') && !onlyOperands)
    return {
      kind: 'words',
      words: reader.known().map(({ long, short, description }) => ({ word: long ?? short!, about: description })),
    };
  if (operands.length === 0 && command.commands.length > 0) {
    const shown = command.createHelp().visibleCommands(command);
    return { kind: 'words', words: shown.map((one) => ({ word: one.name(), about: one.description() })) };
  }
  const { argument } = reader;
  if (argument === undefined) return { kind: 'nothing' };
  return argument.argChoices === undefined ? ofName(argument.name(), reader) : choices(argument.argChoices);
}

function ofName(name: string, { operands, program }: Reader): Wanted {
  if (name === 'topic') return choices([...TOPIC_NAMES, ...program.commands.map((command) => command.name())]);
  const kind = KINDS[name] ?? 'nothing';
  return kind === 'container' ? { kind, pod: operands[0] } : { kind };
}

function choices(words: readonly string[]): Wanted {
  return { kind: 'words', words: words.map((word) => ({ word, about: '' })) };
}
