/** Runs a credential provider plugin, with the request on stdin and the response on stdout. */
import { join } from 'node:path';
import { errorMessage, isDeadlineExceeded, isRecord, PodwrightError, withTimeout } from '@podwright/base';
import { type ProgramStarter, runProgram, startByFork } from '@podwright/host';
import { parseGoDuration } from '@podwright/kube-api';
import type { CredentialProvider } from './credential-provider-config.ts';
import { type KeyringEntry, registryPattern } from './keyring.ts';
import {
  CREDENTIAL_PLUGIN_TIMEOUT_MS,
  MAX_CREDENTIAL_ENTRIES,
  MAX_CREDENTIAL_LENGTH,
  MAX_CREDENTIAL_PLUGIN_BYTES,
} from './limits.ts';

/** The scope of a cached response: this image, all images in its registry, or all images. */
export type CacheKeyType = 'Image' | 'Registry' | 'Global';

export type PluginAnswer = { cacheKeyType: CacheKeyType; cacheMs: number | undefined; entries: KeyringEntry[] };

/**
 * Requests credentials for an image (without tag and digest). Rejects if the plugin fails, runs for more than a minute, or returns an
 * invalid response. Errors never include its stdout, which contains credentials.
 */
export async function askPlugin(
  { name, apiVersion, args = [], env = [] }: CredentialProvider,
  {
    directory,
    image,
    timeoutMs = CREDENTIAL_PLUGIN_TIMEOUT_MS,
  }: { directory: string; image: string; timeoutMs?: number },
): Promise<PluginAnswer> {
  const request = JSON.stringify({ kind: 'CredentialProviderRequest', apiVersion, image });
  const environment = { ...process.env, ...Object.fromEntries(env.map((one) => [one.name, one.value])) };
  const what = `error execing credential provider plugin ${name} for image ${image}`;
  using signal = withTimeout(undefined, timeoutMs, what);
  const options = {
    stdin: request,
    env: environment,
    signal,
    maxOutputBytes: MAX_CREDENTIAL_PLUGIN_BYTES,
    start: startWithChildren,
  };
  const result = await runProgram(join(directory, name), args, options).catch((error: unknown) => {
    if (isDeadlineExceeded(error)) throw error;
    throw new PodwrightError('unavailable', `${what}: ${errorMessage(error)}`);
  });
  if (result.exitCode === 0) return decodeAnswer(result.stdout, apiVersion);
  const how = result.signal === null ? `exit status ${result.exitCode}` : `signal ${result.signal}`;
  throw new PodwrightError('unavailable', `${what}: ${how}: ${result.stderr.trim().slice(0, MAX_CREDENTIAL_LENGTH)}`);
}

/**
 * Starts the plugin in a new session and kills the whole session at the end. Otherwise the plugin's children could hold its pipes open or
 * continue to write.
 */
const startWithChildren: ProgramStarter = (file, args, options) => {
  const child = startByFork(file, args, { ...options, detached: true });
  child.kill = (signal = 'SIGKILL') => {
    try {
      return child.pid !== undefined && process.kill(-child.pid, signal);
    } catch {
      return false; // the process has exited
    }
  };
  return child;
};

const NO_ANSWER = 'error decoding credential provider plugin response from stdout';

/** Decodes a CredentialProviderResponse. Throws `invalid_argument` if the text is not a response in this API version. */
export function decodeAnswer(text: string, apiVersion: string): PluginAnswer {
  const answer = parse(text);
  if (answer.apiVersion !== apiVersion) {
    const actual = String(answer.apiVersion).slice(0, 100);
    const why = `apiVersion from credential plugin response did not match expected apiVersion:${apiVersion}, actual apiVersion:${actual}`;
    throw new PodwrightError('invalid_argument', why);
  }
  const { kind, cacheKeyType, cacheDuration, auth, apiVersion: _, ...unknown } = answer;
  if (kind !== 'CredentialProviderResponse' || Object.keys(unknown).length > 0) throw wrong();
  if (cacheKeyType !== 'Image' && cacheKeyType !== 'Registry' && cacheKeyType !== 'Global') {
    const given = typeof cacheKeyType === 'string' ? cacheKeyType.slice(0, 100) : '';
    throw new PodwrightError(
      'invalid_argument',
      `credential provider plugin did not return a valid cacheKeyType: ${given}`,
    );
  }
  return { cacheKeyType, cacheMs: decodeDuration(cacheDuration), entries: decodeEntries(auth) };
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // the text may contain credentials, so the error does not quote it
  }
  throw wrong();
}

function decodeDuration(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  const milliseconds = typeof value === 'string' ? parseGoDuration(value) : undefined;
  if (milliseconds === undefined) throw wrong();
  return milliseconds;
}

function decodeEntries(auth: unknown): KeyringEntry[] {
  if (auth === undefined || auth === null) return [];
  if (!isRecord(auth) || Object.keys(auth).length > MAX_CREDENTIAL_ENTRIES) throw wrong();
  return Object.entries(auth).map(([server, value]) => {
    if (!isRecord(value) || server.length > MAX_CREDENTIAL_LENGTH) throw wrong();
    const { username = '', password = '', ...unknown } = value;
    if (!isCredential(username) || !isCredential(password) || Object.keys(unknown).length > 0) throw wrong();
    const credential = { username, password, auth: '', serverAddress: '', identityToken: '' };
    return { pattern: registryPattern(server), credential };
  });
}

const isCredential = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_CREDENTIAL_LENGTH;

const wrong = () => new PodwrightError('invalid_argument', NO_ANSWER);
