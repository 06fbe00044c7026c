/**
 * Validates names and other short strings, with upstream's error messages (apimachinery, util/validation and api/validate/content). Each
 * function returns the problems of a value, without the field, or an empty list if it is valid. Lengths are in bytes.
 */

const LABEL_PATTERN = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN_PATTERN = `${LABEL_PATTERN}(\\.${LABEL_PATTERN})*`;
const UNDERSCORE_PATTERN = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const SUBDOMAIN_UNDERSCORE_PATTERN = `${UNDERSCORE_PATTERN}(\\.${UNDERSCORE_PATTERN})*`;
const DNS1035_PATTERN = '[a-z]([-a-z0-9]*[a-z0-9])?';
const WILDCARD_PATTERN = `\\*\\.${SUBDOMAIN_PATTERN}`;
const KEY_PATTERN = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const LABEL_VALUE_PATTERN = `(${KEY_PATTERN})?`;

const label = whole(LABEL_PATTERN);
const subdomain = whole(SUBDOMAIN_PATTERN);
const underscoreSubdomain = whole(SUBDOMAIN_UNDERSCORE_PATTERN);
const dns1035 = whole(DNS1035_PATTERN);
const wildcard = whole(WILDCARD_PATTERN);
const key = whole(KEY_PATTERN);
const labelValue = whole(LABEL_VALUE_PATTERN);

const MAX_LABEL = 63;
const MAX_SUBDOMAIN = 253;
const MAX_PORT_NAME = 15;

const LABEL_WORDS =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const SUBDOMAIN_WORDS =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const UNDERSCORE_WORDS =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character";
const DNS1035_WORDS =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
const WILDCARD_WORDS =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character";
const KEY_WORDS =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const LABEL_VALUE_WORDS =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

/** Validates a DNS-1123 label, such as the name of a namespace, container or volume (IsDNS1123Label). */
export function dns1123LabelProblems(value: string): string[] {
  const problems = tooLongProblems(value, MAX_LABEL);
  if (label.test(value)) return problems;
  if (subdomain.test(value)) return [...problems, 'must not contain dots'];
  return [...problems, patternProblem(LABEL_WORDS, LABEL_PATTERN, ['my-name', '123-abc'])];
}

/** Validates a DNS-1123 subdomain, such as the name of most objects (IsDNS1123Subdomain). */
export function dns1123SubdomainProblems(value: string): string[] {
  const problem = patternProblem(SUBDOMAIN_WORDS, SUBDOMAIN_PATTERN, ['example.com']);
  return [...tooLongProblems(value, MAX_SUBDOMAIN), ...(subdomain.test(value) ? [] : [problem])];
}

/** Validates a DNS-1123 subdomain, allowing underscores, such as a DNS search path (IsDNS1123SubdomainWithUnderscore). */
export function dns1123SubdomainWithUnderscoreProblems(value: string): string[] {
  const problem = patternProblem(UNDERSCORE_WORDS, SUBDOMAIN_UNDERSCORE_PATTERN, ['example.com']);
  return [...tooLongProblems(value, MAX_SUBDOMAIN), ...(underscoreSubdomain.test(value) ? [] : [problem])];
}

/** Validates a DNS-1035 label (IsDNS1035Label). */
export function dns1035LabelProblems(value: string): string[] {
  const problem = patternProblem(DNS1035_WORDS, DNS1035_PATTERN, ['my-name', 'abc-123']);
  return [...tooLongProblems(value, MAX_LABEL), ...(dns1035.test(value) ? [] : [problem])];
}

/** Validates a wildcard DNS-1123 subdomain, such as `*.example.com` (IsWildcardDNS1123Subdomain). */
export function wildcardSubdomainProblems(value: string): string[] {
  const problem = patternProblem(WILDCARD_WORDS, WILDCARD_PATTERN, ['*.example.com']);
  return [...tooLongProblems(value, MAX_SUBDOMAIN), ...(wildcard.test(value) ? [] : [problem])];
}

/** Validates a qualified name, such as a label key, annotation key, condition type, or finalizer (IsQualifiedName). */
export function qualifiedNameProblems(value: string): string[] {
  const examples = ['MyName', 'my.name', '123-abc'];
  const parts = value.split('/');
  if (parts.length > 2) {
    const problem = patternProblem(KEY_WORDS, KEY_PATTERN, examples);
    return [`a valid label key ${problem} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const name = parts.at(-1)!;
  const problems = parts.length === 2 ? prefixProblems(parts[0]!) : [];
  if (name === '') problems.push('name part must be non-empty');
  else if (isLonger(name, MAX_LABEL)) problems.push(`name part must be no more than ${MAX_LABEL} bytes`);
  if (!key.test(name)) problems.push(`name part ${patternProblem(KEY_WORDS, KEY_PATTERN, examples)}`);
  return problems;
}

/** Validates the prefix of a qualified name. Unlike for other subdomains, the error gives its maximum length in bytes. */
function prefixProblems(prefix: string): string[] {
  if (prefix === '') return ['prefix part must be non-empty'];
  const problem = patternProblem(SUBDOMAIN_WORDS, SUBDOMAIN_PATTERN, ['example.com']);
  const tooLong = isLonger(prefix, MAX_SUBDOMAIN) ? [`prefix part must be no more than ${MAX_SUBDOMAIN} bytes`] : [];
  return [...tooLong, ...(subdomain.test(prefix) ? [] : [`prefix part ${problem}`])];
}

/** Validates a label value (IsValidLabelValue). */
export function labelValueProblems(value: string): string[] {
  const tooLong = isLonger(value, MAX_LABEL) ? [`must be no more than ${MAX_LABEL} bytes`] : [];
  if (labelValue.test(value)) return tooLong;
  return [...tooLong, patternProblem(LABEL_VALUE_WORDS, LABEL_VALUE_PATTERN, ['MyValue', 'my_value', '12345'])];
}

/** Validates a port name: an RFC 6335 service name (IsValidPortName). */
export function portNameProblems(value: string): string[] {
  const problems = tooLongProblems(value, MAX_PORT_NAME);
  if (!/^[-a-z0-9]+$/.test(value))
    problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(value)) problems.push('must contain at least one letter (a-z)');
  if (value.includes('--')) problems.push('must not contain consecutive hyphens');
  if (value.startsWith('-') || value.endsWith('-')) problems.push('must not begin or end with a hyphen');
  return problems;
}

/** Naming rule of a kind. `isPrefix` is true for a `generateName`, which may end with `-`. */
export type NameRule = (name: string, isPrefix: boolean) => readonly string[];

export const nameIsDnsLabel: NameRule = (name, isPrefix) => dns1123LabelProblems(isPrefix ? maskDash(name) : name);

export const nameIsDnsSubdomain: NameRule = (name, isPrefix) =>
  dns1123SubdomainProblems(isPrefix ? maskDash(name) : name);

export const nameIsDns1035Label: NameRule = (name, isPrefix) => dns1035LabelProblems(isPrefix ? maskDash(name) : name);

/**
 * Replaces a trailing dash of a `generateName` and the character before it with a letter, as upstream does, because the server will append
 * a suffix after the dash.
 */
const maskDash = (name: string): string => (name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name);

/** Returns upstream's error message for a string that does not match a pattern. */
export function patternProblem(words: string, pattern: string, examples: readonly string[]): string {
  const shown = examples.map((example) => `'${example}', `).join(' or ');
  const prefix = examples.length === 0 ? '' : `e.g. ${shown}`;
  return `${words} (${prefix}regex used for validation is '${pattern}')`;
}

export const tooLongProblems = (value: string, maxLength: number): string[] =>
  isLonger(value, maxLength) ? [`must be no more than ${maxLength} characters`] : [];

const isLonger = (value: string, maxBytes: number): boolean => Buffer.byteLength(value) > maxBytes;

function whole(pattern: string): RegExp {
  return new RegExp(`^${pattern}$`);
}
