/** Credentials as in a Docker `config.json` entry or the CRI's AuthConfig; empty means anonymous. */
export type RegistryAuth = {
  username?: string;
  password?: string;
  /** base64 of `username:password`, used when those are absent. */
  auth?: string;
  identityToken?: string;
  registryToken?: string;
  /** URL or host whose credentials these are; other hosts, such as mirrors, do not get them. Empty: for all. */
  serverAddress?: string;
};
