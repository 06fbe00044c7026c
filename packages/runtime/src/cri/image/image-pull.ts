import { PodwrightError } from '@podwright/base';
import type { AuthConfig, ImageHandlers } from '@podwright/cri';
import type { RegistryAuth } from '@podwright/images';
import type { CriServices } from '../services/services.ts';

/** PullImage: pulls the image and returns its ID. */
export function imagePull({ images }: Pick<CriServices, 'images'>): ImageHandlers['pullImage'] {
  return async ({ image, auth }, { signal }) => {
    const reference = image?.image ?? '';
    if (reference === '') throw new PodwrightError('invalid_argument', 'pull image: no image is named');
    const record = await images.pull(reference, { auth: registryAuth(auth), signal });
    return { imageRef: record.id };
  };
}

/** Returns the credentials without empty fields; `undefined` if all fields are empty. */
function registryAuth(auth: AuthConfig | undefined): RegistryAuth | undefined {
  if (auth === undefined) return undefined;
  const { username, password, auth: packed, identityToken, registryToken, serverAddress } = auth;
  const fields = { username, password, auth: packed, identityToken, registryToken, serverAddress };
  const set = Object.entries(fields).filter(([, value]) => value !== '');
  return set.length === 0 ? undefined : Object.fromEntries(set);
}
