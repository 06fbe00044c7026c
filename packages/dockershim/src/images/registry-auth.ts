/** Registry credentials (CRI AuthConfig). Empty fields are ignored. `auth` is base64-encoded `username:password`. */
export type RegistryCredentials = {
  username?: string;
  password?: string;
  auth?: string;
  serverAddress?: string;
  identityToken?: string;
  registryToken?: string;
};

/**
 * Encodes credentials as the value of the Engine's `X-Registry-Auth` header (Docker Engine API, "Authentication"). Returns `undefined` if
 * there are none.
 */
export function registryAuth(credentials: RegistryCredentials = {}): string | undefined {
  const { auth = '', serverAddress, identityToken, registryToken } = credentials;
  const [, packedName, packedPassword] = /^([^:]*):(.*)$/s.exec(Buffer.from(auth, 'base64').toString('utf8')) ?? [];
  const fields = {
    username: credentials.username || packedName,
    password: credentials.password || packedPassword?.replace(/\0+$/, ''),
    identitytoken: identityToken,
    registrytoken: registryToken,
  };
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== '');
  if (given.length === 0) return undefined;
  const json = JSON.stringify({ ...Object.fromEntries(given), ...(serverAddress && { serveraddress: serverAddress }) });
  // base64url with padding, unlike Node.js's `base64url`
  return Buffer.from(json).toString('base64').replaceAll('+', '-').replaceAll('/', '_');
}
