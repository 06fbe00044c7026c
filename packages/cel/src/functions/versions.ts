/** Semantic version functions (apiserver, pkg/cel/library/semverlib.go). */
import { CelError, Opaque } from '../values/values.ts';
import { type FunctionTable, overload, traversalOf } from './overload.ts';

const TYPE = 'kubernetes.Semver';
const MAX_NUMBER = 2n ** 64n - 1n;

class SemverValue extends Opaque {
  readonly typeName = TYPE;
  /** The major, minor and patch version. */
  readonly numbers: readonly bigint[];
  readonly prerelease: readonly string[];

  constructor(numbers: readonly bigint[], prerelease: readonly string[]) {
    super();
    this.numbers = numbers;
    this.prerelease = prerelease;
  }

  equals(other: Opaque): boolean {
    return other instanceof SemverValue && compare(this, other) === 0;
  }
}

function compare(one: SemverValue, other: SemverValue): number {
  for (const [index, number] of one.numbers.entries()) {
    const otherNumber = other.numbers[index]!;
    if (number !== otherNumber) return number < otherNumber ? -1 : 1;
  }
  if (one.prerelease.length === 0 || other.prerelease.length === 0)
    return Math.sign(other.prerelease.length - one.prerelease.length);
  for (const [index, part] of one.prerelease.entries()) {
    const otherPart = other.prerelease[index];
    if (otherPart === undefined) return 1;
    const order = compareParts(part, otherPart);
    if (order !== 0) return order;
  }
  return one.prerelease.length < other.prerelease.length ? -1 : 0;
}

function compareParts(one: string, other: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)];
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  const [left, right] = isNumber ? [BigInt(one), BigInt(other)] : [one, other];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Parses a semantic version. Throws `CelError`. */
function parse(text: string): SemverValue {
  if (text === '') throw new CelError('Version string empty');
  const [major, minor, ...rest] = text.split('.');
  if (minor === undefined || rest.length === 0) throw new CelError('No Major.Minor.Patch elements found');
  const [, patch = '', pre, build] = /^([^+-]*)(?:-([^+]*))?(?:\+([\s\S]*))?$/.exec(rest.join('.')) ?? [];
  const numbers = [number('major', major!), number('minor', minor), number('patch', patch)];
  const prerelease = pre?.split('.') ?? [];
  for (const part of prerelease) checkPart(part, 'Prerelease', 'prerelease');
  for (const part of build?.split('.') ?? []) checkPart(part, 'Build meta data', 'build meta data');
  return new SemverValue(numbers, prerelease);
}

function number(name: string, text: string): bigint {
  if (!/^\d*$/.test(text)) throw new CelError(`Invalid character(s) found in ${name} number ${JSON.stringify(text)}`);
  const Name = `${name[0]!.toUpperCase()}${name.slice(1)}`;
  if (/^0\d/.test(text)) throw new CelError(`${Name} number must not contain leading zeroes ${JSON.stringify(text)}`);
  const value = text.length > 20 ? MAX_NUMBER + 1n : BigInt(text);
  if (text === '') throw new CelError('strconv.ParseUint: parsing "": invalid syntax');
  if (value > MAX_NUMBER) throw new CelError(`strconv.ParseUint: parsing ${JSON.stringify(text)}: value out of range`);
  return value;
}

function checkPart(part: string, Name: string, name: string): void {
  if (part === '') throw new CelError(`${Name} can not be empty ""`);
  if (!/^[\dA-Za-z-]+$/.test(part)) throw new CelError(`Invalid character(s) found in ${name} ${JSON.stringify(part)}`);
  if (name === 'prerelease' && /^0\d+$/.test(part))
    throw new CelError(`Numeric PreRelease version must not contain leading zeroes ${JSON.stringify(part)}`);
}

/** Normalizes a version, for example `v01.2` to `1.2.0`: removes a leading `v` and leading zeros, and appends missing components. */
function normalized(text: string): string {
  const parts = /^v?([^.]*)(?:\.([^.]*))?(?:\.([\s\S]*))?$/
    .exec(text)!
    .slice(1)
    .filter((part) => part !== undefined);
  const trimmed = parts.map((part) => {
    const rest = part.length > 1 ? part.replace(/^0+/, '') : part;
    return part.length > 1 && !/^\d/.test(rest) ? `0${rest}` : rest;
  });
  if (trimmed.length < 3 && /[+-]/.test(trimmed.at(-1)!))
    throw new CelError('short version cannot contain PreRelease/Build meta data');
  while (trimmed.length < 3) trimmed.push('0');
  return trimmed.join('.');
}

const semver = (text: string, normalizes: boolean | object): SemverValue =>
  parse(normalizes === true ? normalized(text) : text);

function isSemver(text: string, normalizes: boolean | object): boolean {
  try {
    semver(text, normalizes);
    return true;
  } catch (error) {
    if (error instanceof CelError) return false;
    throw error;
  }
}

export const VERSION_FUNCTIONS: FunctionTable = {
  semver: [
    overload(`(string) -> ${TYPE}`, semver, traversalOf()),
    overload(`(string, bool) -> ${TYPE}`, semver, traversalOf()),
  ],
  isSemver: [
    overload('(string) -> bool', isSemver, traversalOf()),
    overload('(string, bool) -> bool', isSemver, traversalOf()),
  ],
  isGreaterThan: [
    overload(`${TYPE}.(${TYPE}) -> bool`, (one: SemverValue, other: SemverValue) => compare(one, other) > 0),
  ],
  isLessThan: [
    overload(`${TYPE}.(${TYPE}) -> bool`, (one: SemverValue, other: SemverValue) => compare(one, other) < 0),
  ],
  compareTo: [
    overload(`${TYPE}.(${TYPE}) -> int`, (one: SemverValue, other: SemverValue) => BigInt(compare(one, other))),
  ],
  major: [overload(`${TYPE}.() -> int`, ({ numbers }: SemverValue) => BigInt.asIntN(64, numbers[0]!))],
  minor: [overload(`${TYPE}.() -> int`, ({ numbers }: SemverValue) => BigInt.asIntN(64, numbers[1]!))],
  patch: [overload(`${TYPE}.() -> int`, ({ numbers }: SemverValue) => BigInt.asIntN(64, numbers[2]!))],
};
