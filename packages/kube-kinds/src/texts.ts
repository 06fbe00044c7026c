/** Validates strings and numbers in objects. Like `names.ts`, uses upstream's error messages. */
import { dns1123LabelProblems, dns1123SubdomainProblems, patternProblem, tooLongProblems } from './names.ts';

const MAX_KEY = 253;
const MAX_ID = 2 ** 31 - 1;
const MAX_PORT = 65_535;

export const rangeProblems = (value: number, { min, max }: { min: number; max: number }): string[] =>
  value >= min && value <= max ? [] : [`must be between ${min} and ${max}, inclusive`];

/** Validates a port number (IsValidPortNum). */
export const portNumberProblems = (port: number): string[] => rangeProblems(port, { min: 1, max: MAX_PORT });

/** Validates a user or group ID (IsValidUserID and IsValidGroupID). */
export const unixIdProblems = (id: number): string[] => rangeProblems(id, { min: 0, max: MAX_ID });

/** Validates a key of a ConfigMap or Secret (IsConfigMapKey). */
export function configMapKeyProblems(value: string): string[] {
  const pattern = '[-._a-zA-Z0-9]+';
  const words = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
  const problems = tooLongProblems(value, MAX_KEY);
  if (!/^[-._a-zA-Z0-9]+$/.test(value))
    problems.push(patternProblem(words, pattern, ['key.name', 'KEY_NAME', 'key-name']));
  return [...problems, ...parentDirectoryProblems(value)];
}

function parentDirectoryProblems(value: string): string[] {
  if (value === '.' || value === '..') return [`must not be '${value}'`];
  return value.startsWith('..') ? ["must not start with '..'"] : [];
}

/** Validates an environment variable name by the rules in effect since 1.34 (IsRelaxedEnvVarName). */
export function envVarNameProblems(value: string): string[] {
  if (value === '') return ['environment variable name must be non-empty'];
  if (/^[ -<>-~]*$/.test(value)) return [];
  return ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

/** Validates a percentage (IsValidPercent). */
export const percentProblems = (value: string): string[] =>
  /^[0-9]+%$/.test(value)
    ? []
    : [
        patternProblem("a valid percent string must be a numeric string followed by an ending '%'", '[0-9]+%', [
          '1%',
          '93%',
        ]),
      ];

/** Validates an HTTP header name (IsHTTPHeaderName). */
export const httpHeaderNameProblems = (value: string): string[] =>
  /^[-A-Za-z0-9]+$/.test(value)
    ? []
    : [
        patternProblem("a valid HTTP header must consist of alphanumeric characters or '-'", '[-A-Za-z0-9]+', [
          'X-Header-Name',
        ]),
      ];

/** Validates a C identifier (IsCIdentifier). */
export function identifierProblems(value: string): string[] {
  const words =
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'";
  const examples = ['my_name', 'MY_NAME', 'MyName'];
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(value) ? [] : [patternProblem(words, '[A-Za-z_][A-Za-z0-9_]*', examples)];
}

/** Validates a name that only needs to be a URL path segment (IsValidPathSegmentName). */
export function pathSegmentProblems(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%'].filter((step) => name.includes(step)).map((step) => `may not contain '${step}'`);
}

/**
 * Returns what is wrong with a domain name, which must have two or more labels, or `undefined` if it is valid (IsFullyQualifiedDomainName).
 * The name must not be empty.
 */
export function domainProblem(domain: string): { value: string; problem: string } | undefined {
  const value = domain.endsWith('.') ? domain.slice(0, -1) : domain;
  const problems = dns1123SubdomainProblems(value);
  if (problems.length > 0) return { value, problem: problems.join(',') };
  const labels = value.split('.');
  if (labels.length < 2) return { value, problem: 'should be a domain with at least two segments separated by dots' };
  const wrong = labels.find((one) => dns1123LabelProblems(one).length > 0);
  return wrong === undefined ? undefined : { value: wrong, problem: dns1123LabelProblems(wrong).join(',') };
}
