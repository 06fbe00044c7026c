import { readFileSync } from 'node:fs';
import { PodwrightError, wrapError } from '@podwright/base';
import { parseImageReference } from '@podwright/kube-api';
import { entriesFor, parseDockerConfig, type RegistryCredential } from '@podwright/kubelet';
import { printError } from '../output/terminal-text.ts';

/**
 * The credentials for `podwright pull`. `creds` is `USER:PASSWORD`, or `USER` to read the password from standard input. `authfile` is a
 * Docker config file.
 */
export type PullOptions = { creds?: string; authfile?: string };

/**
 * Returns a function that looks up an image's credential. Throws `invalid_argument` if the options conflict or the Docker config file is
 * invalid.
 */
export function readCredentials(options: PullOptions): (reference: string) => RegistryCredential | undefined {
  const { creds, authfile } = options;
  if (creds !== undefined && authfile !== undefined) throw refusal('--creds and --authfile exclude each other');
  if (authfile !== undefined) return fromFile(authfile);
  if (creds === undefined) return () => undefined;
  const [username = '', password] = creds.split(/:(.*)/s);
  // send the credential only to the image's registry, not to its mirrors
  const registryOf = (reference: string) => parseImageReference(reference)?.registry ?? '';
  const credentialFor = (reference: string, secret: string) => ({
    ...{ username, password: secret, auth: '', identityToken: '' },
    serverAddress: registryOf(reference),
  });
  if (password === undefined) {
    const piped = passwordFromInput();
    return (reference) => credentialFor(reference, piped);
  }
  printError(
    "podwright: a password on the command line is visible to all users of this host; pipe it in, or use '--authfile'",
  );
  return (reference) => credentialFor(reference, password);
}

/** Reads a Docker `config.json`, as written by `docker login`, `podman login` and `skopeo login`. */
function fromFile(path: string): (reference: string) => RegistryCredential | undefined {
  try {
    const entries = parseDockerConfig(readFileSync(path, 'utf8'));
    return (reference) => {
      const parsed = parseImageReference(reference);
      return parsed === undefined ? undefined : entriesFor(parsed, entries)[0]?.credential;
    };
  } catch (error) {
    throw wrapError(`pull: read the docker configuration ${path}`, error, 'invalid_argument');
  }
}

/** Reads the first line of standard input. Throws if it is a terminal, where the typed password would be visible. */
function passwordFromInput(): string {
  if (process.stdin.isTTY)
    throw refusal(
      "--creds has no password; pipe it in ('podwright pull --creds USER IMAGE < FILE'), or use '--authfile'",
    );
  return readFileSync(0, 'utf8').split(/\r?\n/)[0]!;
}

function refusal(message: string): PodwrightError {
  return new PodwrightError('invalid_argument', `pull: ${message}`);
}
