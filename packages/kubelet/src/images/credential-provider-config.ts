/** Reads CredentialProviderConfig (kubelet.config.k8s.io) from a file or from a directory of files. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { errorMessage, PodwrightError } from '@podwright/base';
import { findProgram } from '@podwright/host';
import {
  type Decoder,
  formatFieldPath,
  IssueList,
  list,
  object,
  oneOf,
  parseGoDuration,
  readYamlDocuments,
  string,
} from '@podwright/kube-api';
import { imagePatternProblem } from './keyring.ts';
import { MAX_CREDENTIAL_PROVIDER_CONFIG_BYTES } from './limits.ts';

const VERSIONS = ['v1', 'v1beta1', 'v1alpha1'] as const;

/** A credential provider plugin: a program that provides registry credentials. */
export type CredentialProvider = {
  /** Name of the provider and of its executable in `--image-credential-provider-bin-dir`. */
  name: string;
  /** API version of the requests to the plugin and of its responses. */
  apiVersion: string;
  /** Image patterns for which the provider is called. */
  matchImages: string[];
  /** How long to cache responses that have no `cacheDuration`, in milliseconds. */
  defaultCacheDuration: number;
  args?: string[];
  /** Environment variables to set for the plugin, in addition to the kubelet's own. */
  env?: { name: string; value: string }[];
};

/** The merged configuration from all files. */
export type CredentialProviderConfig = {
  providers: CredentialProvider[];
  /** Hash of all configuration files, reported by an upstream metric. */
  hash: string;
};

/** Decodes a Go duration into milliseconds. */
const duration: Decoder<number> = (value, issues) => {
  const parsed = typeof value === 'string' ? parseGoDuration(value) : undefined;
  if (parsed === undefined) issues.add('must be a duration such as 12h');
  else if (parsed < 0) issues.add('must not be negative');
  return parsed ?? 0;
};

const providerName: Decoder<string> = (value, issues) => {
  const name = string(value, issues);
  if (/[/ ]/.test(name) || name === '.' || name === '..')
    issues.add('must be the name of a program, without / and spaces');
  return name;
};

const imagePattern: Decoder<string> = (value, issues) => {
  const pattern = string(value, issues);
  const problem = imagePatternProblem(pattern);
  if (problem !== undefined) issues.add(problem);
  return pattern;
};

const patterns: Decoder<string[]> = (value, issues) => {
  const found = list(imagePattern)(value, issues);
  if (Array.isArray(value) && value.length === 0) issues.add('must have one pattern at least');
  return found;
};

const provider = object<CredentialProvider>(
  {
    name: providerName,
    apiVersion: oneOf(...VERSIONS.map((version) => `credentialprovider.kubelet.k8s.io/${version}`)),
    matchImages: patterns,
    defaultCacheDuration: duration,
    args: list(string),
    env: list(object({ name: string, value: string }, { required: ['name', 'value'] })),
  },
  {
    required: ['name', 'apiVersion', 'matchImages', 'defaultCacheDuration'],
    refused: { tokenAttributes: 'needs tokens of ServiceAccounts, which a standalone node does not have' },
  },
);

const config = object<{ apiVersion: string; kind: string; providers: CredentialProvider[] }>(
  {
    apiVersion: oneOf(...VERSIONS.map((version) => `kubelet.config.k8s.io/${version}`)),
    kind: oneOf('CredentialProviderConfig'),
    providers: list(provider),
  },
  { required: ['apiVersion', 'kind', 'providers'] },
);

/**
 * Reads a configuration file, or all `*.json`, `*.yaml` and `*.yml` files in a directory, in lexical order. Throws `invalid_argument`,
 * naming the file, line and field at fault. A missing provider program is also an error.
 */
export function readCredentialProviderConfig(path: string, programDirectory: string): CredentialProviderConfig {
  const hash = createHash('sha256');
  const providers: CredentialProvider[] = [];
  for (const file of configFiles(path)) {
    const bytes = read(file);
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(bytes.length));
    hash.update(length).update(bytes);
    for (const one of decode(bytes.toString('utf8'), file)) {
      if (providers.some(({ name }) => name === one.name))
        refuse(file, `there are two providers of the name ${one.name}`);
      if (findProgram(join(programDirectory, one.name)) === undefined)
        refuse(file, `there is no program ${join(programDirectory, one.name)}`);
      providers.push(one);
    }
  }
  if (providers.length === 0) refuse(path, 'it has no providers');
  return { providers, hash: `sha256:${hash.digest('hex')}` };
}

function configFiles(path: string): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
    const names = readdirSync(path, { withFileTypes: true }).filter(
      (entry) => !entry.isDirectory() && ['.json', '.yaml', '.yml'].includes(extname(entry.name)),
    );
    return names.map(({ name }) => join(path, name)).sort();
  } catch (error) {
    refuse(path, errorMessage(error));
  }
}

function read(file: string): Buffer {
  try {
    const { size } = statSync(file);
    if (size <= MAX_CREDENTIAL_PROVIDER_CONFIG_BYTES) return readFileSync(file);
  } catch (error) {
    refuse(file, errorMessage(error));
  }
  refuse(file, `it is longer than ${MAX_CREDENTIAL_PROVIDER_CONFIG_BYTES} bytes`);
}

function decode(text: string, file: string): CredentialProvider[] {
  const { documents, problems } = readYamlDocuments(text, 1);
  const [document] = documents;
  const [problem] = [...problems, ...documents.flatMap(({ duplicates }) => duplicates)];
  if (problem !== undefined) refuse(`${file}:${problem.line}`, problem.message);
  if (document === undefined || documents.length > 1) refuse(file, 'it must hold one document');
  const issues = new IssueList([], 1);
  const { providers } = config(document.value, issues);
  const [issue] = issues.issues;
  if (issue === undefined) return providers;
  return refuse(
    `${file}:${document.locate(issue.path, issue.at).line}`,
    `${formatFieldPath(issue.path)}: ${issue.message}`,
  );
}

function refuse(place: string, why: string): never {
  throw new PodwrightError('invalid_argument', `read the configuration of credential providers, ${place}: ${why}`);
}
