import { readFileSync } from 'node:fs';
import { PodwrightError, wrapError } from '@podwright/base';
import { parseImageReference } from '@podwright/kube-api';
import { entriesFor, parseDockerConfig, type RegistryCredential } from '@podwright/kubelet';
import { printError } from '../output/terminal-text.ts';

/** Where `podwright pull` gets credentials from: `USER:PASSWORD`, `USER` with the password on standard input, or a file. */
export type PullOptions = { creds?: string; authfile?: string };

/**
 * The credential for each image, by the options. Throws `invalid_argument` for options that do not go together, and for a file that
 * is no docker configuration.
 */
export function readCredentials(options: PullOptions): (reference: string) => RegistryCredential | undefined {
  const { creds, authfile } = options;
  if (creds !== undefined && authfile !== undefined) throw refusal('--creds and --authfile do not go together');
  if (authfile !== undefined) return fromFile(authfile);
  if (creds === undefined) return () => undefined;
  const [username = '', password] = creds.split(/:(.*)/s);
  // for the registry that the user has named, not for its mirrors
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
    "podwright: a password on the command line is seen by all users of this host; pipe it in, or use '--authfile'",
  );
  return (reference) => credentialFor(reference, password);
}

/** A docker `config.json`, as `docker login`, `podman login` and `skopeo login` write it. */
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

/** The first line of standard input, which is to be a pipe or a file: a terminal would show what is typed. */
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
