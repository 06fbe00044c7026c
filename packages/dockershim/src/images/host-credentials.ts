import { readFile } from 'node:fs/promises';
import { isErrno, wrapError } from '@podwright/base';
import * as z from 'zod';
import type { RegistryCredentials } from './registry-auth.ts';

/** The credentials in Docker's `config.json`. As in upstream's dockershim, credential helpers are not run. */
const schema = z.object({
  auths: z
    .record(
      z.string(),
      z.object({
        auth: z.string().optional(),
        username: z.string().optional(),
        password: z.string().optional(),
        identitytoken: z.string().optional(),
      }),
    )
    .optional(),
});

/** Names used for Docker Hub in `config.json` files. */
const HUB = new Set(['index.docker.io', 'registry-1.docker.io']);

/** Returns the credentials for an image from the content of a `config.json`, the longest matching name prefix first. */
export function credentialsIn(text: string, imageName: string): RegistryCredentials[] {
  const { auths = {} } = schema.parse(JSON.parse(text));
  const full = fullName(imageName);
  const matches = Object.entries(auths).flatMap(([key, { identitytoken, ...given }]) => {
    const place = placeOf(key);
    const isFor = full === place || full.startsWith(`${place}/`);
    return isFor ? [{ place, credentials: { ...given, identityToken: identitytoken, serverAddress: key } }] : [];
  });
  return matches.sort((one, other) => other.place.length - one.place.length).map(({ credentials }) => credentials);
}

/** Returns the root user's credentials for an image; empty if there is no file. Errors name the file. */
export async function hostCredentials(path: string, imageName: string): Promise<RegistryCredentials[]> {
  try {
    return credentialsIn(await readFile(path, 'utf8'), imageName);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return [];
    throw wrapError(`read registry credentials in ${path}`, error, 'failed_precondition');
  }
}

function placeOf(key: string): string {
  const bare = key.replace(/^https?:\/\//, '').replace(/\/(v1|v2)?\/?$/, '');
  const [host = '', ...rest] = bare.split('/');
  return [HUB.has(host) ? 'docker.io' : host, ...rest].join('/');
}

function fullName(familiar: string): string {
  const host = familiar.split('/')[0]!;
  const hasHost = familiar.includes('/') && (/[.:]/.test(host) || host === 'localhost');
  return hasHost ? familiar : `docker.io/${familiar}`;
}
