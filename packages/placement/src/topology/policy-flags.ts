/** Boolean policy options, by upstream's names. Those marked `alpha` require a feature gate. */
export type PolicyFlags<K extends string> = Record<string, { key: K; alpha?: true }>;

const ON = ['1', 't', 'T', 'true', 'TRUE', 'True'];
const OFF = ['0', 'f', 'F', 'false', 'FALSE', 'False'];

/** Returns the enabled options. `options` must have passed `flagProblems`. */
export function readFlags<K extends string>(options: Record<string, string>, flags: PolicyFlags<K>): Set<K> {
  const given = Object.entries(options).filter(([name, value]) => name in flags && ON.includes(value));
  return new Set(given.map(([name]) => flags[name]!.key));
}

/** Validates the options; each message names the offending option. */
export function flagProblems(
  options: Record<string, string>,
  flags: PolicyFlags<string>,
  { gate, isOn }: { gate: string; isOn: boolean },
): string[] {
  return Object.entries(options).flatMap(([name, value]) => {
    const shown = name.slice(0, 60);
    const flag = Object.hasOwn(flags, name) ? flags[name] : undefined;
    if (flag === undefined) return [`there is no option ${shown}; there are ${Object.keys(flags).join(', ')}`];
    if (flag.alpha && !isOn) return [`${shown} needs the feature gate ${gate}`];
    return [...ON, ...OFF].includes(value) ? [] : [`${shown} must be true or false, got ${value.slice(0, 60)}`];
  });
}
