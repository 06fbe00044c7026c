/**
 * Moves `-n NAME` from before the verb to after it, because kubectl accepts both. `words` are the words after the program name. All options
 * accepted before the verb take a value.
 */
export function namespaceBehindVerb(words: string[]): string[] {
  const before: string[] = [];
  const namespace: string[] = [];
  let index = 0;
  while (words[index]?.startsWith('-')) {
    const word = words[index]!;
    const isNamespace = /^(?:-n|--namespace(?:=|$))/.test(word);
    const length = /^(?:-n|--[^=]+)$/.test(word) ? 2 : 1;
    (isNamespace ? namespace : before).push(...words.slice(index, index + length));
    index += length;
  }
  const [verb, ...others] = words.slice(index);
  return verb === undefined || namespace.length === 0 ? words : [...before, verb, ...namespace, ...others];
}
