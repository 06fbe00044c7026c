/** A namespace's Pod Security policy, as set by its labels (pod-security-admission, api). */
import { type FieldError, invalidValue } from '@podwright/kube-kinds';

export type Level = 'privileged' | 'baseline' | 'restricted';

/** A Pod Security level as of a Kubernetes 1.x minor version. `Infinity`: latest. */
export type LevelVersion = { level: Level; version: number };

/** Levels to enforce and to warn about. The `audit` mode is validated but ignored. */
export type Policy = { enforce: LevelVersion; warn: LevelVersion };

const PREFIX = 'pod-security.kubernetes.io/';
const LEVELS: readonly Level[] = ['privileged', 'baseline', 'restricted'];
const VERSION = /^v1\.(\d|[1-9]\d{1,8})$/;
const LATEST = Number.POSITIVE_INFINITY;

type Labels = Readonly<Record<string, string>>;

/** Returns the policy set by the labels, using the defaults for absent labels, and the errors in the labels. */
export function policyOf(labels: Labels, defaults: Policy): { policy: Policy; errors: FieldError[] } {
  const errors: FieldError[] = [];
  const read = <T>(name: string, parse: (text: string) => T | undefined, problem: string): T | undefined => {
    const label = `${PREFIX}${name}`;
    const text = Object.hasOwn(labels, label) ? labels[label] : undefined;
    if (text === undefined) return undefined;
    const value = parse(text);
    if (value === undefined) errors.push(invalidValue(`metadata.labels[${label}]`, text, problem));
    return value;
  };
  const readMode = (mode: string) => ({
    level: read(mode, levelOf, `must be one of ${LEVELS.join(', ')}`),
    version: read(`${mode}-version`, versionOf, 'must be "latest" or "v1.x"'),
  });
  const [enforce, _audit, warn] = ['enforce', 'audit', 'warn'].map(readMode);
  return { policy: completed(labels, { enforce: enforce!, warn: warn! }, defaults), errors };
}

type Parsed = { level: Level | undefined; version: number | undefined };

/**
 * Completes the policy with defaults. An invalid `enforce` label enforces the strictest level; an invalid `warn` label disables warnings.
 */
function completed(labels: Labels, { enforce, warn }: Record<'enforce' | 'warn', Parsed>, defaults: Policy): Policy {
  const has = (name: string) => Object.hasOwn(labels, `${PREFIX}${name}`);
  const pick = <T>(name: string, value: T | undefined, { invalid, absent }: { invalid: T; absent: T }): T =>
    value ?? (has(name) ? invalid : absent);
  const enforced: LevelVersion = {
    level: pick<Level>('enforce', enforce.level, { invalid: 'restricted', absent: defaults.enforce.level }),
    version: pick('enforce-version', enforce.version, { invalid: LATEST, absent: defaults.enforce.version }),
  };
  const warned: LevelVersion = {
    level: pick<Level>('warn', warn.level, { invalid: 'privileged', absent: defaults.warn.level }),
    version: pick('warn-version', warn.version, { invalid: LATEST, absent: defaults.warn.version }),
  };
  const isStricter = enforce.level !== undefined && compareLevels(enforced.level, warned.level) > 0;
  if (has('warn') || !isStricter) return { enforce: enforced, warn: warned };
  const version = has('warn-version') ? warned.version : enforced.version;
  return { enforce: enforced, warn: { level: enforced.level, version } };
}

const levelOf = (text: string): Level | undefined => LEVELS.find((level) => level === text);

function versionOf(text: string): number | undefined {
  const minor = VERSION.exec(text)?.[1];
  return text === 'latest' ? LATEST : minor === undefined ? undefined : Number(minor);
}

/** Compares two Pod Security levels. Positive if the first one is stricter. */
export const compareLevels = (a: Level, b: Level): number => LEVELS.indexOf(a) - LEVELS.indexOf(b);

export const formatLevel = ({ level, version }: LevelVersion): string =>
  `${level}:${version === LATEST ? 'latest' : `v1.${version}`}`;

export const isSameLevel = (a: LevelVersion, b: LevelVersion): boolean =>
  a.level === b.level && a.version === b.version;

/** The `privileged` policy, which allows all pods: the default for namespaces without labels. */
export const PRIVILEGED: Policy = {
  enforce: { level: 'privileged', version: LATEST },
  warn: { level: 'privileged', version: LATEST },
};
