import { isIP } from 'node:net';
import type { IssueList } from '../issue.ts';

/** Maximum length of a file name in bytes on almost all file systems (NAME_MAX). */
export const MAX_FILE_NAME_BYTES = 255;
const MAX_PATH_BYTES = 4095;

/** A rule for names and other short texts. Adds an issue for each violation. */
export type TextRule = (text: string, issues: IssueList) => void;

function rule(maxLength: number, pattern: RegExp, allowed: string): TextRule {
  return (text, issues) => {
    if (text.length > maxLength) issues.add(`must be at most ${maxLength} characters`);
    else if (!pattern.test(text)) issues.add(`must be ${allowed}, got "${text}"`);
  };
}

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const qualifiedPart = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

/** RFC 1123 label: pod namespaces, container names, volume names, host names. */
export const dnsLabel = rule(
  63,
  new RegExp(`^${LABEL}$`),
  'lower case letters, digits and "-", beginning and ending with a letter or digit',
);

/** RFC 1123 subdomain: names of pods, ConfigMaps, Secrets, RuntimeClasses. */
export const dnsSubdomain = rule(
  253,
  new RegExp(`^${LABEL}(\\.${LABEL})*$`),
  'lower case letters, digits, "-" and ".", each part beginning and ending with a letter or digit',
);

/** UIDs become directory names, so allow only safe characters. */
export const objectUid = rule(128, /^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'letters, digits, "-", "_" and "."');

/** A key of a ConfigMap or Secret. It may become a file name. */
export const configKey: TextRule = (key, issues) => {
  rule(253, /^[-._a-zA-Z0-9]+$/, 'letters, digits, "-", "_" and "."')(key, issues);
  if (key === '.' || key.startsWith('..')) issues.add(`must not be "." nor begin with "..", got "${key}"`);
};

/** Environment variable names: printable ASCII without `=`, as in Kubernetes since 1.34. */
export const envName = rule(1 << 16, /^[ -<>-~]+$/, 'printable ASCII characters other than "="');

/** RFC 6335 service name: names of container ports. */
export const portName: TextRule = (name, issues) => {
  const allowed = 'lower case letters, digits and single "-" between them, with at least one letter';
  rule(15, /^(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$/, allowed)(name, issues);
};

/** `[prefix/]name`: label keys, annotation keys, condition types. */
export const qualifiedName: TextRule = (text, issues) => {
  const slash = text.indexOf('/');
  if (slash >= 0) dnsSubdomain(text.slice(0, slash), issues);
  const name = text.slice(slash + 1);
  if (name.length > 63 || !qualifiedPart.test(name)) {
    issues.add(
      `must be letters, digits, "-", "_" and ".", at most 63, with an optional "prefix/", got "${text.slice(0, 80)}"`,
    );
  }
};

export const labelValue: TextRule = (text, issues) => {
  if (text === '') return;
  rule(
    63,
    qualifiedPart,
    'letters, digits, "-", "_" and ".", beginning and ending with a letter or digit',
  )(text, issues);
};

/** Basic rules for image names; everything else is checked by registries. */
export const imageName: TextRule = (image, issues) => {
  if (image === '') issues.add('must not be empty');
  else if (/\s/.test(image)) issues.add('must not contain white space');
};

export const ipAddress: TextRule = (text, issues) => {
  if (isIP(text) === 0) issues.add(`must be an IP address, got "${text}"`);
};

/** Linux path limits: at most 255 bytes per name (NAME_MAX) and less than 4096 bytes per path (PATH_MAX). */
export const pathLength: TextRule = (path, issues) => {
  const long = path.split('/').find((name) => Buffer.byteLength(name) > MAX_FILE_NAME_BYTES);
  if (long !== undefined)
    issues.add(`must have names of at most ${MAX_FILE_NAME_BYTES} bytes, got one of ${Buffer.byteLength(long)}`);
  else if (Buffer.byteLength(path) > MAX_PATH_BYTES)
    issues.add(`must have at most ${MAX_PATH_BYTES} bytes, got ${Buffer.byteLength(path)}`);
};

/** A path within a volume: relative, without `..`. */
export const localPath: TextRule = (path, issues) => {
  pathLength(path, issues);
  if (path === '') issues.add('must not be empty');
  else if (path.startsWith('/')) issues.add(`must be a relative path, got "${path}"`);
  else if (path.split('/').includes('..')) issues.add(`must not contain "..", got "${path}"`);
};

/** Path of a file written to a volume by the kubelet. Names starting with `..` are reserved for its atomic writer. */
export const volumeFilePath: TextRule = (path, issues) => {
  const before = issues.count;
  localPath(path, issues);
  if (issues.count > before) return;
  const shortest = shortestPath(path);
  if (shortest === '') issues.add(`must name a file, got "${path}"`);
  else if (shortest.startsWith('..')) issues.add(`must not begin with "..", got "${path}"`);
};

/** Removes `.` and empty components from a relative path, so that `./a//b/` becomes `a/b`. Keeps `..`. Pure. */
export function shortestPath(path: string): string {
  return path
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .join('/');
}
