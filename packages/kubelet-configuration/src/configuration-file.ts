/** Decodes a KubeletConfiguration file strictly and records each field's line number. */
import { dirname, isAbsolute, join } from 'node:path';
import { didYouMean, isRecord, PodwrightError } from '@podwright/base';
import { formatFieldPath, IssueList, readYamlDocuments, type YamlDocument } from '@podwright/kube-api';
import { FIELDS, FILE_FIELDS } from './fields/field-table.ts';
import type { GivenField, GivenFields } from './given-fields.ts';

const API_VERSION = 'kubelet.config.k8s.io/v1beta1';
const KIND = 'KubeletConfiguration';
/** Maximum size of a configuration file. Far larger than any real one, so a larger file was probably specified by mistake. */
export const MAX_CONFIGURATION_BYTES = 1 << 20;
const MAX_PROBLEMS = 10;

/** Paths of the objects in a KubeletConfiguration that have nested fields, such as `authentication` and `authentication.webhook`. */
const GROUPS: ReadonlySet<string> = new Set(
  Object.keys(FILE_FIELDS).flatMap((name) => {
    const steps = name.split('.');
    return steps.slice(1).map((_, index) => steps.slice(0, index + 1).join('.'));
  }),
);

/**
 * Whether a configuration file is in upstream's format (YAML or JSON) rather than Podwright's (TOML). Decided by the first line that is
 * neither empty nor a comment: in TOML, that is a table header or a key with an equals sign.
 */
export function isKubeletConfiguration(text: string): boolean {
  const first = text.split('\n').find((line) => /^\s*[^\s#]/.test(line));
  return first !== undefined && /^\s*(\{|---|%YAML|["']?[\w-]+["']?\s*:(\s|$))/.test(first.replace(/^\ufeff/, ''));
}

/** Reads a KubeletConfiguration file. Throws `invalid_argument`, naming the file and the lines and fields of at most ten problems. */
export function readConfigurationFile(text: string, file: string): GivenFields {
  if (text.length > MAX_CONFIGURATION_BYTES)
    throw refusal([`${file}: it is longer than ${MAX_CONFIGURATION_BYTES} bytes`]);
  const { documents, problems } = readYamlDocuments(text, 1);
  const [document] = documents;
  if (problems.length > 0) throw refusal(problems.map(({ line, message }) => `${file}:${line}: ${message}`));
  if (documents.length > 1) throw refusal([`${file}: it holds more than one document`]);
  if (document === undefined || document.value === null) throw refusal([`${file}: it is empty`]);
  return decodeDocument(document, file);
}

function decodeDocument(document: YamlDocument, file: string): GivenFields {
  const doubled = document.duplicates.map(({ line, message }) => `${file}:${line}: ${message.split(';')[0]}`);
  if (doubled.length > 0) throw refusal(doubled);
  const issues = new IssueList([], MAX_PROBLEMS);
  const given = new Map<string, GivenField>();
  const { value } = document;
  if (isRecord(value)) {
    checkKind(value, issues);
    const { apiVersion: _, kind: __, ...fields } = value;
    if (issues.count === 0) decodeGroup(fields, { issues, file, document, given });
  } else issues.add(`must be an object of kind ${KIND}`);
  if (issues.count === 0) return given;
  throw refusal(
    issues.issues.map(({ path, message, at }) => {
      const name = formatFieldPath(path);
      return `${file}:${document.locate(path, at).line}: ${name}${name === '' ? '' : ': '}${message}`;
    }),
  );
}

function checkKind({ apiVersion, kind }: Record<string, unknown>, issues: IssueList): void {
  if (kind !== KIND) issues.at('kind').add(`must be ${KIND}`);
  else if (apiVersion !== API_VERSION) issues.at('apiVersion').add(`must be ${API_VERSION}`);
}

type Decoding = { issues: IssueList; file: string; document: YamlDocument; given: Map<string, GivenField> };

function decodeGroup(fields: Record<string, unknown>, decoding: Decoding): void {
  const { issues, file, document, given } = decoding;
  for (const [key, value] of Object.entries(fields)) {
    const here = issues.at(key);
    const name = here.path.join('.');
    const place = () => `${file}:${document.locate(here.path, 'key').line}`;
    const field = key.includes('.') || !Object.hasOwn(FILE_FIELDS, name) ? undefined : FIELDS.get(name);
    if (field !== undefined) {
      const decoded = value === null ? null : field.type.decode(value, here);
      given.set(name, { value: field.type.isPath ? resolvePath(decoded, file) : decoded, place: place() });
    } else if (!key.includes('.') && GROUPS.has(name)) {
      if (value === null) for (const within of fieldsWithin(name)) given.set(within, { value: null, place: place() });
      else if (isRecord(value)) decodeGroup(value, { ...decoding, issues: here });
      else here.add('must be an object');
    } else here.addKey(() => `unknown field${didYouMean(key, knownKeys(issues.path))}`);
  }
}

/** Resolves a relative path against the configuration file's directory, as upstream does. */
function resolvePath(value: unknown, file: string): unknown {
  return typeof value !== 'string' || value === '' || isAbsolute(value) ? value : join(dirname(file), value);
}

const fieldsWithin = (group: string) => Object.keys(FILE_FIELDS).filter((name) => name.startsWith(`${group}.`));

/** Returns the field names that KubeletConfiguration allows in the object at this path. */
function knownKeys(path: readonly (string | number)[]): string[] {
  const prefix = path.length === 0 ? '' : `${path.join('.')}.`;
  const names = Object.keys(FILE_FIELDS).filter((name) => name.startsWith(prefix));
  return [...new Set(names.map((name) => name.slice(prefix.length).split('.')[0]!))];
}

function refusal(lines: string[]): PodwrightError {
  return new PodwrightError('invalid_argument', `read ${lines.slice(0, MAX_PROBLEMS).join('\n')}`);
}
