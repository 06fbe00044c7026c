/** Errors in the source of an expression, in cel-go's format. */

export type Problem = { readonly at: number; readonly message: string };

const MAX_PROBLEMS = 100;
const MAX_SNIPPET_LENGTH = 16_384;

/** Thrown for an expression that cannot be compiled. For each problem, the message shows the source line with a marker under it. */
export class CompileError extends Error {
  readonly problems: readonly Problem[];

  constructor(text: string, problems: readonly Problem[]) {
    const sorted = [...problems].sort((one, other) => one.at - other.at);
    super(
      sorted
        .slice(0, MAX_PROBLEMS)
        .map((problem) => show(text, problem))
        .join('\n'),
    );
    this.problems = sorted;
  }
}

function show(text: string, { at, message }: Problem): string {
  const before = text.slice(0, at).split('\n');
  const columns = [...before.at(-1)!].length;
  const shown = `ERROR: <input>:${before.length}:${columns + 1}: ${message}`;
  const line = text.split('\n')[before.length - 1]!.replaceAll('\t', ' ');
  if (line.length > MAX_SNIPPET_LENGTH) return shown;
  const chars = [...line];
  const dots = chars.slice(0, columns).map((char) => (isWide(char) ? '\uff0e' : '.'));
  return `${shown}\n | ${line}\n | ${dots.join('')}${isWide(chars[columns] ?? '') ? '\uff3e' : '^'}`;
}

const isWide = (char: string): boolean => (char.codePointAt(0) ?? 0) > 0x7f;
