import type { Command, Option } from 'commander';

/**
 * Inserts the missing `--` before COMMAND in `exec POD COMMAND…`, so that the options that follow belong to COMMAND rather than to
 * podwright. `args` are the words after the program name.
 */
export function separateCommand(program: Command, args: string[]): string[] {
  let exec: Command | undefined;
  let operands = 0;
  for (let index = 0; index < args.length; index++) {
    const word = args[index]!;
    if (word === '--') return args;
    if (word.length > 1 && word.startsWith('-')) {
      if (takesNextWord(word, [...program.options, ...(exec?.options ?? [])])) index++;
    } else if (exec === undefined) {
      if (word !== 'exec') return args;
      exec = program.commands.find((command) => command.name() === word);
    } else if (++operands === 2) {
      return [...args.slice(0, index), '--', ...args.slice(index)];
    }
  }
  return args;
}

/** Whether the word after an option, or after a group of short options, is the option's value. */
function takesNextWord(word: string, options: readonly Option[]): boolean {
  if (word.startsWith('--')) return options.some(({ long, required }) => long === word && required);
  const letters = word.slice(1);
  for (const [index, letter] of [...letters].entries()) {
    const option = options.find(({ short }) => short === `-${letter}`);
    if (option === undefined) return false;
    if (option.required) return index === letters.length - 1;
  }
  return false;
}
