import type { Option } from 'commander';

/**
 * Splits a word such as `-o=json` or `-fn=team` at its equals sign, which is not part of the value, as in kubectl. `-w=false` becomes no
 * word. Any other word stays unchanged.
 */
export function splitShortValue(options: readonly Option[], word: string): string[] {
  const [, letters, value] = /^-([A-Za-z]+)=(.*)$/s.exec(word) ?? [];
  if (letters === undefined || value === undefined) return [word];
  const known = [...letters].map((letter) => options.find(({ short }) => short === `-${letter}`));
  const last = known.pop();
  if (last === undefined || known.some((option) => option === undefined || option.required)) return [word];
  if (last.required) return [`-${letters}`, value];
  const before = letters.length > 1 ? [`-${letters.slice(0, -1)}`] : [];
  if (value === 'true') return [`-${letters}`];
  return value === 'false' ? before : [word];
}
