/** Who a registry is told that pulls, as the CRI has it; empty fields say nothing. `auth` is `username:password` in base64. */
export type RegistryCredentials = {
  username?: string;
  password?: string;
  auth?: string;
  serverAddress?: string;
  identityToken?: string;
  registryToken?: string;
};

/** The value of the Engine's `X-Registry-Auth` (Docker Engine API, "Authentication"); nothing without credentials. */
export function registryAuth(credentials: RegistryCredentials = {}): string | undefined {
  const { auth = '', serverAddress, identityToken, registryToken } = credentials;
  const [, packedName, packedPassword] = /^([^:]*):(.*)$/s.exec(Buffer.from(auth, 'base64').toString('utf8')) ?? [];
  const fields = {
    username: credentials.username || packedName,
    password: credentials.password || packedPassword?.replace(/\0+$/, ''),
    identitytoken: identityToken,
    registrytoken: registryToken,
  };
  const told = Object.entries(fields).filter(([, value]) => value !== undefined && value !== '');
  if (told.length === 0) return undefined;
  const json = JSON.stringify({ ...Object.fromEntries(told), ...(serverAddress && { serveraddress: serverAddress }) });
  // the URL's alphabet, with padding: Node.js leaves it out
  return Buffer.from(json).toString('base64').replaceAll('+', '-').replaceAll('/', '_');
}
