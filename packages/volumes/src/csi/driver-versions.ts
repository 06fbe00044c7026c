/** A version of the CSI specification, such as 1.0.0. */
export type Version = { numbers: number[]; text: string };

/**
 * Returns the highest version with a major version of 0 or 1 (upstream's HighestSupportedVersion). If there is none or its major version is
 * not 1, returns the reason as `problem`. Ignores strings that are not versions.
 */
export function highestVersion(versions: readonly string[]): Version | { problem: string } {
  const known = versions.flatMap((text) => parse(text) ?? []).filter(({ numbers }) => numbers[0]! <= 1);
  const highest = known.sort(compareVersions).at(-1);
  if (highest === undefined)
    return { problem: `could not find a highest supported version from versions (${versions.join(' ')}) reported` };
  if (highest.numbers[0] !== 1)
    return { problem: `highest supported version reported is ${highest.text}, must be v1.x` };
  return highest;
}

/** Compares two versions; negative if `one` is lower. */
export function compareVersions(one: Version, other: Version): number {
  const length = Math.max(one.numbers.length, other.numbers.length);
  const differences = Array.from({ length }, (_, at) => (one.numbers[at] ?? 0) - (other.numbers[at] ?? 0));
  return differences.find((difference) => difference !== 0) ?? 0;
}

/** Parses two or more dot-separated numbers, ignoring any text after them. */
function parse(version: string): Version | undefined {
  const numbers = /^\s*v?((?:0|[1-9]\d{0,8})(?:\.\d{1,9})+)/.exec(version)?.[1];
  return numbers === undefined ? undefined : { numbers: numbers.split('.').map(Number), text: numbers };
}
